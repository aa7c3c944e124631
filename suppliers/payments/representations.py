"""Payments as their suppliers read them. What the buyer alone knows is never a member here."""

from django.db.models import Q
from rest_framework import serializers

from api.representations import BlankAsNull, Computed, OpenChoice, Representation
from suppliers.orders.representations import amount_of

from .models import CreditSource, Payment, PaymentAllocation
from .states import PaymentMethod, PaymentStatus


class PaymentAllocationOut(Representation):
    """What of the payment pays one invoice."""

    amount = amount_of("t.amount")

    class Meta:
        model = PaymentAllocation
        fields: tuple[str, ...] = ("invoice_id", "invoice_number", "amount")


class CreditSourceOut(Representation):
    """What of the payment is taken from the credit of one invoice."""

    amount = amount_of("t.amount")

    class Meta:
        model = CreditSource
        fields: tuple[str, ...] = ("invoice_id", "invoice_number", "amount")


class PaymentFailureOut(Representation):
    """What the bank has said."""

    code = serializers.CharField(source="failure_code")
    message = BlankAsNull(source="failure_message", allow_null=True)

    class Meta:
        model = Payment
        fields: tuple[str, ...] = ("code", "message")


class PaymentForSupplierOut(Representation):
    """A payment as its supplier may see it: neither the account that pays nor the provider's reference, nor who made it."""

    payment_number = serializers.CharField(source="number")
    status = OpenChoice(choices=PaymentStatus.choices)
    supplier_id = serializers.UUIDField(source="supplier_tenant_id")
    buyer_id = Computed("t.tenant_id", serializers.UUIDField())
    method = OpenChoice(choices=PaymentMethod.choices)
    amount = amount_of("t.amount")
    allocations = PaymentAllocationOut(many=True, by="payment", ordering=("position", "id"))
    credit_sources = CreditSourceOut(many=True, by="payment", ordering=("position", "id"))
    failure = PaymentFailureOut(when=~Q(failure_code=""))

    class Meta:
        model = Payment
        fields: tuple[str, ...] = (
            "id", "payment_number", "status", "supplier_id", "buyer_id", "method", "amount", "currency", "allocations",
            "credit_sources", "value_date", "remittance_text", "failure", "succeeded_at", "ended_at",
        )  # fmt: skip
        blank_as_null = ("remittance_text",)
