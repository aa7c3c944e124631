"""The models of all feature folders, imported here because Django looks for them here."""

from .catalog.models import Category, Packaging, PlatformCategory, Product, ProductCounter, ProductWord
from .inventory.models import StockLevel
from .pricing.models import ListPrice, ListPriceTier

__all__ = [
    "Category",
    "ListPrice",
    "ListPriceTier",
    "Packaging",
    "PlatformCategory",
    "Product",
    "ProductCounter",
    "ProductWord",
    "StockLevel",
]
