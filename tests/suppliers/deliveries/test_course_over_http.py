"""Every state of a shipment with every action of both sides over HTTP, made of the table of the course.

What the table has happens and is told; what it has not is 409 with from, action and allowed, and nothing changes.
"""

from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from core.clock import now, rfc3339
from core.db import tenant_context
from core.ids import uuid7
from suppliers.deliveries import course
from suppliers.deliveries.course import (
    CANCELLED,
    COMPLETED,
    DELIVERED,
    IN_TRANSIT,
    LOST,
    PARTIALLY_RECEIVED,
    PREPARING,
    STEPS,
    Who,
)
from suppliers.deliveries.models import Delivery, DeliveryException, DeliveryLine
from suppliers.deliveries.receipt_models import Receipt
from suppliers.deliveries.shipment_models import ShipmentDraft
from suppliers.deliveries.states import OF_DRAFT, DeliveryStatus
from suppliers.inventory.models import StockLevel
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.deliveries.receiving.arrivals import PATH, Dock

OLD = timedelta(days=31)  # so long after it had left, a buyer's word makes a delivery lost


class Seen(NamedTuple):
    """What there is of a shipment, on both sides."""

    rows: list[Any]
    facts: list[list[str]]


class Course:
    """A shipment that is brought into a state, and asked for every action."""

    def __init__(self, dock: Dock, state: str) -> None:
        self.dock, self.receipt, self.key = dock, "", UUID(int=0)
        self.order = dock.order()
        self.item = dock.trade.read(self.order["id"])["lines"][0]["id"]
        with tenant_context(dock.shelf.id):
            places = StockLevel.objects.filter(tenant_id=dock.shelf.id).values_list("location_id", flat=True)
            self.hall = str(places[0])
        if state:
            self._reach(state)

    def _reach(self, state: str) -> None:
        left = None if state in OF_DRAFT else rfc3339(now())
        answer = self._ship(dispatched_at=left)
        assert answer.status_code == 201, answer.content
        self.key = UUID(answer.json()["data"]["id"])
        for step in {DELIVERED: [DELIVERED], CANCELLED: [CANCELLED], LOST: [LOST]}.get(state, []):
            assert self.patch(status=step).status_code == 200
        for quantity in {PARTIALLY_RECEIVED: [40], COMPLETED: [40, 20]}.get(state, []):
            self.receipt = self.dock.receive(self.key, {"accepted_quantity": quantity})["id"]

    def age(self) -> None:
        """Let the delivery have left long ago."""
        with tenant_context(self.dock.buyer.id):
            Delivery.objects.filter(tenant_id=self.dock.buyer.id, pk=self.key).update(shipped_at=now() - OLD)

    def _ship(self, **more: Any) -> Any:
        line = {"order_line_id": self.item, "unit": "base", "quantity": 60}
        body = {"from_location_id": self.hall, "lines": [line]} | more
        return self.dock.shelf.api.post(f"/v1/orders/{self.order['id']}/shipments", json=body)

    def patch(self, **change: Any) -> Any:
        """Ask for a change by the supplier."""
        return self.dock.shelf.api.patch(f"/v1/orders/{self.order['id']}/shipments/{self.key}", json=change)

    def report(self, kind: str) -> Any:
        """Report an exception by the buyer."""
        return self.dock.clerk.post(f"{PATH}/{self.key}/exceptions", json={"type": kind})

    def receive(self) -> Any:
        """Receive a part of what is left, or one unit where the delivery has no lines to read."""
        with tenant_context(self.dock.buyer.id):
            lines = DeliveryLine.objects.filter(tenant_id=self.dock.buyer.id, delivery_id=self.key)
            line = lines.values_list("id", flat=True).first() or uuid7()
        given = {"delivery_line_id": str(line), "unit": "base", "accepted_quantity": 1}
        body = {"received_at": rfc3339(now()), "location_id": self.dock.place["location_id"], "lines": [given]}
        return self.dock.clerk.post(f"{PATH}/{self.key}/receipts", json=body)

    def ask(self, action: str, who: Who) -> Any:
        """Ask for an action."""
        asked: dict[tuple[str, Who], Callable[[], Any]] = {
            ("prepare", Who.SUPPLIER): lambda: self._ship(dispatched_at=None),
            ("ship", Who.SUPPLIER): lambda: self._ship(dispatched_at=rfc3339(now())),
            ("update", Who.SUPPLIER): lambda: self.patch(carrier="UPS"),
            (IN_TRANSIT, Who.SUPPLIER): lambda: self.patch(status=IN_TRANSIT),
            (CANCELLED, Who.SUPPLIER): lambda: self.patch(status=CANCELLED),
            (DELIVERED, Who.SUPPLIER): lambda: self.patch(status=DELIVERED),
            (LOST, Who.SUPPLIER): lambda: self.patch(status=LOST),
            ("exceptions", Who.SUPPLIER): lambda: self.patch(exception={"type": "delayed"}),
            ("exceptions", Who.BUYER): lambda: self.report("damaged"),
            (LOST, Who.BUYER): lambda: self.report("lost"),
            ("receipts", Who.BUYER): self.receive,
            ("reverse", Who.BUYER): lambda: self.dock.post(self.key, reverses=self.receipt or str(uuid7())),
        }
        return asked[action, who]()

    def other_receipt(self) -> str:
        """Make a receipt of this delivery, as if one stood there, in a state that knows none."""
        with tenant_context(self.dock.buyer.id):
            row = Receipt(
                tenant_id=self.dock.buyer.id, delivery_id=self.key, supplier_tenant_id=self.dock.shelf.id,
                received_at=now(), location_id=self.dock.place["id"],
            )  # fmt: skip
            row.save(force_insert=True)
        return str(row.id)

    def seen(self) -> Seen:
        """Return what there is."""
        buyer, shelf = self.dock.buyer, self.dock.shelf
        with tenant_context(buyer.id):
            rows = [
                *Delivery.objects.filter(tenant_id=buyer.id, pk=self.key).values_list(
                    "status", "version", "updated_at"
                ),
                *DeliveryLine.objects.filter(tenant_id=buyer.id, delivery_id=self.key).values_list(
                    "accepted", "rejected", "short", "version"
                ),
                DeliveryException.objects.filter(tenant_id=buyer.id, delivery_id=self.key).count(),
                *StockLevel.objects.filter(tenant_id=buyer.id).values_list("on_hand", "version"),
            ]
        with tenant_context(shelf.id):
            rows += ShipmentDraft.objects.filter(tenant_id=shelf.id).values_list("status", "version")
            rows += StockLevel.objects.filter(tenant_id=shelf.id).values_list("on_hand", "version")
        return Seen(rows, [[one.type for one in self.dock.facts(side)] for side in (buyer, shelf)])


ACTIONS = sorted({(one.action, one.who) for one in STEPS if one.source})


def _shown_to(state: str, who: Who) -> bool:
    return who == Who.SUPPLIER or state not in OF_DRAFT


@pytest.mark.parametrize(
    ("state", "action", "who"), [(one, *of) for one, of in product(DeliveryStatus.values, ACTIONS)]
)
def test_every_state_with_every_action(state: str, action: str, who: Who) -> None:
    at = Course(arrivals.dock(), state)
    step = course.step_of(state, action, who)
    if action == "reverse" and not at.receipt and _shown_to(state, who):
        at.receipt = at.other_receipt()
    if action == LOST and who == Who.BUYER:
        at.age()
    before = at.seen()

    answer = at.ask(action, who)

    found, after = answer.json(), at.seen()
    if not _shown_to(state, who):
        assert (answer.status_code, after) == (404, before), answer.content
        return
    if step is None:
        completed = action == "receipts" and state == COMPLETED  # has a code of its own
        if action == LOST and who == Who.BUYER:
            assert course.step_of(state, "exceptions", who) is not None  # a record beside the state
            assert (answer.status_code, found["data"]["status"]) == (201, state), answer.content
            return
        assert (answer.status_code, after) == (409, before), answer.content
        assert found["code"] == ("delivery_completed" if completed else "invalid_transition")
        if not completed:
            assert (found["from"], found["action"]) == (state, action)
            assert found["allowed"] == course.allowed(state, who)
        return
    assert answer.status_code == (201 if who == Who.BUYER else 200), answer.content
    _happened(at, step, before, after)


def _happened(at: Course, step: course.Step, before: Seen, after: Seen) -> None:
    """Require that the step led where it may, and was told to both sides."""
    with tenant_context(at.dock.buyer.id):
        rows = [one.status for one in Delivery.objects.filter(tenant_id=at.dock.buyer.id, pk=at.key)]
    with tenant_context(at.dock.shelf.id):
        drafts = ShipmentDraft.objects.filter(tenant_id=at.dock.shelf.id, pk=at.key)
        rows += [one.status for one in drafts]
    assert len(rows) == 1
    assert rows[0] in step.targets
    told = [then[len(first) :] for first, then in zip(before.facts, after.facts, strict=True)]
    both = [one for one in step.told if one != "delivery.completed" or COMPLETED in rows]
    assert [sorted(one) for one in told] == [sorted(both), sorted([*both, *step.supplier])]
    assert after.rows != before.rows


@pytest.mark.parametrize("action", ["prepare", "ship"])
def test_what_there_was_nothing_of_before(action: str) -> None:
    at = Course(arrivals.dock(), "")
    (step,) = [one for one in STEPS if one.source == "" and one.action == action]
    answer = at.ask(action, Who.SUPPLIER)
    assert (answer.status_code, answer.json()["data"]["status"]) == (201, step.targets[0]), answer.content
    told = [[one.type for one in at.dock.facts(side)] for side in (at.dock.buyer, at.dock.shelf)]
    assert told == [[*step.told]] * 2


def test_every_state_of_the_table_is_walked() -> None:
    assert {one.source for one in STEPS} - {""} <= {*DeliveryStatus.values}
    assert PREPARING in OF_DRAFT
