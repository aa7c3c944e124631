"""Acts of both parties that meet: one wins, the other is told why; stock is promised once, and no lock waits for another.

Each round races on an order of its own. `--long` runs 10,000 rounds in all.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.factories import Api
from tests.procurement.approvals import desk as desks
from tests.procurement.approvals.desk import Desk
from tests.procurement.purchasing import orders
from tests.procurement.purchasing.orders import PATH, Trade, submitted
from tests.races import race
from tests.suppliers.deliveries.shipping import body, counted, hall, placed, prepared
from tests.suppliers.orders.answers import ORDERS, held
from tests.suppliers.orders.proof.meeting import client, deadlocks

pytestmark = pytest.mark.untraced
FRESH = 25  # orders of one pair of parties; their proof reads all of them
LOST = {"invalid_transition", "concurrent_update"}
Round = Callable[[Desk], Counter[str]]


def seller(trade: Trade) -> Api:
    """Return a further client of the supplier, for a thread of its own."""
    return client(trade.shelf.api)


def met(reasons: set[str], **works: Callable[[], Any]) -> Counter[str]:
    """Race; return who won. Whoever loses is told one of some reasons, and nobody that the service failed."""
    found = dict(zip(works, race(*works.values()), strict=True))
    for name, one in found.items():
        assert not isinstance(one, Exception), (name, one)
        assert one.status_code < 300 or (one.status_code == 409 and one.json()["code"] in reasons), (name, one.content)
    return Counter(name for name, one in found.items() if one.status_code < 300)


def accept_against_reject(desk: Desk) -> Counter[str]:
    trade = desk.trade
    key, first, second = submitted(trade, (trade.gloves, 1))["id"], seller(trade), seller(trade)
    won = met(
        LOST,
        accepted=lambda: first.post(f"{ORDERS}/{key}/accept", json={}),
        rejected=lambda: second.post(f"{ORDERS}/{key}/reject", json={"reason_code": "late"}),
    )
    assert won.total() == 1, won
    assert won[trade.read(key)["status"]] == 1
    return won


def accept_against_cancel(desk: Desk) -> Counter[str]:
    trade = desk.trade
    key, first, second = submitted(trade, (trade.gloves, 1))["id"], seller(trade), trade.buyer.client()
    won = met(
        LOST,
        accepted=lambda: first.post(f"{ORDERS}/{key}/accept", json={}),
        cancelled=lambda: second.post(f"{PATH}/{key}/cancel", json={}),
    )
    # An order may be accepted and then cancelled, one after the other; never the other way round.
    assert won["cancelled"] or won["accepted"]
    assert trade.read(key)["status"] == ("cancelled" if won["cancelled"] else "accepted")
    return won


def cancel_against_ship(desk: Desk) -> Counter[str]:
    trade = desk.trade
    order, first, second = placed(trade, (trade.gloves, 1)), seller(trade), trade.buyer.client()
    sent = body(trade, order, 40, dispatched_at="2026-11-01T08:00:00Z")
    won = met(
        LOST | {"already_shipped"},
        shipped=lambda: first.post(f"{ORDERS}/{order['id']}/shipments", json=sent),
        cancelled=lambda: second.post(f"{PATH}/{order['id']}/cancel", json={}),
    )
    assert won.total() == 1, won
    assert trade.read(order["id"])["status"] == ("cancelled" if won["cancelled"] else "accepted")
    return won


def two_shipments_of_one_line(desk: Desk) -> Counter[str]:
    trade = desk.trade
    order, clients = placed(trade, (trade.gloves, 1)), [seller(trade) for _ in range(2)]
    sent = body(trade, order, 60, dispatched_at="2026-11-01T08:00:00Z")
    path = f"{ORDERS}/{order['id']}/shipments"
    won = met(
        {"over_shipment", "concurrent_update"},
        one=lambda: clients[0].post(path, json=sent),
        other=lambda: clients[1].post(path, json=sent),
    )
    assert won.total() == 1, won
    assert trade.read(order["id"])["lines"][0]["shipped"] == 60
    return won


def a_draft_leaves_or_is_cancelled(desk: Desk) -> Counter[str]:
    trade = desk.trade
    order, first, second = placed(trade, (trade.gloves, 1)), seller(trade), seller(trade)
    path = f"{ORDERS}/{order['id']}/shipments/{prepared(trade, order, 100)['id']}"
    won = met(
        LOST,
        left=lambda: first.patch(path, json={"status": "in_transit"}),
        cancelled=lambda: second.patch(path, json={"status": "cancelled"}),
    )
    assert won.total() == 1, won
    assert trade.read(order["id"])["lines"][0]["shipped"] == (100 if won["left"] else 0)
    return won


def approve_twice(desk: Desk) -> Counter[str]:
    trade, people = desk.trade, [desk.person() for _ in range(2)]
    order = desk.pending()
    path, given = f"{PATH}/{order['id']}/approve", {"revision": order["revision"]}
    clients = [people[0].client(), people[0].client(), people[1].client()]
    won = met(
        LOST | {"already_decided", "revision_changed"},
        one=lambda: clients[0].post(path, json=given),
        same=lambda: clients[1].post(path, json=given),
        other=lambda: clients[2].post(path, json=given),
    )
    assert won.total() == 1, won
    assert trade.read(order["id"])["status"] == "sent"
    return won


def count_against_acceptance(desk: Desk) -> Counter[str]:
    """Ten masks are ordered while four are found: accepted goods are there, or the count leaves what is promised."""
    trade, place = desk.trade, hall(desk.trade)
    line = {"product_id": trade.masks["id"], "location_id": place, "mode": "set", "reason_code": "count"}

    def count(api: Api, many: int) -> Any:
        there, _ = held(trade)[1]
        given = line | {"quantity": many, "expected_quantity": there}
        return api.post("/v1/inventory/adjustments", json={"lines": [given]})

    assert count(trade.shelf.api, 10).status_code == 201
    key, first, second = submitted(trade, (trade.masks, 10))["id"], seller(trade), seller(trade)
    won = met(
        {"insufficient_stock", "concurrent_update", "stock_reserved"},
        accepted=lambda: first.post(f"{ORDERS}/{key}/accept", json={}),
        counted=lambda: count(second, 4),
    )
    assert won
    assert all(promised <= there for there, promised in held(trade)), held(trade)
    assert trade.api.post(f"{PATH}/{key}/cancel", json={}).status_code == 200
    return won


def fresh(*, approvals: bool) -> Desk:
    """Return two parties with stock; orders above 49 need an approval, or none does."""
    desk = Desk(orders.trade())
    desk.trade.shelf.stock(desk.trade.gloves, 50_000)
    desk.trade.shelf.stock(desk.trade.masks, 10)
    if approvals:
        desk.policies(approval_steps=desks.ONE)
    return desk


@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    "act",
    [
        accept_against_reject, accept_against_cancel, cancel_against_ship, two_shipments_of_one_line,
        a_draft_leaves_or_is_cancelled, approve_twice, count_against_acceptance,
    ],
    ids=lambda one: one.__name__,
)  # fmt: skip
def test_one_wins(act: Round, long: bool, capsys: pytest.CaptureFixture[str]) -> None:
    before, begun = deadlocks(), time.monotonic()
    winners: Counter[str] = Counter()
    rounds = 1_429 if long else 6
    for start in range(0, rounds, FRESH):
        desk = fresh(approvals=act is approve_twice)
        for _ in range(min(FRESH, rounds - start)):
            winners += act(desk)
        counted(desk.trade)
        assert all(promised <= there for there, promised in held(desk.trade))
    if long:
        with capsys.disabled():
            print(f"\n{act.__name__}: {rounds:,} rounds in {time.monotonic() - begun:.0f} s, won {dict(winners)}")
    assert deadlocks() == before
