"""Actions on products that depend on other features than the catalog."""

from datetime import datetime

from core.actor import Actor
from core.db import needs_transaction
from suppliers.catalog import actions as catalog
from suppliers.catalog.models import Product
from suppliers.catalog.refusals import ProductInUse
from suppliers.inventory import queries as inventory


@needs_transaction
def archive_product(actor: Actor, product: Product, at: datetime) -> Product:
    """Archive a locked product that is no longer in use.

    :raises ProductInUse: stock of the product is on hand.
    :raises InvalidTransition: the product is already archived.
    """
    if inventory.has_stock(actor, product):
        raise ProductInUse("Stock of the product is on hand.", reasons=["stock_on_hand"])
    return catalog.archive_product(actor=actor, product=product, at=at)
