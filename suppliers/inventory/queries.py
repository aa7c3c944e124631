"""Reads of the inventory."""

from core.actor import Actor
from organizations.public import reach
from suppliers.catalog.models import Product

from .models import StockLevel

WITHIN = reach("location_id", below=True)  # what a membership that is limited to places sees and moves


def has_stock(actor: Actor, product: Product) -> bool:
    """Tell whether stock of a product is on hand at any location; reserved stock is part of it."""
    return bool(StockLevel.objects.of(actor).filter(product=product, on_hand__gt=0).exists())
