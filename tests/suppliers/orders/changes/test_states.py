"""The actions of an order's course that are about changes belong to one side; their states are walked in `proof`."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from core.db import tenant_context
from suppliers.orders import course
from suppliers.orders.course import STEPS, Who
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from tests.procurement.approvals import desk as desks
from tests.procurement.approvals.desk import Desk
from tests.procurement.purchasing.orders import PATH, Trade
from tests.suppliers.orders.answers import ORDERS
from tests.suppliers.orders.changes.places import led_to
from tests.suppliers.orders.changes.proposals import changes

Act = Callable[[Trade, str, str, int], Any]
_KINDS: Final = ("confirm-changes", "propose-changes", "items", "accept")
ACTIONS: Final = sorted(
    {(one.action, one.who, one.choice) for one in STEPS if one.action in _KINDS}
    - {("accept", Who.SUPPLIER, "")},  # the whole acceptance has its own tests
)


def ask(trade: Trade, key: str, item: str, revision: int, action: str, choice: str) -> Any:
    """Ask for an action with a body that fits the order."""
    if action == "confirm-changes":
        return trade.api.post(f"{PATH}/{key}/{action}", json={"revision": revision, "decision": choice})
    if action == "propose-changes":
        body = {"revision": revision, "reason": "Less", "lines": [{"line_no": 1, "quantity": 7}]}
        return trade.api.post(f"{PATH}/{key}/{action}", json=body)
    if action == "items":
        body = {"reason_code": "other", "promised_date": "2030-01-01"}
        return trade.shelf.api.patch(f"{ORDERS}/{key}/items/{item}", json=body)
    body = {"revision": revision, "decision": choice}
    if choice == "lines":
        body = {"lines": [{"item_id": item, "accepted_quantity": 5}]}
    return trade.shelf.api.post(f"{ORDERS}/{key}/{action}", json=body)


def stored(trade: Trade, key: str) -> tuple[Any, Any, Any]:
    """Return all that is stored of the order."""
    own = trade.buyer.id
    with tenant_context(own):
        order = PurchaseOrder.objects.filter(tenant_id=own, pk=key).values().get()
        lines = [*PurchaseOrderLine.objects.filter(tenant_id=own, order_id=key).order_by("line_no").values()]
    return order, lines, changes(trade)


@pytest.fixture
def desk() -> Desk:
    """Return a buyer whose orders above 49 need one approval."""
    return desks.desk()


@pytest.mark.parametrize("who", [Who.BUYER, Who.SUPPLIER])
def test_each_side_s_actions_are_closed_to_the_other(desk: Desk, who: Who) -> None:
    trade, key = desk.trade, led_to(desk, course.BY_SUPPLIER)
    before = stored(trade, key)
    item = str(before[1][0]["id"])
    for action, whose, choice in ACTIONS:
        if whose is who:
            swapped = Trade(trade.shelf, trade.buyer, trade.ward)
            swapped.buyer, swapped.shelf = _as(trade, who)
            assert ask(swapped, key, item, before[0]["revision"], action, choice).status_code == 403
    assert stored(trade, key) == before


def _as(trade: Trade, who: Who) -> tuple[Any, Any]:
    """Return who asks in the place of the buyer and of the supplier: the other side of `who`."""

    class _Side:
        def __init__(self, api: Any) -> None:
            self.api = api

    return _Side(trade.shelf.api), _Side(trade.buyer.api)
