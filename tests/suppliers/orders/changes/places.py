"""Orders led to every state of the table by real actions, for walks over all states."""

from suppliers.orders.course import (
    ACCEPTED,
    BY_BUYER,
    BY_SUPPLIER,
    CANCELLED,
    CLOSED,
    DRAFT,
    FOR_BUYERS,
    FOR_SENDING,
    FOR_SUPPLIERS,
    REJECTED,
    Place,
)
from tests.procurement.approvals.desk import Desk
from tests.procurement.purchasing.orders import PATH
from tests.suppliers.orders.answers import accepted, answer
from tests.suppliers.orders.changes.proposals import confirm, counter, done, items, propose, sent


def led_to(desk: Desk, place: Place) -> str:
    """Return the id of an order in a state."""
    trade = desk.trade
    trade.shelf.stock(trade.gloves, 9_000)
    trade.shelf.stock(trade.masks, 9_000)
    if place == DRAFT:
        return str(trade.draft((trade.gloves, 10))["id"])
    if place == FOR_SENDING:
        return str(desk.pending()["id"])
    key = str(sent(trade, (trade.gloves, 10))["id"])
    if place in (ACCEPTED, CLOSED):
        accepted(trade, key)
    if place == REJECTED:
        done(answer(trade, key, "reject", reason_code="late"))
    if place == CANCELLED:
        done(trade.api.post(f"{PATH}/{key}/cancel", json={}))
    if place == CLOSED:
        done(trade.api.post(f"{PATH}/{key}/close", json={"reason": "Done"}))
    if place in (BY_SUPPLIER, FOR_SUPPLIERS):
        _offered(desk, key, dear=place == FOR_SUPPLIERS)
    if place in (BY_BUYER, FOR_BUYERS):
        done(propose(trade, key, lines=[{"line_no": 1, "quantity": 11 if place == FOR_BUYERS else 9}]))
    if place == FOR_SUPPLIERS:
        done(confirm(trade, key, "accept"))
    return key


def _offered(desk: Desk, key: str, *, dear: bool) -> None:
    trade = desk.trade
    (first,) = items(trade, key)
    other = {"substitute": {"product_id": trade.masks["id"], "quantity": 10, "unit_price": "6.00"}}
    done(counter(trade, key, {"item_id": first, **(other if dear else {"accepted_quantity": 8})}))
