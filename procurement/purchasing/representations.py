"""Purchase orders as their buyer reads them."""

from typing import ClassVar, Final

from rest_framework import serializers

from api.representations import BlankAsNull, Computed, Document, OpenChoice, Representation
from procurement.approvals.representations import approvals_of_order
from suppliers.public import (
    AWAITING_SQL,
    DELIVERIES_SQL,
    DELIVERIES_TOTAL_SQL,
    EMBEDDED,
    INVOICES_SQL,
    INVOICES_TOTAL_SQL,
    OWN_TAG_SQL,
    SHARED_HEADER,
    Awaiting,
    DeliveryAddressOut,
    OrderDeliveryOut,
    OrderFileOut,
    OrderInvoiceOut,
    OrderLineForSupplierOut,
    OrderTimelineEntryOut,
    OrderTotalsOut,
    PaymentTermsIn,
    PriceStepOut,
    PurchaseOrder,
    PurchaseOrderLine,
    SnapshotOut,
    change_of_order,
    timeline_sql,
    timeline_total_sql,
)

LINES_PATH: Final = "'/v1/purchase-orders/' || t.id || '?lines_page="


class PriceCheckOut(serializers.Serializer[None]):
    """Whether the price is the agreed one."""

    result = OpenChoice(choices=("ok", "differs"))
    contract_unit_price = serializers.CharField(allow_null=True)
    source_id = serializers.UUIDField(allow_null=True)
    trace = PriceStepOut(many=True)


class BuyerSnapshotOut(SnapshotOut):
    """The goods and their price as they were when the line was priced, with how the price came about."""

    trace = Document(PriceStepOut(many=True))

    class Meta(SnapshotOut.Meta):
        fields = (*SnapshotOut.Meta.fields, "price_source_id", "trace")


class PurchaseOrderLineOut(OrderLineForSupplierOut):
    """A line of an own order; its counters are in base units."""

    own_code = BlankAsNull(allow_null=True)
    snapshot = BuyerSnapshotOut(source="*")
    price_check = Document(PriceCheckOut(allow_null=True))

    class Meta(OrderLineForSupplierOut.Meta):
        fields = (*OrderLineForSupplierOut.Meta.fields, "own_code", "price_check")


class BudgetChoiceOut(serializers.Serializer[None]):
    """The budget that pays for an order."""

    code = serializers.CharField()
    cost_center = serializers.CharField(allow_null=True)


class RequesterOut(serializers.Serializer[None]):
    """Who created the order."""

    id = serializers.UUIDField()


class PurchaseOrderOut(Representation):
    """An own order, without its lines."""

    po_number = serializers.CharField(source="number")
    order_number = BlankAsNull(allow_null=True, help_text="The supplier's number, once the order was sent.")
    approval_for = BlankAsNull(allow_null=True)
    awaiting = Computed(AWAITING_SQL, OpenChoice(choices=Awaiting.choices, allow_null=True))
    proposed_by = BlankAsNull(allow_null=True)
    supplier_id = serializers.UUIDField(source="supplier_tenant_id")
    supplier_name = Computed(
        "SELECT n.name FROM organizations_tenant n WHERE n.id = t.supplier_tenant_id", serializers.CharField()
    )
    delivery_address = Document(DeliveryAddressOut(allow_null=True))
    payment_terms = Document(PaymentTermsIn(allow_null=True))
    files = Document(OrderFileOut(many=True))
    totals = OrderTotalsOut(source="*")
    budget = Computed(
        "CASE WHEN t.budget_code <> '' THEN json_build_object('code', t.budget_code, 'cost_center', nullif(t.cost_center, '')) END",
        BudgetChoiceOut(allow_null=True),
    )
    requester = Computed(
        "CASE WHEN t.requester_id IS NOT NULL THEN json_build_object('id', t.requester_id) END",
        RequesterOut(allow_null=True),
    )
    reservation_ids = Document(serializers.ListField(child=serializers.UUIDField()))

    class Meta:
        model = PurchaseOrder
        name = "order"
        fields: ClassVar[tuple[str, ...]] = (
            "id", "po_number", "order_number", "status", "approval_for", "awaiting", "proposed_by", "fulfilment_status",
            "billing_status", "supplier_id", "supplier_name", *SHARED_HEADER, "internal_note", "budget", "requester",
            "reservation_ids", "copy_of", "price_differs", "lines_total", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("incoterm", "notes_to_supplier", "internal_note", "external_reference")
        example: ClassVar = {"po_number": "PO-000017", "order_number": "SO-000042", "currency": "EUR"}


class PurchaseOrderWithLinesOut(PurchaseOrderOut):
    """An own order with its first lines, and what has happened to it."""

    lines = PurchaseOrderLineOut(many=True, by="order", where=f"t.line_no <= {EMBEDDED}", ordering=("line_no",))
    lines_next = Computed(
        f"CASE WHEN t.lines_total > {EMBEDDED} THEN {LINES_PATH}2' END",
        serializers.CharField(allow_null=True, help_text="Where the next lines are read; null: there are no more."),
    )
    deliveries = Computed(DELIVERIES_SQL, OrderDeliveryOut(many=True))
    deliveries_total = Computed(DELIVERIES_TOTAL_SQL, serializers.IntegerField())
    invoices = Computed(INVOICES_SQL, OrderInvoiceOut(many=True))
    invoices_total = Computed(INVOICES_TOTAL_SQL, serializers.IntegerField())
    approvals = approvals_of_order()
    change = change_of_order(for_supplier=False)
    timeline = Computed(timeline_sql("t.id"), OrderTimelineEntryOut(many=True))
    timeline_total = Computed(timeline_total_sql("t.id"), serializers.IntegerField())

    class Meta(PurchaseOrderOut.Meta):
        fields = (
            *PurchaseOrderOut.Meta.fields, "lines", "lines_next", "deliveries", "deliveries_total", "invoices", "invoices_total",
            "approvals", "change", "timeline", "timeline_total",
        )  # fmt: skip
        unversioned = OWN_TAG_SQL


LINE: Final = PurchaseOrderLineOut.shape
__all__ = ["LINE", "LINES_PATH", "PurchaseOrderLine", "PurchaseOrderOut", "PurchaseOrderWithLinesOut"]
