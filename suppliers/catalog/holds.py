"""Holds of the platform's staff on products: what is held is off the market until staff lift the hold.

Source: contract, supply.md 13.6.
"""

from datetime import datetime

from core.actor import Actor
from core.db import needs_transaction
from core.errors import InvalidTransition
from core.pipeline import run
from ledger import public as ledger

from . import counters, rules
from .market import market_calls
from .models import Product
from .planning import occurrences_of
from .refusals import NotHeld
from .states import Status


@needs_transaction
def hold_product(actor: Actor, product: Product, reason: str, at: datetime) -> Product:
    """Take a locked product off the market, as the staff do, and keep the supplier from bringing it back.

    :raises InvalidTransition: the product is archived.
    :raises ModerationHold: it is held already.
    """
    if product.status == Status.ARCHIVED:
        raise InvalidTransition("An archived product is final.", state=product.status, action="hold", allowed=[])
    rules.check_not_held(product)
    before = product.status
    if product.status == Status.ACTIVE:
        product.discontinue()
    product.held_at, product.hold_reason = at, reason
    product.save_version("status", "held_at", "hold_reason", at=at)
    run(market_calls(product.tenant_id, [product.id]))
    _tell(actor, product, ["hold", "status"] if product.status != before else ["hold"], at)
    counters.count_moved(product, before)
    return product


@needs_transaction
def lift_product_hold(actor: Actor, product: Product, at: datetime) -> Product:
    """Let the supplier bring a locked product back to the market; it stays as it is until then.

    :raises NotHeld: staff do not hold it.
    """
    if product.held_at is None:
        raise NotHeld
    product.held_at, product.hold_reason = None, ""
    product.save_version("held_at", "hold_reason", at=at)
    _tell(actor, product, ["hold"], at)
    return product


def _tell(actor: Actor, product: Product, changed: list[str], at: datetime) -> None:
    ledger.record_many(actor=actor, occurrences=occurrences_of(product, changed), at=at)
