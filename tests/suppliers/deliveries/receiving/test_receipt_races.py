"""Receipts that meet each other, a reversal, the loss of the delivery and a recall; and how many trips they take."""

import random
from typing import Any

import pytest
from django.db import ProgrammingError

from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from core.errors import InvalidTransition
from suppliers.deliveries.course import STEPS, Who, require, step_of
from suppliers.deliveries.receipt_models import Receipt, ReceiptLine
from suppliers.deliveries.states import OF_DELIVERY
from tests.factories import Api
from tests.races import race
from tests.suppliers.deliveries.receiving.arrivals import PATH, Dock
from tests.suppliers.inventory.recalls import change, walk


def client(api: Api) -> Api:
    """A further client of the same member, for a thread of its own."""
    made = Api()
    made.headers = api.headers
    return made


def asking(dock: Dock, delivery: Any, body: dict[str, Any]) -> Any:
    """Return a work that posts a receipt by a client of its own."""
    api = client(dock.clerk)
    return lambda: api.post(f"{PATH}/{delivery}/receipts", json=body).status_code


def test_two_receipts_of_one_line_never_receive_more_than_was_shipped(dock: Dock) -> None:
    for _ in range(4):
        delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
        body = dock.body(delivery, {"accepted_quantity": 60})
        assert sorted(race(*(asking(dock, delivery, body) for _ in range(3)))) == [201, 409, 409]
        assert dock.counted(delivery) == [(60, 0, 0)]
    assert dock.on_hand() == [("L1", 240)]


def test_a_receipt_against_the_reversal_of_another(dock: Dock) -> None:
    for _ in range(4):
        delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
        first = dock.receive(delivery, {"accepted_quantity": 70})
        body = dock.body(delivery, {"accepted_quantity": 60})
        back = {"reverses": first["id"]}
        got, *reversed_ = race(*(asking(dock, delivery, one) for one in (body, back, back)))
        assert sorted(reversed_) == [201, 409]
        assert dock.counted(delivery) == [(60 if got == 201 else 0, 0, 0)]


def test_a_receipt_against_the_loss_of_the_delivery(dock: Dock) -> None:
    for _ in range(4):
        order = dock.order()
        delivery = dock.send(order, str(dock.shelf.places["hall"]), quantity=100)
        body, api = dock.body(delivery, {"accepted_quantity": 60}), client(dock.shelf.api)
        lost = {"status": "lost"}
        path = f"/v1/orders/{order['id']}/shipments/{delivery}"
        got, gone = race(asking(dock, delivery, body), lambda a=api, p=path: a.patch(p, json=lost).status_code)
        assert {got, gone} in ({201, 409}, {409, 200}), (got, gone)
        assert dock.counted(delivery) == [(60, 0, 0) if got == 201 else (0, 0, 100)]


def test_a_receipt_against_a_recall(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    body = dock.body(delivery, {"accepted_quantity": 60})
    said = {"class": "I"}
    got, answer = race(asking(dock, delivery, body), lambda: change(dock.shelf, "L1", status="recalled", recall=said))
    assert (got in (201, 409), answer.status_code) == (True, 200)
    walk(dock.shelf)
    assert dock.counted(delivery) == [(60 if got == 201 else 0, 0, 0)]
    assert dock.lines(delivery)[0].recall_notice is not None


def test_trips_do_not_grow_with_the_lines(dock: Dock) -> None:
    counts = []
    for many in (1, 30):
        for _ in range(2):
            delivery = dock.ship(dock.order((dock.vials, 10)), *({"units": 1, "lot": "L1"} for _ in range(many)))
            body = dock.body(delivery, *({"line": number, "accepted_quantity": 1} for number in range(many)))
            with recording() as made:
                key = {"Idempotency-Key": str(delivery)}
                answer = dock.clerk.post(f"{PATH}/{delivery}/receipts", json=body, headers=key)
            assert answer.status_code == 201, answer.content
        counts.append(len(made))
    assert counts == [5, 5], "\n".join(made.texts())


@pytest.mark.parametrize("many", [1, 30])
def test_trips_of_a_reversal_and_of_an_if_match(dock: Dock, many: int) -> None:
    delivery = dock.ship(dock.order((dock.vials, 10)), *({"units": 2, "lot": "L1"} for _ in range(many)))
    lines = [{"line": number, "accepted_quantity": 1} for number in range(many)]
    made = dock.receive(delivery, *lines)
    path = f"{PATH}/{delivery}/receipts"
    with recording() as trips:
        answer = dock.clerk.post(path, json={"reverses": made["id"]}, headers={"Idempotency-Key": str(delivery)})
    assert (answer.status_code, len(trips)) == (201, 5), "\n".join(trips.texts())
    held = dock.clerk.get(f"{PATH}/{delivery}")
    body = dock.body(delivery, *lines)
    refused = dock.clerk.post(path, json=body, headers={"If-Match": '"1"'})
    assert (refused.status_code, refused.json()["code"]) == (409, "version_conflict")
    assert dock.counted(delivery) == [(0, 0, 0)] * many
    assert dock.clerk.post(path, json=body, headers={"If-Match": held["ETag"]}).status_code == 201


@pytest.mark.parametrize("state", OF_DELIVERY)
@pytest.mark.parametrize("action", ["receipts", "reverse"])
def test_every_state_with_both_actions(state: str, action: str) -> None:
    wanted = {one.source for one in STEPS if one.action == action and one.who == Who.BUYER}
    if state in wanted:
        assert step_of(state, action, Who.BUYER) == require(state, action, Who.BUYER)
        return
    with pytest.raises(InvalidTransition) as refused:
        require(state, action, Who.BUYER)
    assert refused.value.extra["from"] == state


def test_a_receipt_never_changes(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    dock.receive(delivery, {"accepted_quantity": 60})
    for kind in (Receipt, ReceiptLine):
        with pytest.raises(ProgrammingError, match="permission denied"), tenant_context(dock.buyer.id):
            kind.objects.filter(tenant_id=dock.buyer.id).update_versions(at=now())


@pytest.mark.parametrize("seed", [7, 11, 23])
def test_counters_are_the_receipts_less_what_was_reversed(dock: Dock, seed: int) -> None:
    chance = random.Random(seed)  # a sequence that can be repeated
    order = dock.order((dock.vials, 20))
    delivery = dock.ship(order, {"units": 90, "lot": "L1"}, {"units": 70, "lot": "L1"})
    expected, made = [[0, 0, 0], [0, 0, 0]], []
    for _ in range(14):
        if made and chance.random() < 0.3:
            key, counts = made.pop(chance.randrange(len(made)))
            dock.receive(delivery, reverses=key)
            _count(expected, counts, -1)
        else:
            counts = [tuple(chance.randrange(1, 12) for _ in range(3)) for _ in range(2)]
            answer = dock.post(delivery, *(_line(number, *one) for number, one in enumerate(counts)))
            if answer.status_code == 409:
                continue
            made.append((answer.json()["data"]["id"], counts))
            _count(expected, counts, 1)
        assert dock.counted(delivery) == [tuple(one) for one in expected]
        totals = [sum(column) for column in zip(*expected, strict=True)]
        assert dock.ordered() == [(160, *totals)]
        assert sum(many for _, many in dock.on_hand()) == totals[0]


def _line(number: int, accepted: int, rejected: int, short: int) -> dict[str, Any]:
    given = {"line": number, "accepted_quantity": accepted, "rejected_quantity": rejected, "short_quantity": short}
    return given | {"rejection_reason": "damaged"}


def _count(expected: list[list[int]], counts: list[tuple[int, ...]], sign: int) -> None:
    for line, one in zip(expected, counts, strict=True):
        for place, many in enumerate(one):
            line[place] += sign * many
