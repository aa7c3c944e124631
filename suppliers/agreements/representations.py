"""Price agreements as both parties read them."""

from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import BlankAsNull, Computed, Document, OpenChoice, Representation
from suppliers.company.party_names import party_name_sql
from suppliers.company.serializers import MoneyIn, PaymentTermsIn
from suppliers.files.serializers import HandedFileOut

from .models import PriceAgreement, PriceAgreementLine
from .shapes import ROWS, TIMELINE_TOTAL, lines_sql, timeline_sql, versions_sql
from .states import STATUSES, AgreementScope, Side

FIRST_PAGE: Final = 100
MOST_TIMELINE: Final = 100


class AgreementTierOut(serializers.Serializer[None]):
    """What holds from so many packs up: a unit price, or a percentage off the product's list price."""

    min_quantity = serializers.IntegerField()
    unit_price = serializers.CharField(required=False, help_text="Not there where a percentage was agreed.")
    discount_percent = serializers.CharField(required=False, help_text="Not there where a price was agreed.")


class AgreementLineOut(serializers.Serializer[None]):
    """What is agreed on a product or category; quantities in base units, `consumed` is what was ordered at it so far."""

    line_no = serializers.IntegerField()
    product_id = serializers.UUIDField(allow_null=True)
    category = serializers.CharField(allow_null=True)
    packaging_id = serializers.UUIDField(allow_null=True)
    price_base_quantity = serializers.IntegerField()
    tiers = Document(AgreementTierOut(many=True))
    max_quantity = serializers.IntegerField(allow_null=True)
    consumed = serializers.IntegerField()
    min_remaining_shelf_life_days = serializers.IntegerField(allow_null=True)
    lead_time_days = serializers.IntegerField(allow_null=True)


class AgreementVersionOut(serializers.Serializer[None]):
    """One version of an agreement; `revision` in the address reads it."""

    revision = serializers.IntegerField()
    status = OpenChoice(choices=STATUSES)
    proposed_by = OpenChoice(choices=Side.choices, allow_null=True)
    proposed_at = serializers.DateTimeField(allow_null=True)
    valid_from = serializers.DateField()
    valid_to = serializers.DateField()
    lines_total = serializers.IntegerField()
    version = serializers.IntegerField()


class TimelineEntryOut(serializers.Serializer[None]):
    """Something that has happened to the agreement; who did it is told of the reader's own side alone."""

    at = serializers.DateTimeField()
    by = OpenChoice(choices=[*Side.values, "system"])
    action = serializers.CharField()
    revision = serializers.IntegerField()
    to = OpenChoice(choices=STATUSES)
    reason = serializers.CharField(allow_null=True)
    actor_id = serializers.UUIDField(allow_null=True)
    credential = serializers.CharField(allow_null=True)

    def get_fields(self) -> dict[str, Any]:
        """Add `from`, which is a word of Python."""
        return {**super().get_fields(), "from": OpenChoice(choices=STATUSES, allow_null=True)}


class AgreementFileOut(HandedFileOut):
    """A file of the agreement, as it was when it was named; `GET /v1/files/{id}` has a link to its content."""


class PriceAgreementOut(Representation):
    """A version of a price agreement without its lines; all versions have the id of the agreement."""

    id = serializers.UUIDField(source="agreement_id")
    agreement_number = BlankAsNull(source="number", allow_null=True, help_text="null: not proposed yet")
    status = OpenChoice(choices=STATUSES)
    supplier_id = serializers.UUIDField(source="supplier_tenant_id")
    supplier_name = Computed(party_name_sql("supplier_tenant_id"), serializers.CharField())
    buyer_id = Computed("t.buyer_tenant_id", serializers.UUIDField())
    buyer_name = Computed(party_name_sql("buyer_tenant_id"), serializers.CharField())
    proposed_by = Computed(
        "CASE WHEN t.status <> 'draft' THEN t.author END", OpenChoice(choices=Side.choices, allow_null=True)
    )
    scope = OpenChoice(choices=AgreementScope.choices)
    group = BlankAsNull(source="group_code", allow_null=True)
    payment_terms = Document(PaymentTermsIn())
    min_order_value = Document(MoneyIn())
    free_freight_from = Document(MoneyIn())
    categories = Document(serializers.ListField(child=serializers.CharField()))
    files = Document(AgreementFileOut(many=True))
    proposed_at = Computed(INSTANT.format("t.proposed_at"), serializers.DateTimeField(allow_null=True))

    class Meta:
        model = PriceAgreement
        name = "price agreement"
        rows = ROWS
        fields: ClassVar[tuple[str, ...]] = (
            "id", "agreement_number", "revision", "status", "supplier_id", "supplier_name", "buyer_id", "buyer_name",
            "proposed_by", "title", "scope", "group", "currency", "valid_from", "valid_to", "priority", "payment_terms",
            "min_order_value", "free_freight_from", "qty_tolerance_bp", "price_tolerance_bp", "cancellation_policy",
            "categories", "lines_total", "files", "proposed_at", "accepted_by_buyer_at", "accepted_by_supplier_at",
            "terminates_on", "reason", "ended_at", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("cancellation_policy", "reason")
        example: ClassVar = {
            "agreement_number": "PA-000042", "title": "Gloves 2026", "currency": "EUR", "valid_from": "2026-01-01",
            "valid_to": "2027-01-01",
        }  # fmt: skip


class PriceAgreementWithLinesOut(PriceAgreementOut):
    """A version with a page of its lines, all versions of the agreement, and what has happened to it."""

    versions = Computed(versions_sql(INSTANT), AgreementVersionOut(many=True))
    lines = Computed(lines_sql(str(FIRST_PAGE), "0"), AgreementLineOut(many=True))
    lines_next = Computed(
        f"CASE WHEN t.lines_total > {FIRST_PAGE} THEN '/v1/price-agreements/' || t.agreement_id || '?revision='"
        " || t.revision || '&page=2' END",
        serializers.CharField(allow_null=True, help_text="Where the next lines are read; null: there are no more."),
    )
    timeline = Computed(timeline_sql(INSTANT, MOST_TIMELINE), TimelineEntryOut(many=True))
    timeline_total = Computed(TIMELINE_TOTAL, serializers.IntegerField())

    class Meta(PriceAgreementOut.Meta):
        fields: ClassVar[tuple[str, ...]] = (
            *PriceAgreementOut.Meta.fields[:23], "lines", "lines_total", "lines_next", "versions", "timeline",
            "timeline_total", *PriceAgreementOut.Meta.fields[24:],
        )  # fmt: skip


class _CopiedLineOut(Representation):
    """A line as the supplier's row keeps it."""

    class Meta:
        model = PriceAgreementLine
        fields = (
            "id", "line_no", "product_id", "category", "packaging_id", "price_base_quantity", "tiers", "max_quantity",
            "consumed", "min_remaining_shelf_life_days", "lead_time_days",
        )  # fmt: skip


class AgreementForSupplierOut(Representation):
    """What the supplier's copy holds beside its columns."""

    lines = _CopiedLineOut(many=True, by="agreement", ordering=("line_no",))

    class Meta:
        model = PriceAgreement
        fields = (
            "title", "author", "valid_to", "payment_terms", "min_order_value", "free_freight_from", "qty_tolerance_bp",
            "price_tolerance_bp", "cancellation_policy", "categories", "files", "lines_total", "proposed_at", "accepted_by_buyer_at",
            "accepted_by_supplier_at", "terminates_on", "reason", "ended_at", "lines",
        )  # fmt: skip
