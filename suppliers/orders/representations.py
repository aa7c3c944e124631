"""Orders as their suppliers read them. What the buyer alone knows is never a member here."""

from typing import Final

from rest_framework import serializers

from api.received_copies import received
from api.representation_sql import INSTANT
from api.representations import BlankAsNull, Computed, Document, OpenChoice, Representation
from core.money import minor_units_sql
from suppliers.company.serializers import PaymentTermsIn
from suppliers.files.serializers import HandedFileOut
from suppliers.pricing.candidates import Source
from suppliers.quoting.representations import PriceStepOut, TaxOut

from .models import AWAITING_SQL, COUNTERS, SHARED_STATUS_SQL, PurchaseOrder, PurchaseOrderLine, ReceivedOrder
from .proposals.representations import DeliveryAddressOut, change_of_order
from .shapes import (
    EMBEDDED,
    KEPT,
    LINE_STATUS,
    RECEIVED_DELIVERIES_SQL,
    RECEIVED_DELIVERIES_TOTAL_SQL,
    RECEIVED_INVOICES_SQL,
    RECEIVED_INVOICES_TOTAL_SQL,
    RECEIVED_TAG_SQL,
    SHIPMENTS_SQL,
    SHIPMENTS_TOTAL_SQL,
    UNIT_PRICE,
    received_lines_sql,
    timeline_sql,
    timeline_total_sql,
)
from .states import SHARED, Awaiting, LineStatus, OrderStatus, Party

DELIVERY_STATUSES: Final = ("in_transit", "delivered", "partially_received", "completed", "lost")
INVOICE_TYPES: Final = ("invoice", "credit_note", "prepayment")
INVOICE_STATUSES: Final = (
    "issued", "matched", "mismatched", "approved", "disputed", "partially_paid", "paid", "rejected", "cancelled",
)  # fmt: skip
SOURCES: Final = (*(one.text for one in Source), "manual", "proposed", "return")
_PLACES: Final = minor_units_sql("t.currency")


def amount_of(column: str, *, allow_null: bool = False, help_text: str = "") -> Computed:
    """Return a member that writes an amount of a row with the decimals of its currency."""
    return Computed(
        f"round({column}, {_PLACES})::text", serializers.CharField(allow_null=allow_null, help_text=help_text)
    )


def _kept(column: str, *, allow_null: bool = False, help_text: str = "") -> Computed:
    """Return a member that writes what is not cancelled of the amount of a line."""
    sql = KEPT.format(column, "t.ordered", "t.cancelled", _PLACES)
    return Computed(sql, serializers.CharField(allow_null=allow_null, help_text=help_text))


def unit_price_of(column: str, *, allow_null: bool = False) -> Computed:
    """Return a member that writes a unit price with as many decimals as needed, at least two."""
    return Computed(UNIT_PRICE.format(column), serializers.CharField(allow_null=allow_null))


class PackagingSnapshotOut(serializers.Serializer[None]):
    """The packaging as it was when the line was priced."""

    level = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    units_per_pack = serializers.IntegerField()


class SnapshotOut(Representation):
    """The goods and their price as they were when the line was priced; `unit_price` is for `price_base_quantity` packs."""

    supplier_sku = BlankAsNull(allow_null=True)
    gtin = BlankAsNull(allow_null=True)
    category = BlankAsNull(allow_null=True)
    packaging = Document(PackagingSnapshotOut(allow_null=True))
    unit_price = unit_price_of("t.unit_price")
    list_price = unit_price_of("t.list_price", allow_null=True)
    tax_category = BlankAsNull(allow_null=True)
    tax_rate = Computed("trim_scale(t.tax_rate)::text", serializers.CharField(allow_null=True, help_text="In percent."))
    price_source = OpenChoice(choices=SOURCES)

    class Meta:
        model = PurchaseOrderLine
        fields: tuple[str, ...] = (
            "name", "supplier_sku", "gtin", "category", "packaging", "base_unit", "units_per_pack", "unit_price",
            "price_base_quantity", "list_price", "tax_category", "tax_rate", "price_source",
        )  # fmt: skip


class OrderLineForSupplierOut(Representation):
    """A line of an order; its counters are in base units."""

    snapshot = SnapshotOut(source="*")
    quantity = Computed(
        "CASE WHEN t.ordered % t.units_per_pack = 0 THEN t.ordered / t.units_per_pack END",
        serializers.IntegerField(allow_null=True, help_text="In packs; null where it is no whole number of them."),
    )
    base_quantity = serializers.IntegerField(source="ordered")
    line_total = _kept("t.net", help_text="Of what is not cancelled.")
    list_net = _kept("t.list_net", allow_null=True, help_text="What that would cost by the product's list price.")
    line_status = Computed(LINE_STATUS, OpenChoice(choices=LineStatus.values))

    class Meta:
        model = PurchaseOrderLine
        fields: tuple[str, ...] = (
            "id", "line_no", "product_id", "packaging_id", "offer_id", "substitutes_line_id", "unit", "quantity",
            "base_quantity", "base_unit", "requested_date", "promised_date", "first_promised_date", "backorder_date", "snapshot",
            "line_total",
            "list_net", "line_status", "ordered", *COUNTERS,
        )  # fmt: skip


class OrderTotalsOut(Representation):
    """The totals of an order, in its currency."""

    net = amount_of("t.net")
    tax = amount_of("t.tax", allow_null=True, help_text="null where a line has no rate; `gross` is `net` then.")
    gross = amount_of("t.gross")
    taxes = Document(TaxOut(many=True))

    class Meta:
        model = PurchaseOrder
        fields = ("net", "tax", "gross", "taxes")


class OrderFileOut(HandedFileOut):
    """A file that the order hands over, as it was when it was named; `GET /v1/files/{id}` has a link to its content."""


SHARED_HEADER: Final = (
    "currency", "delivery_location_id", "delivery_address", "requested_delivery_date", "price_agreement_id",
    "payment_terms", "incoterm", "priority", "substitution_policy", "backorder_policy", "min_remaining_shelf_life_days",
    "notes_to_supplier", "external_reference", "files", "revision", "totals", "sent_at", "accept_by", "accepted_at", "closed_at",
    "return_id",
)  # fmt: skip


class OrderForSupplierOut(Representation):
    """An order as its supplier may see it, once it was sent."""

    order_number = serializers.CharField()
    po_number = serializers.CharField(source="number", help_text="The buyer's number.")
    status = Computed(SHARED_STATUS_SQL, OpenChoice(choices=SHARED))
    awaiting = Computed(AWAITING_SQL, OpenChoice(choices=Awaiting.choices, allow_null=True))
    proposed_by = BlankAsNull(allow_null=True)
    buyer_id = Computed("t.tenant_id", serializers.UUIDField())
    delivery_address = Document(DeliveryAddressOut(allow_null=True))
    payment_terms = Document(PaymentTermsIn(allow_null=True))
    files = Document(OrderFileOut(many=True))
    totals = OrderTotalsOut(source="*")
    change = change_of_order(for_supplier=True)
    lines = OrderLineForSupplierOut(many=True, by="order", ordering=("line_no",))

    class Meta:
        model = PurchaseOrder
        fields = (
            "id", "order_number", "po_number", "status", "awaiting", "proposed_by", "fulfilment_status", "billing_status",
            "buyer_id", *SHARED_HEADER, "change", "lines_total", "lines",
        )  # fmt: skip
        blank_as_null = ("incoterm", "notes_to_supplier", "external_reference")


_Copy = received("_Copy", OrderForSupplierOut, ReceivedOrder, lines="lines")
_KEPT: Final = tuple(name for name in OrderForSupplierOut.Meta.fields if name not in ("change", "lines", "lines_total"))


class OrderTimelineEntryOut(serializers.Serializer[None]):
    """Something that has happened to the order; who did it is told of the reader's own side alone."""

    at = serializers.DateTimeField()
    by = OpenChoice(choices=[*Party.values, "system"])
    action = serializers.CharField()
    revision = serializers.IntegerField()
    to = OpenChoice(choices=OrderStatus.values)
    reason = serializers.CharField(allow_null=True)
    actor_id = serializers.UUIDField(allow_null=True)
    credential = serializers.CharField(allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[object, object, object, object]]:
        """Add `from`, which is a word of Python."""
        return {**super().get_fields(), "from": OpenChoice(choices=OrderStatus.values, allow_null=True)}


class OrderDeliveryOut(serializers.Serializer[None]):
    """A delivery of an order, in short; it is read at `/v1/procurement/deliveries/{id}`."""

    id = serializers.UUIDField()
    delivery_number = serializers.CharField()
    status = OpenChoice(choices=DELIVERY_STATUSES)
    carrier = serializers.CharField(allow_null=True)
    tracking_number = serializers.CharField(allow_null=True)
    shipped_at = serializers.DateTimeField()
    estimated_at = serializers.DateTimeField(allow_null=True)
    delivered_at = serializers.DateTimeField(allow_null=True)
    lines_total = serializers.IntegerField()


class OrderInvoiceOut(serializers.Serializer[None]):
    """An invoice or credit note of an order, in short; it is read at `/v1/procurement/invoices/{id}`."""

    id = serializers.UUIDField()
    invoice_number = serializers.CharField()
    type = OpenChoice(choices=INVOICE_TYPES)
    status = OpenChoice(choices=INVOICE_STATUSES)
    issue_date = serializers.DateField()
    due_date = serializers.DateField(allow_null=True)
    original_invoice_id = serializers.UUIDField(allow_null=True)
    currency = serializers.CharField()
    gross_total = serializers.CharField()
    balance_due = serializers.CharField(help_text="Less than nothing is credit.")


class DraftedLineOut(serializers.Serializer[None]):
    """Goods of a shipment in preparation."""

    line_no = serializers.IntegerField()
    order_line_id = serializers.UUIDField()
    unit = serializers.CharField()
    base_quantity = serializers.IntegerField()
    lot_number = serializers.CharField(allow_null=True)
    serial_numbers = serializers.ListField(child=serializers.CharField())


class OrderShipmentOut(serializers.Serializer[None]):
    """A shipment that has not left: in preparation or cancelled."""

    id = serializers.UUIDField()
    status = OpenChoice(choices=("preparing", "cancelled"))
    from_location_id = serializers.UUIDField()
    carrier = serializers.CharField(allow_null=True)
    tracking_number = serializers.CharField(allow_null=True)
    file_ids = serializers.ListField(child=serializers.UUIDField())
    lines_total = serializers.IntegerField()
    lines = DraftedLineOut(many=True)
    created_at = serializers.DateTimeField()
    version = serializers.IntegerField()


class OrderItemOut(OrderLineForSupplierOut):
    """A line of an order with what is allocated to it, in base units, and how its price came about."""

    allocated = Computed("0", serializers.IntegerField())
    trace = Computed("'[]'::json", PriceStepOut(many=True))

    class Meta(OrderLineForSupplierOut.Meta):
        fields = (*OrderLineForSupplierOut.Meta.fields, "allocated", "trace")


class ReceivedOrderOut(_Copy):  # type: ignore[misc, valid-type]  # a class made from another
    """An order as its supplier reads it in lists, without its items."""

    buyer_name = Computed(
        "SELECT n.name FROM organizations_tenant n WHERE n.id = t.owner_tenant_id", serializers.CharField()
    )
    items_total = Computed("(t.representation ->> 'lines_total')::int", serializers.IntegerField())
    received_at = Computed(INSTANT.format("t.received_at"), serializers.DateTimeField())
    created_at = Computed(
        INSTANT.format("t.received_at"), serializers.DateTimeField(help_text="The same as `received_at`.")
    )

    class Meta:
        model = ReceivedOrder
        name = "order"
        unpacked = "representation"
        fields: tuple[str, ...] = (
            *_KEPT,
            "buyer_name",
            "items_total",
            "received_at",
            "created_at",
            "updated_at",
            "version",
        )
        example = {"order_number": "SO-000042", "po_number": "PO-000017", "currency": "EUR"}


class ReceivedOrderWithItemsOut(ReceivedOrderOut):
    """An order with its first items and what has happened to it."""

    items = Computed(received_lines_sql(f"e.number <= {EMBEDDED}"), OrderItemOut(many=True))
    shipments = Computed(SHIPMENTS_SQL, OrderShipmentOut(many=True))
    shipments_total = Computed(SHIPMENTS_TOTAL_SQL, serializers.IntegerField())
    deliveries = Computed(RECEIVED_DELIVERIES_SQL, OrderDeliveryOut(many=True))
    deliveries_total = Computed(RECEIVED_DELIVERIES_TOTAL_SQL, serializers.IntegerField())
    invoices = Computed(RECEIVED_INVOICES_SQL, OrderInvoiceOut(many=True))
    invoices_total = Computed(RECEIVED_INVOICES_TOTAL_SQL, serializers.IntegerField())
    timeline = Computed(timeline_sql("t.id"), OrderTimelineEntryOut(many=True))
    timeline_total = Computed(timeline_total_sql("t.id"), serializers.IntegerField())

    class Meta(ReceivedOrderOut.Meta):
        fields = (
            *ReceivedOrderOut.Meta.fields, "change", "items", "shipments", "shipments_total", "deliveries", "deliveries_total",
            "invoices", "invoices_total", "timeline", "timeline_total",
        )  # fmt: skip
        unversioned = RECEIVED_TAG_SQL
