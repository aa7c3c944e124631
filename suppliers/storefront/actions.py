"""Actions on products that depend on other features than the catalog."""

from datetime import datetime
from typing import Final, NamedTuple

from core.actor import Actor
from core.db import needs_transaction
from core.pipeline import Call, Statement, run
from suppliers.catalog import actions as catalog
from suppliers.catalog.models import Product
from suppliers.catalog.refusals import ProductInUse
from suppliers.orders.states import OrderStatus

_ENDED: Final = ", ".join(f"'{one}'" for one in (OrderStatus.REJECTED, OrderStatus.CANCELLED, OrderStatus.CLOSED))


class _Use(NamedTuple):
    """For what a product is in use, beside its offers."""

    open_order: bool
    live_reservation: bool
    stock_on_hand: bool


_USE = Statement.of(
    "SELECT EXISTS (SELECT 1 FROM suppliers_receivedorderline l JOIN suppliers_receivedorder o ON o.tenant_id = l.tenant_id"
    " AND o.id = l.document_id AND o.tenant_id = $1 WHERE l.tenant_id = $1 AND l.product_id = $2"
    f" AND o.status NOT IN ({_ENDED})) AS open_order,"
    " EXISTS (SELECT 1 FROM suppliers_reservation r WHERE r.tenant_id = $1 AND r.product_id = $2 AND r.status = 'active'"
    " AND (r.expires_at IS NULL OR r.expires_at > $3)) AS live_reservation,"
    " EXISTS (SELECT 1 FROM suppliers_stocklevel v WHERE v.tenant_id = $1 AND v.product_id = $2 AND v.on_hand > 0) AS stock_on_hand",
    row=_Use,
)


@needs_transaction
def archive_product(actor: Actor, product: Product, at: datetime) -> Product:
    """Archive a locked product that is no longer in use.

    :raises ProductInUse: an offer of it is published, an order with it is open, some is reserved, or on hand.
    :raises InvalidTransition: the product is already archived.
    :raises ModerationHold: staff hold it.
    """
    (found,) = run([Call(_USE, [str(actor.tenant_id), str(product.id), at.isoformat()])])
    use = found.of(_Use)[0]
    reasons = ["published_offer"] * product.offered + [name for name, holds in use._asdict().items() if holds]
    if reasons:
        raise ProductInUse("An offer, an order, a reservation or stock of the product is there.", reasons=reasons)
    return catalog.archive_product(actor=actor, product=product, at=at)
