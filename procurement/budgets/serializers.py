"""Bodies of budgets. Source: contract, supply-price.md 6."""

from decimal import Decimal
from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import CurrencyField, DateField, DecimalField, StrictSerializer, refusal
from core.money import minor_units

from .models import MOST_COST_CENTERS
from .states import Enforcement


class BudgetIn(StrictSerializer):
    """A budget; members that are left out take their defaults."""

    name = serializers.CharField(max_length=255)
    amount = DecimalField(
        max_digits=19, decimal_places=4, min_value=Decimal(0), help_text="With the decimals of the currency at most."
    )
    currency = CurrencyField()
    valid_from = DateField()
    valid_to = DateField(help_text="The first day on which it holds no more.")
    cost_centers = serializers.ListField(
        child=serializers.CharField(max_length=64),
        max_length=MOST_COST_CENTERS,
        required=False,
        default=list,
        help_text="The cost centres that may use it; empty: any.",
    )
    threshold_percent = serializers.IntegerField(
        min_value=1, max_value=100, default=80, help_text="`budget.threshold_reached` tells of it."
    )
    enforcement = serializers.ChoiceField(choices=Enforcement.choices, default=Enforcement.HARD.value)
    active = serializers.BooleanField(default=True, help_text="Orders name active budgets only.")

    class Meta:
        example: ClassVar = {
            "name": "Consumables of the wards",
            "amount": "250000.00",
            "currency": "EUR",
            "valid_from": "2026-01-01",
            "valid_to": "2027-01-01",
            "cost_centers": ["4711", "4712"],
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another: the period is not empty, the amount has no more decimals than its currency."""
        if attrs["valid_to"] <= attrs["valid_from"]:
            raise refusal("valid_to", "Must be after valid_from.", "min_value")
        places = minor_units(attrs["currency"])
        if attrs["amount"] != round(attrs["amount"], places):
            raise refusal("amount", f"The currency has {places} decimals.", "max_decimal_places")
        return attrs
