"""Shipments and deliveries as both parties read them."""

from typing import ClassVar, Final

from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import BlankAsNull, Computed, Document, OpenChoice, Representation
from suppliers.company.party_names import party_name_sql
from suppliers.deliveries.models import TEMPERATURE, Delivery
from suppliers.deliveries.receiving.representations import PutawayOut
from suppliers.deliveries.representations import EXCURSION, RecallNoticeOut
from suppliers.deliveries.states import DeliveryStatus, ExceptionType, PackageLevel
from suppliers.orders.proposals.representations import DeliveryAddressOut
from suppliers.orders.representations import PackagingSnapshotOut
from suppliers.orders.shapes import EMBEDDED, timeline_sql, timeline_total_sql
from suppliers.orders.states import Party

from .shapes import ROWS

_HELP: Final = "null in preparation"


class ShippedLineOut(serializers.Serializer[None]):
    """Goods of one line of the order; once it has left, of one lot. Counters are in base units."""

    id = serializers.UUIDField(
        required=False, help_text="Not there in preparation, like the members after `serial_numbers`."
    )
    line_no = serializers.IntegerField()
    order_line_id = serializers.UUIDField()
    product_id = serializers.UUIDField(allow_null=True)
    packaging_id = serializers.UUIDField(allow_null=True)
    name = serializers.CharField()
    supplier_sku = serializers.CharField(allow_null=True)
    gtin = serializers.CharField(allow_null=True)
    packaging = PackagingSnapshotOut(allow_null=True)
    unit = serializers.CharField()
    quantity = serializers.IntegerField(
        allow_null=True, help_text="In packs; null where it is no whole number of them."
    )
    base_quantity = serializers.IntegerField()
    base_unit = serializers.CharField()
    units_per_pack = serializers.IntegerField()
    lot_number = serializers.CharField(allow_null=True)
    expiry_date = serializers.DateField(allow_null=True)
    serial_numbers = serializers.ListField(child=serializers.CharField())
    lot_id = serializers.UUIDField(required=False, allow_null=True, help_text="The supplier's lot.")
    cold_chain = serializers.BooleanField(required=False)
    accepted = serializers.IntegerField(required=False)
    rejected = serializers.IntegerField(required=False)
    short = serializers.IntegerField(required=False)
    returned = serializers.IntegerField(required=False)
    recall_notice = RecallNoticeOut(required=False, allow_null=True)


class PackedLineOut(serializers.Serializer[None]):
    """What a package holds of a line; `base_quantity` null, in preparation, stands for all that is left of it."""

    line_no = serializers.IntegerField()
    base_quantity = serializers.IntegerField(allow_null=True)


class PackedOut(serializers.Serializer[None]):
    """A package with its number, and that of the package that it stands in."""

    sscc = serializers.CharField()
    parent_sscc = serializers.CharField(allow_null=True)
    level = OpenChoice(choices=PackageLevel.choices)
    lines = PackedLineOut(many=True)


class ReportedOut(serializers.Serializer[None]):
    """Something that went wrong with a delivery; `line_nos` empty stands for all lines."""

    id = serializers.UUIDField()
    type = OpenChoice(choices=ExceptionType.choices)
    by = OpenChoice(choices=Party.values)
    at = serializers.DateTimeField()
    note = serializers.CharField(allow_null=True)
    line_nos = serializers.ListField(child=serializers.IntegerField())
    file_ids = serializers.ListField(child=serializers.UUIDField())


class ReceivedLineOut(serializers.Serializer[None]):
    """What became of one line of a delivery at a receipt, in base units."""

    line_no = serializers.IntegerField()
    delivery_line_id = serializers.UUIDField()
    unit = serializers.CharField()
    accepted = serializers.IntegerField()
    rejected = serializers.IntegerField()
    short = serializers.IntegerField()
    rejection_reason = serializers.CharField(allow_null=True)
    lot_number = serializers.CharField(allow_null=True)
    expiry_date = serializers.DateField(allow_null=True)
    differs = serializers.BooleanField()
    is_quarantined = serializers.BooleanField(required=False, help_text="The buyer's alone.")
    serial_numbers = serializers.ListField(child=serializers.CharField())
    note = serializers.CharField(allow_null=True)
    file_ids = serializers.ListField(child=serializers.UUIDField())


class ReceivedOut(serializers.Serializer[None]):
    """What was received of a delivery at one time; where goods were put, and who received them, the buyer alone reads."""

    id = serializers.UUIDField()
    delivery_id = serializers.UUIDField()
    received_at = serializers.DateTimeField()
    temperature_ok = serializers.BooleanField(allow_null=True)
    reverses = serializers.UUIDField(allow_null=True)
    lines = ReceivedLineOut(many=True)
    created_at = serializers.DateTimeField()
    location_id = serializers.UUIDField(required=False)
    confirm_difference = serializers.BooleanField(required=False)
    putaway = PutawayOut(many=True, required=False)
    received_by = serializers.UUIDField(required=False, allow_null=True)


class PickedOut(serializers.Serializer[None]):
    """A level that the supplier has taken a line from."""

    line_no = serializers.IntegerField()
    level_id = serializers.UUIDField()
    location_id = serializers.UUIDField()
    base_quantity = serializers.IntegerField()


class DeliveryTimelineEntryOut(serializers.Serializer[None]):
    """Something that has happened to the delivery; who did it is told of the reader's own side alone."""

    at = serializers.DateTimeField()
    by = OpenChoice(choices=[*Party.values, "system"])
    action = serializers.CharField()
    to = OpenChoice(choices=DeliveryStatus.values)
    reason = serializers.CharField(allow_null=True)
    actor_id = serializers.UUIDField(allow_null=True)
    credential = serializers.CharField(allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[object, object, object, object]]:
        """Add `from`, which is a word of Python."""
        return {**super().get_fields(), "from": OpenChoice(choices=DeliveryStatus.values, allow_null=True)}


def _instant(column: str) -> Computed:
    return Computed(INSTANT.format(f"t.{column}"), serializers.DateTimeField(allow_null=True))


def _named(column: str) -> Computed:
    return Computed(party_name_sql(column), serializers.CharField())


class TransportTemperatureOut(Representation):
    """What temperatures the goods need and have had, in degrees Celsius."""

    logger_id = BlankAsNull(allow_null=True)
    excursion = Computed(EXCURSION, serializers.BooleanField(help_text="They were too cold or too warm."))

    class Meta:
        model = Delivery
        rows = ROWS
        fields: tuple[str, ...] = (*TEMPERATURE, "excursion")


class DeliveryOut(Representation):
    """A delivery without its lines; of its supplier also a shipment in preparation."""

    delivery_number = BlankAsNull(source="number", allow_null=True, help_text=_HELP)
    purchase_order_id = serializers.UUIDField(source="order_id")
    po_number = BlankAsNull(allow_null=True, help_text=_HELP)
    status = OpenChoice(choices=DeliveryStatus.choices)
    supplier_id = serializers.UUIDField(source="supplier_tenant_id")
    supplier_name = _named("supplier_tenant_id")
    buyer_id = Computed("t.buyer_tenant_id", serializers.UUIDField())
    buyer_name = _named("buyer_tenant_id")
    shipped_at = _instant("shipped_at")
    dispatched_at = _instant("shipped_at")
    to_location_id = Computed("t.delivery_location_id", serializers.UUIDField(allow_null=True, help_text=_HELP))
    to_location = Document(DeliveryAddressOut(allow_null=True), source="delivery_address")
    temperature = TransportTemperatureOut(source="*")
    file_ids = Document(serializers.ListField(child=serializers.UUIDField()))
    from_location_id = Computed(
        "t.from_location_id", serializers.UUIDField(allow_null=True, help_text="The supplier's alone.")
    )

    class Meta:
        model = Delivery
        name = "delivery"
        rows = ROWS
        fields: tuple[str, ...] = (
            "id", "delivery_number", "purchase_order_id", "po_number", "order_number", "status", "supplier_id",
            "supplier_name", "buyer_id", "buyer_name", "carrier", "service", "tracking_number", "tracking_url", "shipped_at",
            "dispatched_at", "estimated_at", "delivered_at", "completed_at", "lost_at", "from_location_id",
            "to_location_id", "to_location", "gross_weight_g", "cold_chain", "temperature", "file_ids", "lines_total",
            "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("carrier", "service", "tracking_number", "tracking_url")
        example: ClassVar = {"delivery_number": "DN-000023", "po_number": "PO-000017", "order_number": "SO-000042"}


class DeliveryWithLinesOut(DeliveryOut):
    """A delivery with its first lines, its packages, what was reported, and what has happened to it."""

    lines = Computed("t.lines", ShippedLineOut(many=True))
    lines_next = Computed(
        f"CASE WHEN t.lines_total > {EMBEDDED} AND t.number <> '' THEN '/v1/procurement/deliveries/' || t.id || '?lines_page=2' END",
        serializers.CharField(allow_null=True, help_text="Where the next lines are read; null: there are no more."),
    )
    packages = Computed("t.packages", PackedOut(many=True))
    exceptions = Computed("t.exceptions", ReportedOut(many=True))
    receipts = Computed("t.receipts", ReceivedOut(many=True))
    picked = Computed("t.picked", PickedOut(many=True, allow_null=True, help_text="The supplier's alone."))
    picking_notes = Computed(
        "nullif(t.picking_notes, '')", serializers.CharField(allow_null=True, help_text="The supplier's alone.")
    )
    timeline = Computed(timeline_sql("t.id", revisions=False), DeliveryTimelineEntryOut(many=True))
    timeline_total = Computed(timeline_total_sql("t.id"), serializers.IntegerField())

    class Meta(DeliveryOut.Meta):
        fields: tuple[str, ...] = (
            *DeliveryOut.Meta.fields, "lines", "lines_next", "packages", "exceptions", "receipts", "picked", "picking_notes",
            "timeline", "timeline_total",
        )  # fmt: skip


class ShipmentOut(DeliveryWithLinesOut):
    """A shipment as its supplier reads it: in preparation, or the delivery that it has become."""

    class Meta(DeliveryWithLinesOut.Meta):
        name = "shipment"
