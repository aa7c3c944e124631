"""Bodies of invoices and of what a buyer makes of them. Source: contract, supply-invoice.md 2."""

from decimal import Decimal
from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.serializers import DateField, DecimalField, PrintedField, StrictSerializer, refusal
from core.canonical import decimal_text
from suppliers.company.fields import WholeEntry, text
from suppliers.inventory.serializers import QUANTITY_MAX
from suppliers.inventory.states import Unit

from .models import MOST_LINES
from .states import DisputeReason, InvoiceType

BODY_BYTES: Final = 1_048_576
MOST_ENTRIES: Final = 50
MOST_FILES: Final = 20
_ID: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"


def _amount(**more: Any) -> DecimalField:
    return DecimalField(max_digits=19, decimal_places=4, min_value=Decimal(0), **more)


def _rate(**more: Any) -> DecimalField:
    return DecimalField(
        max_digits=7, decimal_places=4, min_value=Decimal(0), max_value=Decimal(100), help_text="In percent.", **more
    )


class InvoiceLineIn(WholeEntry):
    """What is asked for one line of the order; tax that is left out is that of the order."""

    order_line_id = serializers.UUIDField()
    delivery_line_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX)
    unit = serializers.ChoiceField(
        choices=Unit.choices, default=Unit.PACK.value, help_text="`pack`: packs of the line's packaging; `base`: base units."
    )  # fmt: skip
    unit_price = DecimalField(
        max_digits=19, decimal_places=6, min_value=Decimal(0), help_text="For `price_base_quantity` packs."
    )
    price_base_quantity = serializers.IntegerField(min_value=1, max_value=1_000_000, default=1)
    allowance = _amount(default=Decimal(0), help_text="Taken off the line.")
    tax_category = text(20)
    tax_rate = _rate(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {"order_line_id": _ID, "quantity": 10, "unit_price": "4.90"}


class ChargeIn(WholeEntry):
    """An amount of the whole document, such as freight or packaging."""

    amount = _amount()
    reason = serializers.CharField(max_length=200)
    tax_category = text(20)
    tax_rate = _rate()

    class Meta:
        example: ClassVar = {"amount": "12.50", "reason": "Freight", "tax_rate": "19"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Give amounts as texts, as they are kept."""
        return {
            "amount": f"{attrs['amount']:f}",
            "reason": attrs["reason"],
            "tax_category": attrs["tax_category"] or "",
            "tax_rate": decimal_text(attrs["tax_rate"]),
        }


class EarlyPaymentIn(WholeEntry):
    """What paying early saves."""

    percent = DecimalField(max_digits=5, decimal_places=2, min_value=Decimal("0.01"), max_value=Decimal(100))
    days = serializers.IntegerField(min_value=0, max_value=365)

    class Meta:
        example: ClassVar = {"percent": "2", "days": 10}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Give the percentage as a text, as it is kept."""
        return {"percent": decimal_text(attrs["percent"]), "days": attrs["days"]}


class StatedTotalsIn(WholeEntry):
    """The totals as another program has computed them; each that is given is held against ours within 0.02."""

    net = _amount(required=False, allow_null=True, default=None)
    tax = _amount(required=False, allow_null=True, default=None)
    gross = _amount(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {"net": "49.00", "tax": "9.31", "gross": "58.31"}


def _entries() -> Any:
    return serializers.ListSerializer(child=ChargeIn(), max_length=MOST_ENTRIES, required=False, default=list)


class InvoiceIn(StrictSerializer):
    """An invoice, a prepayment or a credit note for lines of an order."""

    invoice_number = PrintedField(max_length=64)
    type = serializers.ChoiceField(choices=InvoiceType.choices, default=InvoiceType.INVOICE.value)
    issue_date = DateField()
    due_date = DateField(
        required=False, allow_null=True, default=None, help_text="By default by the order's payment terms."
    )
    delivery_ids: Any = serializers.ListField(
        child=serializers.UUIDField(), max_length=100, required=False, default=list
    )
    lines: Any = serializers.ListSerializer(child=InvoiceLineIn(), min_length=1, max_length=MOST_LINES)
    charges = _entries()
    allowances = _entries()
    discount = EarlyPaymentIn(required=False, allow_null=True, default=None)
    original_invoice_id = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Of a credit note: the invoice that it takes something off."
    )  # fmt: skip
    return_id = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Of a credit note: the return of the order that it is for."
    )  # fmt: skip
    file_ids: Any = serializers.ListField(
        child=serializers.UUIDField(), max_length=MOST_FILES, required=False, default=list
    )
    stated_totals = StatedTotalsIn(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {
            "invoice_number": "INV-2026-0042", "issue_date": "2026-11-02", "lines": [InvoiceLineIn.Meta.example],
        }  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require the invoice of a credit note, and none of others; and dates in their order."""
        is_note = attrs["type"] == InvoiceType.CREDIT_NOTE
        if is_note and attrs["original_invoice_id"] is None:
            raise refusal("original_invoice_id", "A credit note names its invoice.", "required")
        if not is_note and attrs["original_invoice_id"] is not None:
            raise refusal("original_invoice_id", "Only a credit note names an invoice.", "invalid")
        if not is_note and attrs["return_id"] is not None:
            raise refusal("return_id", "Only a credit note names a return.", "invalid")
        if is_note and (attrs["discount"] or attrs["due_date"]):
            raise refusal("due_date", "A credit note is not paid.", "invalid")
        if attrs["due_date"] is not None and attrs["due_date"] < attrs["issue_date"]:
            raise refusal("due_date", "Must not be before issue_date.", "min_value")
        return attrs


class RecordedInvoiceIn(InvoiceIn):
    """An invoice of a managed supplier, as its buyer records it."""

    purchase_order_id = serializers.UUIDField()

    class Meta:
        example: ClassVar = {"purchase_order_id": _ID, **InvoiceIn.Meta.example}


class ApproveInvoiceIn(StrictSerializer):
    """How an invoice is released."""

    override_reason = serializers.CharField(
        max_length=2000, required=False, allow_null=True, allow_blank=True, default="",
        help_text="Required of an invoice that does not match; the supplier never reads it.",
    )  # fmt: skip

    class Meta:
        example: ClassVar = {"override_reason": "Price agreed by telephone"}


class DisputeInvoiceIn(StrictSerializer):
    """Why an invoice is put under query; or with `withdraw` that it is not any more."""

    reason_code = serializers.ChoiceField(
        choices=DisputeReason.choices, required=False, allow_null=True, default=None,
        help_text="Required, but with `withdraw`.",
    )  # fmt: skip
    note = text(2000)
    withdraw = serializers.BooleanField(default=False)

    class Meta:
        example: ClassVar = {"reason_code": "price", "note": "4.55 was agreed."}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a reason, or a withdrawal without one."""
        if attrs["withdraw"] and (attrs["reason_code"] or attrs["note"]):
            raise refusal("withdraw", "A withdrawal has no reason.", "invalid")
        if not attrs["withdraw"] and not attrs["reason_code"]:
            raise refusal("reason_code", "This field is required.", "required")
        return attrs


class ReasonIn(StrictSerializer):
    """Why an invoice is refused or withdrawn; both parties read it."""

    reason = serializers.CharField(max_length=2000)

    class Meta:
        example: ClassVar = {"reason": "Issued to the wrong entity"}
