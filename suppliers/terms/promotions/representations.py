"""Promotions as their supplier reads them."""

from typing import ClassVar, Final

from rest_framework import serializers

from api.representations import Computed, OpenChoice, Representation
from core.money import minor_units_sql
from suppliers.terms.representations import AdjustmentOut

from .course import state_sql
from .models import Promotion
from .states import PromotionState

STATE: Final = state_sql("t", "now()")


def _money(amount: str) -> str:
    """Write an amount in the currency of the budget, with the decimals of that, or null where either is null."""
    written = f"round({amount}, {minor_units_sql('t.budget_currency')})::text"
    return (
        f"CASE WHEN {amount} IS NOT NULL AND t.budget_currency IS NOT NULL"
        f" THEN json_build_object('amount', {written}, 'currency', t.budget_currency) END"
    )


class PromotionAmountOut(serializers.Serializer[None]):
    """An amount in the currency of the promotion, with the decimals of that."""

    amount = serializers.CharField()
    currency = serializers.CharField()


class PromotionOut(AdjustmentOut, Representation):
    """What the supplier takes off prices in a window of time, within limits, and what is used of these."""

    state = Computed(
        STATE,
        OpenChoice(
            choices=PromotionState.choices,
            help_text="Now. `ended`: the window is over; `exhausted`: a limit is used up, and what an order gives back lets "
            "it run again.",
        ),
    )
    budget_amount = Computed(_money("t.budget_amount"), PromotionAmountOut(allow_null=True))
    spent = Computed(
        _money("t.spent"),
        PromotionAmountOut(
            allow_null=True, help_text="What orders save by it; null where it has not exactly one currency."
        ),
    )

    class Meta:
        model = Promotion
        fields = (
            "id", "code", "name", "status", "state", "priority", "starts_at", "ends_at", "conditions", "action", "floor_price",
            "budget_amount", "spent", "max_redemptions", "redemptions", "max_per_buyer", "combinable", "applies_to_offers",
            "applies_to_contracts", "created_at", "updated_at", "version",
        )  # fmt: skip
        extra_kwargs: ClassVar = {"redemptions": {"help_text": "Orders that hold it."}}
        unversioned = "CASE WHEN t.redemptions > 0 THEN left(md5(t.redemptions || ' ' || t.spent), 12) END"
        example: ClassVar = {
            "code": "autumn-gloves",
            "name": "Autumn gloves",
            "status": "active",
            "state": "running",
            "floor_price": None,
            "budget_amount": {"amount": "5000.00", "currency": "EUR"},
            "spent": {"amount": "812.40", "currency": "EUR"},
            "max_redemptions": 500,
            "redemptions": 37,
            "max_per_buyer": None,
        }
