"""Bodies of list prices. Source: contract, supply-price.md "List price"."""

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import DateField, DecimalField, StrictSerializer, refusal
from suppliers.catalog.fields import QUANTITY_MAX
from suppliers.company.fields import CurrencyField

_ID = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"


def check_period(attrs: Mapping[str, Any]) -> None:
    """Require that the half-open period from `valid_from` to `valid_to` is not empty.

    :raises ValidationError: at `valid_to`.
    """
    if attrs["valid_from"] and attrs["valid_to"] and attrs["valid_to"] <= attrs["valid_from"]:
        raise refusal("valid_to", "Must be after valid_from.", "min_value")


class TierIn(StrictSerializer):
    """The unit price from so many packs up."""

    min_quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX)
    unit_price = DecimalField(max_digits=19, decimal_places=6, min_value=Decimal(0))

    class Meta:
        example: ClassVar = {"min_quantity": 1, "unit_price": "4.90"}


class ListPriceIn(StrictSerializer):
    """The price of one packaging in one currency; without `valid_from` it holds from today, without `valid_to` for good."""

    packaging_id = serializers.UUIDField()
    currency = CurrencyField()
    tiers: Any = serializers.ListSerializer(child=TierIn(), allow_empty=False, max_length=20)
    price_base_quantity = serializers.IntegerField(min_value=1, max_value=1_000_000, default=1)
    valid_from = DateField(required=False, allow_null=True, default=None)
    valid_to = DateField(required=False, allow_null=True, default=None)
    tax_included = serializers.BooleanField(default=False)

    class Meta:
        example: ClassVar = {
            "packaging_id": _ID,
            "currency": "EUR",
            "tiers": [{"min_quantity": 1, "unit_price": "4.90"}, {"min_quantity": 50, "unit_price": "4.55"}],
        }

    def validate_tiers(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Require rising quantities."""
        if any(one["min_quantity"] >= two["min_quantity"] for one, two in pairwise(value)):
            raise serializers.ValidationError("min_quantity must rise from tier to tier.", code="invalid")
        return value

    def validate_tax_included(self, value: bool) -> bool:
        """List prices are net."""
        if value:
            raise serializers.ValidationError("List prices are without tax.", code="invalid_choice")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require that the period is not empty."""
        check_period(attrs)
        return attrs


class ProductPricesIn(StrictSerializer):
    """All list prices of a product; an empty list takes them away."""

    prices: Any = serializers.ListSerializer(child=ListPriceIn(), max_length=500)

    class Meta:
        example: ClassVar = {"prices": [ListPriceIn.Meta.example]}
