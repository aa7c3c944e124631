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

    :raises ProductInUse: stock of the product is on hand, or an offer of it is published.
    :raises InvalidTransition: the product is already archived.
    :raises ModerationHold: staff hold it.
    """
    reasons = ["published_offer"] * product.offered + ["stock_on_hand"] * inventory.has_stock(actor, product)
    if reasons:
        raise ProductInUse("An offer is published, or stock is on hand.", reasons=reasons)
    return catalog.archive_product(actor=actor, product=product, at=at)
