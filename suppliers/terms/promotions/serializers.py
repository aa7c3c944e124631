"""Bodies of promotions. Source: contract, supply-price.md 1."""

from decimal import Decimal
from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import InstantField, refusal
from suppliers.company.serializers import MoneyIn
from suppliers.terms.serializers import ActionIn, AdjustmentIn, ConditionsIn, only_currency

from .models import MOST_COUNTED


def _limit(help_text: str) -> serializers.IntegerField:
    return serializers.IntegerField(
        min_value=1, max_value=MOST_COUNTED, required=False, allow_null=True, default=None, help_text=help_text
    )


class PromotionIn(AdjustmentIn):
    """A promotion; members that are left out take their defaults."""

    starts_at = InstantField(help_text="It runs from here on.")
    ends_at = InstantField(help_text="It ends right before.")
    budget_amount = MoneyIn(
        required=False,
        allow_null=True,
        default=None,
        help_text="What orders may save by it altogether, in the one currency of `conditions.currencies`.",
    )
    max_redemptions = _limit("Orders that may hold it.")
    max_per_buyer = _limit("Orders of one buyer that may hold it.")
    combinable = serializers.BooleanField(default=False, help_text="Together with other combinable ones.")
    applies_to_offers = serializers.BooleanField(default=True, help_text="To prices of offers, too.")
    applies_to_contracts = serializers.BooleanField(default=False, help_text="To agreed prices, too.")

    class Meta:
        example: ClassVar = {
            "name": "Autumn gloves",
            "status": "active",
            "conditions": ConditionsIn.Meta.example,
            "action": ActionIn.Meta.example,
            "starts_at": "2026-09-01T00:00:00Z",
            "ends_at": "2026-12-01T00:00:00Z",
            "budget_amount": {"amount": "5000.00", "currency": "EUR"},
            "max_redemptions": 500,
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another."""
        attrs = super().validate(attrs)
        if attrs["ends_at"] <= attrs["starts_at"]:
            raise refusal("ends_at", "Must be after starts_at.", "min_value")
        budget = attrs["budget_amount"]
        if budget is not None:
            if only_currency(attrs) != budget["currency"]:
                raise refusal("budget_amount.currency", "Must be that of conditions.currencies.", "invalid_choice")
            if Decimal(budget["amount"]) <= 0:
                raise refusal("budget_amount.amount", "Must be above nothing.", "min_value")
        return attrs
