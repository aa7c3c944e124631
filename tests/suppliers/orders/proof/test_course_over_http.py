"""Every state of an order with every action of buyer, approver and supplier over HTTP, made of the table of the course.

Orders come to each state by real actions. What the table has happens, leads where it may and is told as it says; what it has
not is 409 with from, action and allowed, and nothing changes on either side.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest

from core.db import tenant_context
from ledger.public import Event
from procurement.approvals.models import Approval, ApprovalStep
from procurement.budgets.models import BudgetEntry
from suppliers.inventory.models import Reservation, StockLevel
from suppliers.orders import course
from suppliers.orders.course import ACCEPTED, CANCELLED, CLOSED, PLACES, REJECTED, STEPS, Place, Step, Who
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine, ReceivedOrder, ReceivedOrderLine
from suppliers.orders.proposals.models import OrderChange
from tests.procurement.approvals import desk as desks
from tests.procurement.approvals.desk import Desk, Person
from tests.procurement.approvals.desk import decide as decide_approval
from tests.procurement.purchasing.orders import PATH, act
from tests.suppliers.deliveries.shipping import LEFT, hall
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.orders.answers import ORDERS, answer
from tests.suppliers.orders.changes.places import led_to
from tests.suppliers.orders.changes.proposals import check_limits

Action = tuple[str, Who, str]
# What the platform does by itself, behind receipts and invoices, has no address.
ACTIONS: Final = sorted({(one.action, one.who, one.choice) for one in STEPS if one.who is not Who.SYSTEM})
TAKEN: Final = [one for one in STEPS if one.who is not Who.SYSTEM]
OWN: Final = (PurchaseOrder, PurchaseOrderLine, OrderChange, Approval, ApprovalStep, BudgetEntry)
THEIRS: Final = (ReceivedOrder, ReceivedOrderLine, Reservation, StockLevel)


class Walk:
    """An order that is led to a state, and asked for every action."""

    def __init__(self, desk: Desk, place: Place) -> None:
        self.desk, self.trade = desk, desk.trade
        self.key = led_to(desk, place)
        self.approver: Person = desk.person()
        row = self.row()
        self.revision, self.was_sent = row.revision, row.was_sent
        self.item = self.trade.read(self.key)["lines"][0]["id"]
        assert row.place == place

    def row(self) -> PurchaseOrder:
        """Return the order as it is stored."""
        with tenant_context(self.trade.buyer.id):
            return PurchaseOrder.objects.get(tenant_id=self.trade.buyer.id, pk=self.key)

    def ship(self) -> None:
        """Ship a part of the first line."""
        line = {"order_line_id": self.item, "quantity": 1}
        given = {"from_location_id": hall(self.trade), "lines": [line], "dispatched_at": LEFT}
        assert answer(self.trade, self.key, "shipments", **given).status_code == 201

    def ask(self, action: str, who: Who, choice: str) -> Any:
        """Ask for an action with a body that fits the order."""
        if who is Who.APPROVER:
            return decide_approval(self.approver, self.key, action, revision=self.revision)
        asked = self._of_supplier(choice) if who is Who.SUPPLIER else self._of_buyer(choice)
        return asked[action]()

    def _of_buyer(self, choice: str) -> dict[str, Callable[[], Any]]:
        trade, key, revision = self.trade, self.key, self.revision
        less = {"lines": [{"line_no": 1, "quantity": 7}]}
        return {
            "update": lambda: trade.api.patch(f"{PATH}/{key}", json={"internal_note": "Late"}),
            "submit": lambda: act(trade, key, "submit"),
            "confirm-changes": lambda: act(trade, key, "confirm-changes", revision=revision, decision=choice),
            "propose-changes": lambda: act(trade, key, "propose-changes", revision=revision, reason="Less", **less),
            "cancel": lambda: act(trade, key, "cancel", **({"remainder": True} if choice else {})),
            "close": lambda: act(trade, key, "close", reason="Done"),
        }

    def _of_supplier(self, choice: str) -> dict[str, Callable[[], Any]]:
        trade, key = self.trade, self.key
        lines = [{"item_id": self.item, "accepted_quantity": 5}]
        body: dict[str, Any] = {"revision": self.revision, "decision": choice} if choice else {}
        body = {"lines": lines} if choice == "lines" else body
        of_item = {"reason_code": "other", "promised_date": "2030-01-01"}
        return {
            "accept": lambda: answer(trade, key, "accept", **body),
            "items": lambda: trade.shelf.api.patch(f"{ORDERS}/{key}/items/{self.item}", json=of_item),
            "reject": lambda: answer(trade, key, "reject", reason_code="late"),
        }

    def stored(self) -> list[Any]:
        """Return all that is stored of the order on both sides."""
        found: list[Any] = []
        for tenant, models in ((self.trade.buyer, OWN), (self.trade.shelf, THEIRS)):
            with tenant_context(tenant.id):
                found += [[*model.objects.filter(tenant_id=tenant.id).order_by("pk").values()] for model in models]
        return [*found, *(len(self.told(one)) for one in (self.trade.buyer, self.trade.shelf))]

    def told(self, side: Any) -> list[str]:
        """Return what a side was told of the order and its lines."""
        with tenant_context(side.id):
            rows = Event.objects.filter(tenant_id=side.id).order_by("occurred_at", "id")
            kinds = [one.type for one in rows]
        return [one for one in kinds if one.startswith(("purchase_order.", "order.", "order_item."))]


@pytest.fixture
def desk() -> Desk:
    """Return a buyer whose orders above 49 need one approval."""
    return desks.desk()


@pytest.mark.parametrize("place", PLACES, ids=lambda one: "-".join(filter(None, one)))
def test_what_the_table_does_not_have_is_refused_and_changes_nothing(desk: Desk, place: Place) -> None:
    walk = Walk(desk, place)
    before = walk.stored()
    refusing = [one for one in ACTIONS if course.step_of(place, *one) is None]
    assert refusing

    for action, who, choice in refusing:
        found = walk.ask(action, who, choice)
        if who is Who.SUPPLIER and not walk.was_sent:
            refused(found, 404, "not_found")
            continue
        body = refused(found, 409, "invalid_transition")
        side = (Who.SUPPLIER,) if who is Who.SUPPLIER else (Who.BUYER, Who.APPROVER)
        assert (body["from"], body["action"], body["allowed"]) == (
            course.shown(place, who), action, course.allowed(place, *side),
        )  # fmt: skip

    assert walk.stored() == before


def _named(one: Any) -> str:
    return "-".join(filter(None, (*one.source, one.action, one.who, one.choice)))


@pytest.mark.parametrize("step", TAKEN, ids=_named)
def test_what_the_table_has_happens(desk: Desk, step: Step) -> None:
    walk = Walk(desk, step.source)
    trade = walk.trade
    if (step.source, step.choice) == (ACCEPTED, "remainder"):  # else nothing of the order would be left
        walk.ship()
    before, told, heard = walk.stored(), walk.told(trade.buyer), walk.told(trade.shelf)

    found = walk.ask(step.action, step.who, step.choice)

    assert found.status_code == 200, found.content
    row = walk.row()
    assert row.place in step.targets
    assert walk.stored() != before
    assert row.revision >= walk.revision
    new, theirs = walk.told(trade.buyer)[len(told) :], walk.told(trade.shelf)[len(heard) :]
    assert new
    assert {*new} <= {*step.buyer}
    assert {*theirs} <= {*step.supplier}
    assert bool(theirs) == (bool(step.supplier) and (row.was_sent and row.status != "pending_approval"))
    assert found.json()["data"]["status"] == course.shown(row.place, step.who)
    trade.stored()
    if step.choice != "remainder":
        check_limits(trade, walk.key)


@pytest.mark.parametrize("place", PLACES, ids=lambda one: "-".join(filter(None, one)))
def test_only_accepted_orders_are_shipped(desk: Desk, place: Place) -> None:
    walk = Walk(desk, place)
    before = walk.stored()
    body = {"from_location_id": hall(walk.trade), "lines": [{"order_line_id": walk.item, "quantity": 1}]}

    for more in ({}, {"dispatched_at": LEFT}):
        found = answer(walk.trade, walk.key, "shipments", **body, **more)
        if place == ACCEPTED:
            assert found.status_code == 201, found.content
        elif not walk.was_sent:
            refused(found, 404, "not_found")
        else:
            refusal = refused(found, 409, "invalid_transition")
            assert (refusal["from"], refusal["action"], refusal["allowed"]) == (
                course.shown(place, Who.SUPPLIER), "shipments", course.allowed(place, Who.SUPPLIER),
            )  # fmt: skip

    assert (walk.stored() != before) == (place == ACCEPTED)


def test_every_state_is_walked_and_what_has_no_address_is_known() -> None:
    assert {one.source for one in TAKEN} | {CANCELLED, CLOSED, REJECTED} == {*PLACES}
    assert [(one.source, one.action) for one in STEPS if one.who is Who.SYSTEM] == [(ACCEPTED, "close")]
