"""Payments as both parties read them."""

from typing import ClassVar

from django.db.models import Q
from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import BlankAsNull, Computed, OpenChoice, Representation
from suppliers.company.party_names import party_name_sql
from suppliers.orders.representations import amount_of
from suppliers.orders.shapes import timeline_sql, timeline_total_sql
from suppliers.orders.states import Party
from suppliers.payments.models import Payment
from suppliers.payments.representations import PaymentFailureOut
from suppliers.payments.states import PaymentMethod, PaymentStatus

from .shapes import ROWS

_BUYERS = "The buyer's alone."


def _instant(column: str) -> Computed:
    return Computed(INSTANT.format(f"t.{column}"), serializers.DateTimeField(allow_null=True))


def _named(column: str) -> Computed:
    return Computed(party_name_sql(column), serializers.CharField())


class PaidInvoiceOut(serializers.Serializer[None]):
    """What of the payment concerns one invoice."""

    invoice_id = serializers.UUIDField()
    invoice_number = serializers.CharField()
    amount = serializers.CharField()


class PaymentTimelineEntryOut(serializers.Serializer[None]):
    """Something that has happened to the payment; who did it is told of the reader's own side alone."""

    at = serializers.DateTimeField()
    by = OpenChoice(choices=[*Party.values, "system"])
    action = serializers.CharField()
    to = OpenChoice(choices=PaymentStatus.values)
    reason = serializers.CharField(allow_null=True)
    actor_id = serializers.UUIDField(allow_null=True)
    credential = serializers.CharField(allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[object, object, object, object]]:
        """Add `from`, which is a word of Python."""
        return {**super().get_fields(), "from": OpenChoice(choices=PaymentStatus.values, allow_null=True)}


class ReadFailureOut(PaymentFailureOut):
    """What the bank has said."""

    class Meta(PaymentFailureOut.Meta):
        rows = ROWS


class PaymentOut(Representation):
    """A payment without the invoices that it pays."""

    payment_number = serializers.CharField(source="number")
    status = OpenChoice(choices=PaymentStatus.choices)
    supplier_id = serializers.UUIDField(source="supplier_tenant_id")
    supplier_name = _named("supplier_tenant_id")
    buyer_id = Computed("t.buyer_tenant_id", serializers.UUIDField())
    buyer_name = _named("buyer_tenant_id")
    method = OpenChoice(choices=PaymentMethod.choices)
    amount = amount_of("t.amount")
    provider_reference = BlankAsNull(allow_null=True, help_text=_BUYERS)
    bank_account = BlankAsNull(allow_null=True, help_text=f"The account that pays. {_BUYERS}")
    failure = ReadFailureOut(when=~Q(failure_code=""))
    succeeded_at = _instant("succeeded_at")
    ended_at = _instant("ended_at")
    created_by = serializers.UUIDField(source="created_by_id", allow_null=True, help_text=_BUYERS)
    confirmed_by = serializers.UUIDField(source="confirmed_by_id", allow_null=True, help_text=_BUYERS)

    class Meta:
        model = Payment
        name = "payment"
        rows = ROWS
        fields: tuple[str, ...] = (
            "id", "payment_number", "status", "supplier_id", "supplier_name", "buyer_id", "buyer_name", "method", "amount",
            "currency", "value_date", "remittance_text", "provider_reference", "bank_account", "failure", "succeeded_at",
            "ended_at", "created_by", "confirmed_by", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("remittance_text",)
        example: ClassVar = {"payment_number": "PM-000023", "amount": "1190.00", "currency": "EUR"}


class PaymentWithInvoicesOut(PaymentOut):
    """A payment with the invoices that it pays, those whose credit it uses, and what has happened to it."""

    allocations = Computed("t.allocations", PaidInvoiceOut(many=True))
    credit_sources = Computed("t.credit_sources", PaidInvoiceOut(many=True))
    timeline = Computed(timeline_sql("t.id", revisions=False), PaymentTimelineEntryOut(many=True))
    timeline_total = Computed(timeline_total_sql("t.id"), serializers.IntegerField())

    class Meta(PaymentOut.Meta):
        fields: tuple[str, ...] = (
            *PaymentOut.Meta.fields, "allocations", "credit_sources", "timeline", "timeline_total",
        )  # fmt: skip
