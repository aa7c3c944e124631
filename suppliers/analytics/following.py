"""Which facts the roll-ups follow."""

from typing import Final

from ledger import public as ledger

from .rolling import follow_offers, follow_orders, follow_receipts

_ORDERS: Final = ("order.", "order_item.", "delivery.")
_RECEIPTS: Final = ("delivery.received", "delivery.completed", "return.")
_OFFERS: Final = (
    "offer.published", "offer.unpublished", "offer.expired", "offer.updated", "offer.created", "offer.visibility_changed",
)  # fmt: skip


def follow() -> None:
    """Let the roll-ups follow the facts of orders, receipts, returns and offers, in the transactions that record them."""
    names = list(ledger.catalogue())
    ledger.subscribe(follow_orders, [one for one in names if one.startswith(_ORDERS)])
    ledger.subscribe(follow_receipts, [one for one in names if one.startswith(_RECEIPTS)])
    ledger.subscribe(follow_offers, _OFFERS)
