"""Deliveries and receipts as their suppliers read them. What the buyer alone knows is never a member here."""

from typing import Final

from rest_framework import serializers

from api.representations import BlankAsNull, Computed, Document, OpenChoice, Representation
from core.conditions import TENANT
from suppliers.orders.proposals.representations import DeliveryAddressOut
from suppliers.orders.representations import PackagingSnapshotOut

from .models import (
    COUNTERS,
    TEMPERATURE,
    Delivery,
    DeliveryException,
    DeliveryLine,
    DeliveryPackage,
    DeliveryPackageLine,
)
from .receipt_models import Receipt, ReceiptLine
from .states import OF_DELIVERY, ExceptionType, PackageLevel, RejectionReason

# Of a row with temperatures `t`: whether they have left what is required.
EXCURSION: Final = (
    "coalesce(t.min_recorded_c < t.required_min_c, false) OR coalesce(t.max_recorded_c > t.required_max_c, false)"
    " OR coalesce(t.excursion_minutes > 0, false)"
)


class RecallNoticeOut(serializers.Serializer[None]):
    """What the buyer was told of a recall of the lot."""

    recall_id = serializers.UUIDField()
    recall_class = OpenChoice(choices=("I", "II", "III"))
    reference = serializers.CharField(allow_null=True)
    issued_at = serializers.DateTimeField()


class DeliveryLineOut(Representation):
    """Goods of one line of the order, of one lot; counters are in base units."""

    supplier_sku = BlankAsNull(allow_null=True)
    gtin = BlankAsNull(allow_null=True)
    packaging = Document(PackagingSnapshotOut(allow_null=True))
    lot_number = BlankAsNull(allow_null=True)
    quantity = Computed(
        "CASE WHEN t.base_quantity % t.units_per_pack = 0 THEN t.base_quantity / t.units_per_pack END",
        serializers.IntegerField(allow_null=True, help_text="In packs; null where it is no whole number of them."),
    )
    serial_numbers = Computed(
        "SELECT coalesce(json_agg(s.serial_number ORDER BY s.serial_number), '[]') FROM suppliers_deliveryserial s"
        f" WHERE s.tenant_id = {TENANT} AND s.line_id = t.id",
        serializers.ListField(child=serializers.CharField()),
    )
    recall_notice = Document(RecallNoticeOut(allow_null=True))

    class Meta:
        model = DeliveryLine
        fields: tuple[str, ...] = (
            "id", "line_no", "order_line_id", "product_id", "packaging_id", "name", "supplier_sku", "gtin", "packaging",
            "unit", "quantity", "base_quantity", "base_unit", "units_per_pack", "lot_id", "lot_number", "expiry_date",
            "serial_numbers", "cold_chain", *COUNTERS, "recall_notice",
        )  # fmt: skip


class PackageLineOut(Representation):
    """What a package holds of a line, in base units."""

    class Meta:
        model = DeliveryPackageLine
        fields = ("line_no", "base_quantity")


class PackageOut(Representation):
    """A package with its number, and that of the package that it stands in."""

    parent_sscc = Computed(
        f"SELECT p.sscc FROM suppliers_deliverypackage p WHERE p.tenant_id = {TENANT} AND p.id = t.parent_id",
        serializers.CharField(allow_null=True),
    )
    level = OpenChoice(choices=PackageLevel.choices)
    lines = PackageLineOut(many=True, by="package", ordering=("line_no", "id"))

    class Meta:
        model = DeliveryPackage
        fields = ("sscc", "parent_sscc", "level", "lines")


class DeliveryExceptionOut(Representation):
    """Something that went wrong with a delivery; `line_nos` empty stands for all lines."""

    type = OpenChoice(choices=ExceptionType.choices)
    by = OpenChoice(choices=("buyer", "supplier"))
    note = BlankAsNull(allow_null=True)
    line_nos = Document(serializers.ListField(child=serializers.IntegerField()))
    file_ids = Document(serializers.ListField(child=serializers.UUIDField()))

    class Meta:
        model = DeliveryException
        fields: tuple[str, ...] = ("id", "type", "by", "at", "note", "line_nos", "file_ids")


class TemperatureOut(Representation):
    """What temperatures the goods need and have had, in degrees Celsius."""

    logger_id = BlankAsNull(allow_null=True)
    excursion = Computed(EXCURSION, serializers.BooleanField(help_text="They were too cold or too warm."))

    class Meta:
        model = Delivery
        fields: tuple[str, ...] = (*TEMPERATURE, "excursion")


class DeliveryForSupplierOut(Representation):
    """A delivery as its supplier may see it."""

    delivery_number = serializers.CharField(source="number")
    purchase_order_id = serializers.UUIDField(source="order_id")
    status = OpenChoice(choices=OF_DELIVERY)
    supplier_id = serializers.UUIDField(source="supplier_tenant_id")
    buyer_id = Computed("t.tenant_id", serializers.UUIDField())
    to_location_id = serializers.UUIDField(source="delivery_location_id")
    to_location = Document(DeliveryAddressOut(allow_null=True), source="delivery_address")
    temperature = TemperatureOut(source="*")
    file_ids = Document(serializers.ListField(child=serializers.UUIDField()))
    packages = PackageOut(many=True, by="delivery", ordering=("position", "id"))
    exceptions = DeliveryExceptionOut(many=True, by="delivery", ordering=("at", "id"))
    lines = DeliveryLineOut(many=True, by="delivery", ordering=("line_no",))

    class Meta:
        model = Delivery
        fields: tuple[str, ...] = (
            "id", "delivery_number", "purchase_order_id", "po_number", "order_number", "status", "supplier_id", "buyer_id",
            "carrier", "service", "tracking_number", "tracking_url", "shipped_at", "estimated_at", "delivered_at",
            "completed_at", "lost_at", "to_location_id", "to_location", "gross_weight_g", "cold_chain", "temperature",
            "file_ids", "packages", "exceptions", "lines_total", "lines",
        )  # fmt: skip
        blank_as_null = ("carrier", "service", "tracking_number", "tracking_url")


class ReceiptLineForSupplierOut(Representation):
    """What became of one line of a delivery at a receipt, in base units."""

    rejection_reason = BlankAsNull(allow_null=True, help_text=", ".join(RejectionReason.values))
    lot_number = BlankAsNull(allow_null=True)
    serial_numbers = Document(serializers.ListField(child=serializers.CharField()))
    note = BlankAsNull(allow_null=True)
    file_ids = Document(serializers.ListField(child=serializers.UUIDField()))

    class Meta:
        model = ReceiptLine
        fields: tuple[str, ...] = (
            "line_no", "delivery_line_id", "unit", "accepted", "rejected", "short", "rejection_reason", "lot_number",
            "expiry_date", "differs", "serial_numbers", "note", "file_ids",
        )  # fmt: skip


class ReceiptForSupplierOut(Representation):
    """A receipt as the supplier may see it: neither where the goods were put nor who has received them."""

    reverses = serializers.UUIDField(source="reverses_id", allow_null=True)
    lines = ReceiptLineForSupplierOut(many=True, by="receipt", ordering=("line_no",))

    class Meta:
        model = Receipt
        fields: tuple[str, ...] = (
            "id",
            "delivery_id",
            "received_at",
            "temperature_ok",
            "reverses",
            "lines",
            "created_at",
        )
