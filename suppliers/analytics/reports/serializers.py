"""Bodies of reports."""

from datetime import date, datetime
from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.periods import is_reversed, moment_of
from api.serializers import DateField, StrictSerializer
from core.money import is_currency
from suppliers.inventory.states import MovementType
from suppliers.orders.states import SHARED

from .states import Format, ReportType

_PERIOD: Final = ("from", "to")
_LONGEST: Final = 40
# Which parameters a type takes.
TAKEN: Final = {
    ReportType.ORDERS.value: (*_PERIOD, "status", "buyer_id", "product_id"),
    ReportType.STOCK.value: ("product_id", "location_id", "expires_before"),
    ReportType.MOVEMENTS.value: (*_PERIOD, "movement_type", "product_id", "location_id"),
    ReportType.PRICES.value: ("on", "currency", "product_id"),
    ReportType.RECALL_TRACE.value: (*_PERIOD, "recall_id", "lot_id", "product_id", "buyer_id"),
}


class MomentField(serializers.CharField):
    """A plain date, which begins in the tenant's time zone, or an instant with its offset."""

    default_error_messages: ClassVar = {"moment": "Give a date as 2026-01-31, or an instant with its offset."}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=_LONGEST, required=False, **options)
        self.validators = []  # they would measure what the text becomes

    def to_internal_value(self, data: Any) -> date | datetime:  # type: ignore[override]  # a text becomes a moment
        """Read the text as one of both."""
        text = super().to_internal_value(data)
        moment = moment_of(text) if len(text) <= _LONGEST else None
        if moment is None or not 1970 <= moment.year < 2200:
            self.fail("moment")
        return moment


class ReportParametersIn(StrictSerializer):
    """What narrows a report; each type takes some of them."""

    to = MomentField(help_text="The end, which is not part of the period.")
    status = serializers.ListField(
        child=serializers.ChoiceField(choices=SHARED), required=False, min_length=1, max_length=20,
        help_text="Of `orders`: states as of the time of the report.",
    )  # fmt: skip
    movement_type = serializers.ListField(
        child=serializers.ChoiceField(choices=MovementType.choices), required=False, min_length=1, max_length=20,
        help_text="Of `movements`.",
    )  # fmt: skip
    product_id = serializers.UUIDField(required=False)
    buyer_id = serializers.UUIDField(required=False, help_text="Of `orders` and `recall_trace`.")
    location_id = serializers.UUIDField(required=False, help_text="Of `stock` and `movements`.")
    expires_before = DateField(required=False, help_text="Of `stock`: lots that expire before this day.")
    on = DateField(required=False, help_text="Of `prices`: the day on which they are in force; by default today.")
    currency = serializers.CharField(required=False, min_length=3, max_length=3, help_text="Of `prices`.")
    recall_id = serializers.UUIDField(required=False, help_text="Of `recall_trace`.")
    lot_id = serializers.UUIDField(required=False, help_text="Of `recall_trace`: the supplier's own lot.")

    class Meta:
        example: ClassVar = {"from": "2026-01-01", "to": "2026-02-01"}

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add `from`, which is a word of Python."""
        begin = MomentField(help_text="The begin of the period: of sending, moving or recalling.")
        return {"from": begin, **super().get_fields()}

    def validate_currency(self, value: str) -> str:
        """Know the currency."""
        if not is_currency(value):
            raise serializers.ValidationError("This is no active code of ISO 4217.", code="unknown_currency")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold the ends of the period to one another."""
        begin, end = (attrs.get(name) for name in _PERIOD)
        if is_reversed(begin, end):
            told = serializers.ErrorDetail("Must not be before from.", code="min_value")
            raise serializers.ValidationError({"to": [told]})
        return attrs


class ReportIn(StrictSerializer):
    """A report as it is asked for."""

    type = serializers.ChoiceField(choices=ReportType.choices)
    parameters = ReportParametersIn(required=False, default=dict)
    format = serializers.ChoiceField(choices=Format.choices, default=Format.CSV.value)

    class Meta:
        example: ClassVar = {
            "type": "orders", "parameters": {"from": "2026-01-01", "to": "2026-02-01"}, "format": "xlsx",
        }  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse parameters that the type does not take, so that none is taken for one that narrows."""
        taken = TAKEN[attrs["type"]]
        text = f"A report of {attrs['type']} takes {', '.join(taken)}."
        wrong = {
            name: [serializers.ErrorDetail(text, code="not_applicable")]
            for name in attrs["parameters"]
            if name not in taken
        }
        if wrong:
            raise serializers.ValidationError({"parameters": wrong})
        return attrs
