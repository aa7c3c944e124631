"""A product as clients see it: the catalog's members, with prices and stock on request."""

from suppliers.catalog.representations import ProductOut as CatalogProductOut
from suppliers.inventory.representations import stock_totals
from suppliers.pricing.representations import OF_NOW_AND_LATER, ListPriceOut


class ProductOut(CatalogProductOut):
    """A product of the supplier; `include` adds his list prices of now and later, and his stock."""

    prices = ListPriceOut(
        many=True, by="product", where=OF_NOW_AND_LATER, ordering=("packaging_id", "currency", "valid_from", "id")
    )
    stock = stock_totals()

    class Meta(CatalogProductOut.Meta):
        includes = ("prices", "stock")
        fields = (*CatalogProductOut.Meta.fields, *includes)
