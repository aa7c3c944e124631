"""Invoices as both parties read them."""

from typing import ClassVar, Final

from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import BlankAsNull, Computed, Document, OpenChoice, Representation
from suppliers.company.party_names import party_name_sql
from suppliers.invoices.models import Invoice
from suppliers.invoices.representations import AMOUNTS, ChargeOut, DiscountOut, StatedTotalsOut
from suppliers.invoices.states import DisputeReason, InvoiceStatus, InvoiceType, MatchResult, MatchStatus
from suppliers.orders.representations import amount_of
from suppliers.orders.shapes import EMBEDDED, timeline_sql, timeline_total_sql
from suppliers.orders.states import Party
from suppliers.quoting.representations import TaxOut

from .shapes import ROWS

_MINE: Final = "The buyer's alone."
_DUE: Final = "(t.gross_total - t.credited_total - t.paid_total + t.offset_total)"
_IS_NOTE: Final = "t.type = 'credit_note'"
# Codes of the response to an invoice. Source: Peppol BIS Invoice Response, UNCL4343.
PEPPOL_STATUS: Final = (
    f"CASE WHEN {_IS_NOTE} OR t.status = 'cancelled' THEN NULL WHEN t.status = 'mismatched' THEN 'IP'"
    " WHEN t.status IN ('issued', 'matched') THEN 'AB' WHEN t.status = 'disputed' THEN 'UQ' WHEN t.status = 'rejected' THEN 'RE'"
    " WHEN t.status = 'paid' THEN 'PD' WHEN t.is_overridden THEN 'CA' ELSE 'AP' END"
)


class DisputeOut(serializers.Serializer[None]):
    """Why the buyer has put the invoice under query."""

    reason_code = OpenChoice(choices=DisputeReason.choices)
    note = serializers.CharField(allow_null=True)
    opened_at = serializers.DateTimeField()


class MatchedLineOut(serializers.Serializer[None]):
    """The result of a line; by how much it is above what may be billed, and above the ordered price, the buyer alone reads."""

    line_no = serializers.IntegerField()
    result = OpenChoice(choices=MatchResult.choices, allow_null=True)
    quantity_variance = serializers.IntegerField(required=False, allow_null=True, help_text=f"Base units. {_MINE}")
    price_variance = serializers.CharField(required=False, allow_null=True, help_text=_MINE)


class MatchOut(serializers.Serializer[None]):
    """How the invoice was held against its order and what was received."""

    status = OpenChoice(choices=MatchStatus.choices)
    checked_at = serializers.DateTimeField()


class MatchWithLinesOut(MatchOut):
    """The same, with the result of each line."""

    lines = MatchedLineOut(many=True)


class BilledLineOut(serializers.Serializer[None]):
    """What is asked for one line of the order; `credited` counts base units that credit notes have taken back."""

    id = serializers.UUIDField()
    line_no = serializers.IntegerField()
    order_line_id = serializers.UUIDField()
    order_line_no = serializers.IntegerField()
    delivery_line_id = serializers.UUIDField(allow_null=True)
    product_id = serializers.UUIDField(allow_null=True)
    packaging_id = serializers.UUIDField(allow_null=True)
    name = serializers.CharField()
    supplier_sku = serializers.CharField(allow_null=True)
    gtin = serializers.CharField(allow_null=True)
    unit = serializers.CharField()
    quantity = serializers.IntegerField(
        allow_null=True, help_text="In packs; null where it is no whole number of them."
    )
    base_quantity = serializers.IntegerField()
    base_unit = serializers.CharField()
    units_per_pack = serializers.IntegerField()
    unit_price = serializers.CharField()
    price_base_quantity = serializers.IntegerField()
    allowance = serializers.CharField()
    line_total = serializers.CharField()
    tax_category = serializers.CharField(allow_null=True)
    tax_rate = serializers.CharField(allow_null=True, help_text="In percent.")
    credited = serializers.IntegerField()
    credited_net = serializers.CharField()
    result = OpenChoice(choices=MatchResult.choices, allow_null=True)


class InvoiceTimelineEntryOut(serializers.Serializer[None]):
    """Something that has happened to the invoice; who did it is told of the reader's own side alone."""

    at = serializers.DateTimeField()
    by = OpenChoice(choices=[*Party.values, "system"])
    action = serializers.CharField()
    to = OpenChoice(choices=InvoiceStatus.values)
    reason = serializers.CharField(allow_null=True)
    actor_id = serializers.UUIDField(allow_null=True)
    credential = serializers.CharField(allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[object, object, object, object]]:
        """Add `from`, which is a word of Python."""
        return {**super().get_fields(), "from": OpenChoice(choices=InvoiceStatus.values, allow_null=True)}


def _instant(column: str, *, allow_null: bool = True) -> Computed:
    return Computed(INSTANT.format(f"t.{column}"), serializers.DateTimeField(allow_null=allow_null))


def _named(column: str) -> Computed:
    return Computed(party_name_sql(column), serializers.CharField())


def _match(lines: str = "") -> str:
    return (
        "CASE WHEN t.match_status <> '' THEN json_build_object('status', t.match_status, 'checked_at',"
        f" {INSTANT.format('t.match_checked_at')}{lines}) END"
    )


class InvoiceOut(Representation):
    """An invoice, prepayment or credit note without its lines. Credit notes stay `issued`; they owe nothing themselves."""

    invoice_number = serializers.CharField(source="number")
    type = OpenChoice(choices=InvoiceType.choices)
    status = OpenChoice(choices=InvoiceStatus.choices)
    peppol_status = Computed(
        PEPPOL_STATUS, serializers.CharField(allow_null=True, help_text="AB, IP, UQ, CA, RE, AP or PD.")
    )
    purchase_order_id = serializers.UUIDField(source="order_id")
    supplier_id = serializers.UUIDField(source="supplier_tenant_id")
    supplier_name = _named("supplier_tenant_id")
    buyer_id = Computed("t.buyer_tenant_id", serializers.UUIDField())
    buyer_name = _named("buyer_tenant_id")
    delivery_ids = Document(serializers.ListField(child=serializers.UUIDField()))
    charges = Document(ChargeOut(many=True))
    allowances = Document(ChargeOut(many=True))
    discount = Document(DiscountOut(allow_null=True))
    original_invoice_id = serializers.UUIDField(source="original_id", allow_null=True)
    file_ids = Document(serializers.ListField(child=serializers.UUIDField()))
    stated_totals = Document(StatedTotalsOut(allow_null=True))
    taxes = Document(TaxOut(many=True))
    net_total = amount_of("t.net_total")
    tax_total = amount_of("t.tax_total", allow_null=True, help_text="null where a line has no rate; gross is net then.")
    gross_total = amount_of("t.gross_total")
    credited_total = amount_of("t.credited_total")
    held_total = amount_of("t.held_total")
    paid_total = amount_of("t.paid_total")
    offset_total = amount_of("t.offset_total")
    balance_due = amount_of(f"(CASE WHEN {_IS_NOTE} THEN 0 ELSE {_DUE} END)", help_text="Less than nothing is credit.")
    credit_available = amount_of(f"(CASE WHEN {_IS_NOTE} THEN 0 ELSE greatest(0, -{_DUE}) END)")
    issued_at = _instant("issued_at", allow_null=False)
    match = Computed(_match(), MatchOut(allow_null=True))
    dispute = Computed(
        "CASE WHEN t.dispute_reason <> '' THEN json_build_object('reason_code', t.dispute_reason,"
        f" 'note', nullif(t.dispute_note, ''), 'opened_at', {INSTANT.format('t.disputed_at')}) END",
        DisputeOut(allow_null=True),
    )
    reason = BlankAsNull(allow_null=True, help_text="Why it was rejected or withdrawn.")
    approved_by = Computed("t.approved_by_id", serializers.UUIDField(allow_null=True, help_text=_MINE))
    override_reason = BlankAsNull(allow_null=True, help_text=_MINE)
    recorded_by = Computed("t.recorded_by_id", serializers.UUIDField(allow_null=True, help_text=_MINE))

    class Meta:
        model = Invoice
        name = "invoice"
        rows = ROWS
        fields: tuple[str, ...] = (
            "id", "invoice_number", "type", "status", "peppol_status", "purchase_order_id", "po_number", "order_number",
            "supplier_id", "supplier_name", "buyer_id", "buyer_name", "delivery_ids", "issue_date", "due_date", "currency",
            "charges", "allowances", "discount", "original_invoice_id", "return_id", "file_ids", "stated_totals", "taxes",
            *AMOUNTS, "balance_due", "credit_available", "issued_at", "match", "dispute", "reason", "approved_at",
            "approved_by", "override_reason", "recorded_by", "ended_at", "paid_at", "lines_total", "created_at", "updated_at",
            "version",
        )  # fmt: skip
        example: ClassVar = {"invoice_number": "INV-2026-0042", "po_number": "PO-000017", "order_number": "SO-000042"}


class InvoiceWithLinesOut(InvoiceOut):
    """An invoice with its first lines, the result of each line, and what has happened to it."""

    match = Computed(_match(", 'lines', t.match_lines"), MatchWithLinesOut(allow_null=True))
    lines = Computed("t.lines", BilledLineOut(many=True))
    lines_next = Computed(
        f"CASE WHEN t.lines_total > {EMBEDDED} THEN '/v1/procurement/invoices/' || t.id || '?lines_page=2' END",
        serializers.CharField(allow_null=True, help_text="Where the next lines are read; null: there are no more."),
    )
    timeline = Computed(timeline_sql("t.id", revisions=False), InvoiceTimelineEntryOut(many=True))
    timeline_total = Computed(timeline_total_sql("t.id"), serializers.IntegerField())

    class Meta(InvoiceOut.Meta):
        fields: tuple[str, ...] = (*InvoiceOut.Meta.fields, "lines", "lines_next", "timeline", "timeline_total")


class IssuedInvoiceOut(InvoiceWithLinesOut):
    """An invoice as its supplier has issued it."""

    class Meta(InvoiceWithLinesOut.Meta):
        name = "issued invoice"
