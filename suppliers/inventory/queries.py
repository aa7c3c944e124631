"""Reads of the inventory."""

from core.actor import Actor
from core.pipeline import Call, Statement
from organizations.public import reach
from suppliers.catalog.models import Product

from .models import StockLevel

WITHIN = reach("location_id", below=True)  # what a membership that is limited to places sees and moves

_NEEDED = Statement.of("SELECT set_config('stock.needed_date', $1, true)")


def needed_call(needed_date: str) -> Call:
    """Return the statement that settles, until the transaction ends, for which date availability is read; "" is today."""
    return Call(_NEEDED, [needed_date])


def has_stock(actor: Actor, product: Product) -> bool:
    """Tell whether stock of a product is on hand at any location; reserved stock is part of it."""
    return bool(StockLevel.objects.of(actor).filter(product_id=product.pk, on_hand__gt=0).exists())
