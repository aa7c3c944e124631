"""List prices as clients read them."""

from rest_framework import serializers

from api.representations import Computed, Representation

from .models import ListPrice, ListPriceTier

# Six decimals are stored; the answer shows as many as needed, at least two.
_UNIT_PRICE = "(CASE WHEN scale(trim_scale(t.unit_price)) < 2 THEN round(t.unit_price, 2) ELSE trim_scale(t.unit_price) END)::text"
CURRENT_AND_FUTURE = "t.valid_to IS NULL OR t.valid_to > (now() AT TIME ZONE 'UTC')::date"


class ListPriceTierOut(Representation):
    """The unit price from a minimum quantity up."""

    unit_price = Computed(_UNIT_PRICE, serializers.CharField())

    class Meta:
        model = ListPriceTier
        fields = ("min_quantity", "unit_price")


class ListPriceOut(Representation):
    """The list price of a packaging in one currency."""

    tiers = ListPriceTierOut(many=True, by="price", ordering=("min_quantity",))
    tax_included = Computed("false", serializers.BooleanField())

    class Meta:
        model = ListPrice
        fields = ("packaging_id", "currency", "tiers", "price_base_quantity", "valid_from", "valid_to", "tax_included")
