"""Bodies of payments. Source: contract, supply-invoice.md 3."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.serializers import DateField, DecimalField, StrictSerializer, refusal
from core.money import minor_units
from suppliers.company.fields import CurrencyField, WholeEntry, refuse_twins, text

from .course import OFFSET, OUTCOMES
from .models import MOST_LINES
from .states import PaymentMethod, PaymentStatus

_SUPPLIER: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_INVOICE: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e70"
_TWINS: Final = "An invoice stands once in the list."


def _amount(**more: Any) -> DecimalField:
    return DecimalField(max_digits=19, decimal_places=4, min_value=Decimal("0.0001"), **more)


class PaymentPartIn(WholeEntry):
    """What of a payment concerns one invoice."""

    invoice_id = serializers.UUIDField()
    amount = _amount()

    class Meta:
        example: ClassVar = {"invoice_id": _INVOICE, "amount": "1190.00"}


class PaymentIn(StrictSerializer):
    """A payment to one supplier."""

    supplier_id = serializers.UUIDField()
    amount = _amount(help_text="With the decimals of the currency at most.")
    currency = CurrencyField()
    method = serializers.ChoiceField(
        choices=PaymentMethod.choices,
        default=PaymentMethod.BANK_TRANSFER.value,
        help_text="`offset` pays with the credit of other invoices, at once.",
    )
    allocations: Any = serializers.ListSerializer(
        child=PaymentPartIn(),
        min_length=1,
        max_length=MOST_LINES,
        help_text="What pays which invoice; together the amount of the payment.",
    )
    credit_sources: Any = serializers.ListSerializer(
        child=PaymentPartIn(),
        max_length=MOST_LINES,
        required=False,
        default=list,
        help_text="With the method `offset` only: whose credit is used; together the amount of the payment.",
    )
    value_date = DateField(required=False, allow_null=True, default=None, help_text="The day on which the money moves.")
    provider_reference = text(140)
    bank_account = text(64)
    remittance_text = text(500)

    class Meta:
        example: ClassVar = {
            "supplier_id": _SUPPLIER,
            "amount": "1190.00",
            "currency": "EUR",
            "method": "bank_transfer",
            "allocations": [{"invoice_id": _INVOICE, "amount": "1190.00"}],
            "value_date": "2026-12-01",
            "remittance_text": "INV-000042",
        }

    def validate_allocations(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse an invoice that stands twice."""
        refuse_twins(found, ("invoice_id",), _TWINS)
        return found

    def validate_credit_sources(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse an invoice that stands twice."""
        refuse_twins(found, ("invoice_id",), _TWINS)
        return found

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another: decimals of the currency, sums, and credit of an offset alone."""
        _check_decimals(attrs)
        if _sum(attrs["allocations"]) != attrs["amount"]:
            raise refusal("allocations", "The allocations do not sum up to the amount.", "sum_differs")
        is_offset = attrs["method"] == OFFSET
        if attrs["credit_sources"] and not is_offset:
            raise refusal("credit_sources", "Belongs to the method offset.", "invalid")
        if is_offset and not attrs["credit_sources"]:
            raise refusal("credit_sources", "An offset names whose credit it uses.", "required")
        if is_offset and _sum(attrs["credit_sources"]) != attrs["amount"]:
            raise refusal("credit_sources", "The credit does not sum up to the amount.", "sum_differs")
        return attrs


def _sum(parts: Sequence[dict[str, Any]]) -> Decimal:
    return sum((one["amount"] for one in parts), Decimal(0))


def _check_decimals(attrs: dict[str, Any]) -> None:
    """Require that no amount has more decimals than the currency.

    :raises ValidationError: names each amount that has.
    """
    places = minor_units(attrs["currency"])
    wrong: Any = refusal("amount", f"The currency has {places} decimals.", "max_decimal_places").detail
    found: dict[str, Any] = {**wrong} if attrs["amount"] != round(attrs["amount"], places) else {}
    for name in ("allocations", "credit_sources"):
        faults = [wrong if one["amount"] != round(one["amount"], places) else {} for one in attrs[name]]
        if any(faults):
            found[name] = faults
    if found:
        raise serializers.ValidationError(found)


class PaymentFailureIn(WholeEntry):
    """What the bank has said."""

    code = serializers.CharField(max_length=64, help_text="The bank's own code, as `AC04` of ISO 20022.")
    message = text(500)

    class Meta:
        example: ClassVar = {"code": "AC04", "message": "The account is closed."}


class ConfirmPaymentIn(StrictSerializer):
    """What has become of a payment at the bank."""

    status = serializers.ChoiceField(
        choices=[(value, label) for value, label in PaymentStatus.choices if value in OUTCOMES],
        help_text="`processing`: it was sent; `reversed`: a payment that was made was taken back.",
    )
    value_date = DateField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The day on which the money has moved. A payment that succeeds without one takes the buyer's date of now.",
    )
    provider_reference = text(140)
    failure = PaymentFailureIn(
        required=False, allow_null=True, default=None, help_text="With `failed` and `reversed` only."
    )
    reason = text(500)

    class Meta:
        example: ClassVar = {
            "status": "succeeded",
            "value_date": "2026-12-01",
            "provider_reference": "2026-12-01/000017",
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another."""
        has_failed = attrs["status"] in (PaymentStatus.FAILED, PaymentStatus.REVERSED)
        if attrs["failure"] and not has_failed:
            raise refusal("failure", "Belongs to failed and reversed.", "invalid")
        if attrs["value_date"] and has_failed:
            raise refusal("value_date", "Belongs to processing and succeeded.", "invalid")
        return attrs


class CancelPaymentIn(StrictSerializer):
    """Why a payment is cancelled."""

    reason = text(500)

    class Meta:
        example: ClassVar = {"reason": "Paid twice"}
