"""Bodies of the supplier's answers to lines. Source: contract, supply-order.md 2 "The supplier's answer"."""

from decimal import Decimal
from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.serializers import DateField, DecimalField, StrictSerializer, refusal
from suppliers.catalog.fields import QUANTITY_MAX
from suppliers.company.fields import WholeEntry
from suppliers.inventory.states import Unit
from suppliers.orders.models import MOST_LINES

_ID: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
REASONS: Final = (
    "out_of_stock",
    "short_supply",
    "discontinued",
    "packaging",
    "price",
    "regulatory",
    "recalled",
    "other",
)
_QUANTITIES: Final = ("accepted_quantity", "backorder_quantity", "cancel_quantity")
_SAID: Final = (*_QUANTITIES, "promised_date", "substitute")


def _quantity(help_text: str) -> serializers.IntegerField:
    return serializers.IntegerField(
        min_value=0, max_value=QUANTITY_MAX, required=False, allow_null=True, help_text=help_text
    )


def _date(**more: Any) -> DateField:
    return DateField(required=False, allow_null=True, **more)


class ProposedSubstituteIn(WholeEntry):
    """Another product of the supplier, in place of what a line does not accept."""

    product_id = serializers.UUIDField()
    packaging_id = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="By default the first one."
    )
    quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX, help_text="In packs of its packaging.")
    unit_price = DecimalField(
        max_digits=19, decimal_places=6, min_value=Decimal(0), max_value=Decimal(10) ** 12, help_text="For one pack."
    )
    reason_code = serializers.ChoiceField(choices=REASONS, required=False, allow_blank=True, default="")

    class Meta:
        example: ClassVar = {"product_id": _ID, "quantity": 10, "unit_price": "4.90", "reason_code": "out_of_stock"}


class _ResponseIn(StrictSerializer):
    """What the supplier answers to a line; quantities are in `unit`."""

    unit = serializers.ChoiceField(choices=Unit.choices, default=Unit.PACK.value)
    accepted_quantity = _quantity("By default all that is not backordered, cancelled or replaced.")
    promised_date = _date()
    backorder_quantity = _quantity("What comes later.")
    backorder_date = _date(help_text="When it is expected.")
    substitute = ProposedSubstituteIn(required=False, allow_null=True)
    cancel_quantity = _quantity("What does not come; what is left over is cancelled too.")
    note = serializers.CharField(max_length=500, required=False, allow_null=True, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require that something is answered."""
        if all(attrs.get(name) is None for name in _SAID):
            raise refusal("accepted_quantity", "Answer a quantity, a date or a substitute.", "required")
        if attrs.get("backorder_date") and not attrs.get("backorder_quantity"):
            raise refusal("backorder_date", "Belongs to a quantity that comes later.", "invalid")
        return attrs


class AnsweredLineIn(_ResponseIn):
    """What the supplier answers to a line of the order."""

    item_id = serializers.UUIDField()
    reason_code = serializers.ChoiceField(choices=REASONS, required=False, allow_blank=True, default="")

    class Meta:
        example: ClassVar = {"item_id": _ID, "accepted_quantity": 6, "backorder_quantity": 4}


class ItemResponseIn(_ResponseIn):
    """What the supplier answers to one line, and why."""

    reason_code = serializers.ChoiceField(choices=REASONS)

    class Meta:
        example: ClassVar = {"accepted_quantity": 6, "backorder_quantity": 4, "reason_code": "short_supply"}


def answered_lines() -> Any:
    """Return the member `lines` of an accept."""
    return serializers.ListSerializer(
        child=AnsweredLineIn(), min_length=1, max_length=MOST_LINES, required=False, allow_null=True, default=None,
        help_text="Lines that are accepted otherwise than ordered, which the buyer has to confirm; those that change nothing need no confirmation.",
    )  # fmt: skip
