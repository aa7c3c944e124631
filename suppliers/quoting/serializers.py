"""Bodies of quotes. Source: contract, supply-price.md 3."""

from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.serializers import DateField, StrictSerializer, refusal
from suppliers.catalog.fields import QUANTITY_MAX
from suppliers.company.fields import CurrencyField
from suppliers.inventory.states import Unit

MOST_LINES: Final = 200
_ID = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_BUYER = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e70"


class _LineIn(StrictSerializer):
    """A quantity of a product: packs of a packaging, or with `unit` base its base units."""

    product_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    packaging_id = serializers.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="By default that of the offer; without an offer the product's first one.",
    )
    quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX)
    unit = serializers.ChoiceField(choices=Unit.choices, default=Unit.PACK.value)
    offer_id = serializers.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="By default the first offer of product and packaging that the buyer sees, the smallest packaging first.",
    )

    other_code: ClassVar[str]

    class Meta:
        example: ClassVar = {"product_id": _ID, "quantity": 10}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one name of the product."""
        if bool(attrs["product_id"]) == bool(attrs[self.other_code]):
            raise refusal("product_id", f"Give either product_id or {self.other_code}.", "required")
        return attrs


class SupplierQuoteLineIn(_LineIn):
    """A quantity of an own product: packs of a packaging, or with `unit` base its base units."""

    other_code = "supplier_sku"
    supplier_sku = serializers.CharField(
        max_length=64,
        required=False,
        allow_null=True,
        allow_blank=True,
        default="",
        help_text="In place of `product_id`.",
    )


class BuyerQuoteLineIn(_LineIn):
    """A quantity of a supplier's product: packs of a packaging, or with `unit` base its base units."""

    other_code = "own_code"
    own_code = serializers.CharField(
        max_length=64,
        required=False,
        allow_null=True,
        allow_blank=True,
        default="",
        help_text="In place of `product_id`: the tenant's own code, from its relationship to the supplier.",
    )
    supplier_id = serializers.UUIDField(required=False, allow_null=True, default=None)


class _QuoteIn(StrictSerializer):
    """What all quotes ask."""

    on_date = DateField(required=False, allow_null=True, default=None, help_text="By default today at each supplier.")
    price_agreement_id = serializers.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="An agreement that goes before all other prices; when its cap is used up, there is no other price.",
    )
    delivery_location_id = serializers.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="A location of the buyer; its country decides on tax, offers and rules. By default that of the buyer's organization.",
    )
    apply_corrections = serializers.BooleanField(
        default=False, help_text="Price each line at the quantity that can be ordered."
    )


class SupplierQuoteIn(_QuoteIn):
    """What a supplier asks for one buyer."""

    buyer_id = serializers.UUIDField()
    currency = CurrencyField()
    items: Any = serializers.ListSerializer(child=SupplierQuoteLineIn(), min_length=1, max_length=MOST_LINES)

    class Meta:
        example: ClassVar = {"buyer_id": _BUYER, "currency": "EUR", "items": [_LineIn.Meta.example]}


class BuyerQuoteIn(_QuoteIn):
    """What a buyer asks of its suppliers; without `currency` it is the tenant's."""

    currency = CurrencyField(required=False, allow_null=True, allow_blank=True, default="")
    items: Any = serializers.ListSerializer(child=BuyerQuoteLineIn(), min_length=1, max_length=MOST_LINES)

    class Meta:
        example: ClassVar = {"currency": "EUR", "items": [_LineIn.Meta.example]}
