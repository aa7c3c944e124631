"""List prices as clients read them."""

from rest_framework import serializers

from api.representations import Computed, Representation
from core.conditions import TENANT
from suppliers.catalog.models import Product
from suppliers.catalog.states import PackagingState
from suppliers.company.today import today_sql

from .models import ListPrice, ListPriceTier

# Six decimals are stored; the answer shows as many as needed, at least two.
_UNIT_PRICE = "(CASE WHEN scale(trim_scale(t.unit_price)) < 2 THEN round(t.unit_price, 2) ELSE trim_scale(t.unit_price) END)::text"
# Prices of a packaging that was taken out stay, because documents name them; they are shown no more.
CURRENT_AND_FUTURE = (
    f"(t.valid_to IS NULL OR t.valid_to > {today_sql('t.tenant_id')}) AND EXISTS (SELECT 1 FROM suppliers_packaging k"
    f" WHERE k.tenant_id = {TENANT} AND k.id = t.packaging_id AND k.state <> '{PackagingState.REMOVED}')"
)
ORDER = ("packaging_id", "currency", "valid_from", "id")


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


class ProductPricesOut(Representation):
    """The list prices of a product that hold today or later; `id` and `version` are the product's."""

    prices = ListPriceOut(many=True, by="product", where=CURRENT_AND_FUTURE, ordering=ORDER)

    class Meta:
        model = Product
        fields = ("id", "supplier_sku", "prices", "updated_at", "version")
