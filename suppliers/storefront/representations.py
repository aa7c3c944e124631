"""Products as clients read them: the catalog's members, with prices and stock on request."""

from suppliers.catalog.representations import ProductOut as CatalogProductOut
from suppliers.inventory.representations import stock_totals
from suppliers.pricing.representations import CURRENT_AND_FUTURE, ORDER, ListPriceOut


class ProductOut(CatalogProductOut):
    """A product of the supplier; `include` adds its current and future list prices, and its stock."""

    prices = ListPriceOut(many=True, by="product", where=CURRENT_AND_FUTURE, ordering=ORDER)
    stock = stock_totals()

    class Meta(CatalogProductOut.Meta):
        includes = ("prices", "stock")
        fields = (*CatalogProductOut.Meta.fields, *includes)
