"""Invoices as their suppliers read them: no tolerances, no variances, nobody of the buyer. Source: contract, supply.md 3.2."""

from typing import Final

from rest_framework import serializers

from api.representations import BlankAsNull, Computed, Document, OpenChoice, Representation
from suppliers.orders.representations import amount_of, unit_price_of
from suppliers.quoting.representations import TaxOut

from .models import Invoice, InvoiceLine
from .states import DisputeReason, InvoiceStatus, InvoiceType, MatchResult, MatchStatus

AMOUNTS: Final = (
    "net_total", "tax_total", "gross_total", "credited_total", "held_total", "paid_total", "offset_total",
)  # fmt: skip


class ChargeOut(serializers.Serializer[None]):
    """An amount of the whole document."""

    amount = serializers.CharField()
    reason = serializers.CharField()
    tax_category = serializers.CharField(allow_blank=True)
    tax_rate = serializers.CharField(help_text="In percent.")


class DiscountOut(serializers.Serializer[None]):
    """What paying within so many days saves."""

    percent = serializers.CharField()
    days = serializers.IntegerField()


class StatedTotalsOut(serializers.Serializer[None]):
    """The totals as another program has computed them."""

    net = serializers.CharField(allow_null=True)
    tax = serializers.CharField(allow_null=True)
    gross = serializers.CharField(allow_null=True)


class InvoiceLineOut(Representation):
    """What is asked for one line of the order; `credited` counts base units that credit notes have taken back."""

    supplier_sku = BlankAsNull(allow_null=True)
    gtin = BlankAsNull(allow_null=True)
    quantity = Computed(
        "CASE WHEN t.base_quantity % t.units_per_pack = 0 THEN t.base_quantity / t.units_per_pack END",
        serializers.IntegerField(allow_null=True, help_text="In packs; null where it is no whole number of them."),
    )
    unit_price = unit_price_of("t.unit_price")
    allowance = amount_of("t.allowance")
    line_total = amount_of("t.net")
    tax_category = BlankAsNull(allow_null=True)
    tax_rate = Computed("trim_scale(t.tax_rate)::text", serializers.CharField(allow_null=True, help_text="In percent."))
    credited_net = amount_of("t.credited_net")
    result = Computed("nullif(t.result, '')", OpenChoice(choices=MatchResult.choices, allow_null=True))

    class Meta:
        model = InvoiceLine
        fields: tuple[str, ...] = (
            "id", "line_no", "order_line_id", "order_line_no", "delivery_line_id", "product_id", "packaging_id", "name",
            "supplier_sku", "gtin", "unit", "quantity", "base_quantity", "base_unit", "units_per_pack", "unit_price",
            "price_base_quantity", "allowance", "line_total", "tax_category", "tax_rate", "credited", "credited_net", "result",
        )  # fmt: skip


class InvoiceForSupplierOut(Representation):
    """An invoice or credit note as its supplier may see it."""

    invoice_number = serializers.CharField(source="number")
    type = OpenChoice(choices=InvoiceType.choices)
    status = OpenChoice(choices=InvoiceStatus.choices)
    purchase_order_id = serializers.UUIDField(source="order_id")
    buyer_id = Computed("t.tenant_id", serializers.UUIDField())
    delivery_ids = Document(serializers.ListField(child=serializers.UUIDField()))
    charges = Document(ChargeOut(many=True))
    allowances = Document(ChargeOut(many=True))
    discount = Document(DiscountOut(allow_null=True))
    original_invoice_id = serializers.UUIDField(source="original_id", allow_null=True)
    file_ids = Document(serializers.ListField(child=serializers.UUIDField()))
    stated_totals = Document(StatedTotalsOut(allow_null=True))
    taxes = Document(TaxOut(many=True))
    net_total = amount_of("t.net_total")
    tax_total = amount_of("t.tax_total", allow_null=True)
    gross_total = amount_of("t.gross_total")
    credited_total = amount_of("t.credited_total")
    held_total = amount_of("t.held_total")
    paid_total = amount_of("t.paid_total")
    offset_total = amount_of("t.offset_total")
    match_status = Computed("nullif(t.match_status, '')", OpenChoice(choices=MatchStatus.choices, allow_null=True))
    dispute_reason = Computed(
        "nullif(t.dispute_reason, '')", OpenChoice(choices=DisputeReason.choices, allow_null=True)
    )
    is_overridden = Computed("t.override_reason <> ''", serializers.BooleanField())
    lines = InvoiceLineOut(many=True, by="invoice", ordering=("line_no",))

    class Meta:
        model = Invoice
        fields: tuple[str, ...] = (
            "id", "invoice_number", "type", "status", "purchase_order_id", "po_number", "order_number", "buyer_id",
            "delivery_ids", "issue_date", "due_date", "currency", "charges", "allowances", "discount",
            "original_invoice_id", "return_id", "file_ids", "stated_totals", "taxes", *AMOUNTS, "issued_at",
            "match_status", "match_checked_at", "dispute_reason", "dispute_note", "disputed_at", "approved_at",
            "is_overridden", "reason", "ended_at", "paid_at", "lines_total", "lines",
        )  # fmt: skip
        blank_as_null = ("dispute_note", "reason")
