"""Stock of orders: allocated at sending, broken by counts, quarantine and recall, and allocated later to what waits for it."""

from datetime import date, timedelta
from typing import Any

import pytest

from core.clock import now
from core.db import tenant_context
from ledger.public import Event
from suppliers.inventory.models import StockLevel
from suppliers.inventory.recalls.walking import walk_recalls
from suppliers.orders.backorders import FOLLOWED, allocate_backorders, follow_stock
from tests import races
from tests.procurement.purchasing.orders import Trade, act, submitted
from tests.suppliers.inventory.shelf import copies, refused, reserve
from tests.suppliers.inventory.test_inventory import listed
from tests.suppliers.inventory.test_offers import OFFERS
from tests.suppliers.orders.answers import accepted, answer, counters, held, seen, waiting
from tests.suppliers.orders.test_reject import client

ADJUST = "/v1/inventory/adjustments"


def counted(trade: Trade, left: int, *, api: Any = None, **changes: Any) -> Any:
    """Count the masks of the one level."""
    with tenant_context(trade.shelf.id):
        level = StockLevel.objects.get(tenant_id=trade.shelf.id, product_id=trade.masks["id"])
    line = {
        "product_id": trade.masks["id"], "location_id": str(level.location_id), "mode": "set", "quantity": left,
        "expected_quantity": level.on_hand, "reason_code": "count", "on_reserved": "break",
    } | changes  # fmt: skip
    return (api or trade.shelf.api).post(ADJUST, json={"lines": [line]})


def items(trade: Trade, tenant: Any) -> list[tuple[str, int, int, int]]:
    """Return what a party was told of lines: type, line, accepted, backordered."""
    with tenant_context(tenant.id):
        rows = Event.objects.filter(tenant_id=tenant.id, resource_type="order_item").order_by("occurred_at", "id")
        return [(row.type, row.data["line_no"], row.data["accepted"], row.data["backordered"]) for row in rows]


def ring(trade: Trade) -> None:
    """Let orders follow the facts of the supplier's stock, as the relay does."""
    with tenant_context(trade.shelf.id):
        found = list(Event.objects.filter(tenant_id=trade.shelf.id, type__in=FOLLOWED).order_by("occurred_at", "id"))
    for event in found:
        follow_stock(event)


def test_a_supplier_that_allocates_at_once(trade: Trade) -> None:
    trade.shelf.settle(auto_allocate=True)
    trade.shelf.stock(trade.masks, 10)
    (mine,) = reserve(trade.buyer, trade.shelf, (trade.masks, 3))

    order = submitted(trade, (trade.masks, 8), reservation_ids=[mine["id"]])

    assert (order["status"], seen(trade, order["id"])["items"][0]["allocated"]) == ("sent", 8)
    assert counters(trade) == [(8, 0, 0, 0)]
    assert held(trade) == [(10, 8)]
    assert [one.base_quantity for one in trade.shelf.reservations()] == [3, 5]
    path = "/v1/inventory/reservations?order_id="
    found = trade.shelf.api.get(path + order["id"]).json()["data"]["items"]
    assert sorted(one["base_quantity"] for one in found) == [3, 5]
    assert trade.shelf.api.get(path + trade.masks["id"]).json()["data"]["items"] == []
    refused(trade.buyer.api.get(f"/v1/stock/reservations?order_id={order['id']}"), 400, "unknown_parameter")
    short = trade.draft((trade.masks, 3), backorder_policy="refuse")
    body = refused(act(trade, short["id"], "submit"), 409, "insufficient_stock")
    assert [(one["pointer"], one["message"]) for one in body["errors"]] == [("/lines/0", "Available: 2.")]
    assert held(trade) == [(10, 8)]
    part = submitted(trade, (trade.masks, 3))
    assert seen(trade, part["id"])["items"][0]["allocated"] == 2
    accepted(trade, order["id"])
    refused(answer(trade, part["id"], "accept"), 409, "insufficient_stock")
    assert act(trade, part["id"], "cancel").status_code == 200
    assert counters(trade) == [(8, 8, 0, 0), (3, 0, 0, 0), (3, 0, 0, 3)]
    assert held(trade) == [(10, 8)]


def test_a_count_turns_accepted_into_backordered(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    first, second = (submitted(trade, (trade.masks, 4))["id"] for _ in range(2))
    accepted(trade, first)
    accepted(trade, second)
    unanswered = submitted(trade, (trade.masks, 1))["id"]

    assert counted(trade, 5).status_code == 201

    assert counters(trade) == [(4, 4, 0, 0), (4, 0, 4, 0), (1, 0, 0, 0)]
    assert held(trade) == [(5, 4)]
    assert items(trade, trade.shelf.tenant) == items(trade, trade.buyer.tenant) == [("order_item.updated", 1, 0, 4)]
    assert seen(trade, second)["items"][0]["line_status"] == "backordered"
    assert sorted(one.status for one in copies(trade.buyer)) == ["active", "broken"]
    ring(trade)
    assert counters(trade) == [(4, 4, 0, 0), (4, 1, 3, 0), (1, 0, 0, 0)]
    assert trade.read(unanswered)["status"] == "sent"


def test_what_is_allocated_moves_the_tag_of_the_order(trade: Trade) -> None:
    trade.shelf.settle(auto_allocate=True)
    trade.shelf.stock(trade.masks, 10)
    path = f"/v1/orders/{submitted(trade, (trade.masks, 8))['id']}"
    before = trade.shelf.api.get(path)
    assert before.json()["data"]["items"][0]["allocated"] == 8
    known = {"If-None-Match": before.headers["ETag"]}
    assert trade.shelf.api.get(path, headers=known).status_code == 304

    assert counted(trade, 5).status_code == 201

    after = trade.shelf.api.get(path, headers=known)
    assert (after.status_code, after.json()["data"]["items"][0]["allocated"]) == (200, 0)
    assert before.json()["data"]["version"] == after.json()["data"]["version"]


@pytest.mark.parametrize("status", ["quarantined", "recalled"])
def test_a_lot_that_may_not_be_sold(trade: Trade, status: str) -> None:
    trade.shelf.stock(trade.masks, 10, lot="A", expiry=date.today() + timedelta(days=50))
    key = submitted(trade, (trade.masks, 4))["id"]
    accepted(trade, key)
    with tenant_context(trade.shelf.id):
        lot = StockLevel.objects.get(tenant_id=trade.shelf.id).lot_id
    body = {"status": status, "reason": "suspect"} | ({"recall": {"class": "I"}} if status == "recalled" else {})

    assert trade.shelf.api.patch(f"/v1/inventory/lots/{lot}", json=body).status_code == 200
    walk_recalls(at=now())

    assert counters(trade) == [(4, 0, 4, 0)]
    assert held(trade) == [(10, 0)]
    trade.shelf.stock(trade.masks, 3, lot="B", expiry=date.today() + timedelta(days=50))
    allocate_backorders(at=now())
    assert counters(trade) == [(4, 3, 1, 0)]
    assert held(trade) == [(10, 0), (3, 3)]


def test_what_comes_goes_by_priority_then_by_age(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 1)
    for priority in ("routine", "urgent", "routine", "emergency"):
        accepted(trade, submitted(trade, (trade.masks, 4), priority=priority)["id"], allow_partial=True)
    assert counters(trade) == [(4, 1, 3, 0), (4, 0, 4, 0), (4, 0, 4, 0), (4, 0, 4, 0)]

    assert counted(trade, 10).status_code == 201
    ring(trade)

    assert counters(trade) == [(4, 2, 2, 0), (4, 4, 0, 0), (4, 0, 4, 0), (4, 4, 0, 0)]
    assert sorted(waiting(trade)) == [0, 0, 2, 4]
    assert sorted(items(trade, trade.buyer.tenant)) == sorted(items(trade, trade.shelf.tenant)) == [
        ("order_item.allocated", 1, 2, 2), ("order_item.allocated", 1, 4, 0), ("order_item.allocated", 1, 4, 0),
    ]  # fmt: skip
    ring(trade)
    assert held(trade) == [(10, 10)]


def test_what_a_cancelled_order_held_goes_to_those_who_wait(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 4)
    first, second = (submitted(trade, (trade.masks, 4))["id"] for _ in range(2))
    accepted(trade, first)
    accepted(trade, second, allow_partial=True)

    assert act(trade, first, "cancel").status_code == 200
    ring(trade)

    assert counters(trade) == [(4, 0, 0, 4), (4, 4, 0, 0)]


def test_a_product_with_an_open_order_is_not_archived(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 500)
    product = f"/v1/products/{trade.masks['id']}"
    order = submitted(trade, (trade.masks, 3))
    refused(trade.shelf.api.delete(product), 409, "product_in_use")
    (offer,) = listed(trade.shelf, OFFERS, f"product_id={trade.masks['id']}")
    assert trade.shelf.api.post(f"{OFFERS}/{offer['id']}/unpublish").status_code == 200
    assert refused(trade.shelf.api.delete(product), 409, "product_in_use")["reasons"] == ["open_order"]
    trade.shelf.stock(trade.masks, 3)
    accepted(trade, order["id"])
    reasons = ["open_order", "live_reservation", "stock_on_hand"]
    assert refused(trade.shelf.api.delete(product), 409, "product_in_use")["reasons"] == reasons
    assert act(trade, order["id"], "cancel").status_code == 200
    assert refused(trade.shelf.api.delete(product), 409, "product_in_use")["reasons"] == ["stock_on_hand"]
    assert counted(trade, 0).status_code == 201
    assert trade.shelf.api.delete(product).status_code == 204
    assert trade.stored()[0][0] == "cancelled"


def test_counts_acceptances_and_allocations_at_once(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 20)
    for _ in range(3):
        keys = [submitted(trade, (trade.masks, 4))["id"] for _ in range(3)]
        accepted(trade, keys[0], allow_partial=True)
        clients = [client(trade) for _ in range(3)]
        with tenant_context(trade.shelf.id):
            level = StockLevel.objects.get(tenant_id=trade.shelf.id)

        found = races.race(
            lambda api=clients[0], left=level.on_hand: counted(
                trade, max(0, left - 3), api=api, expected_quantity=left
            ),
            lambda api=clients[1], key=keys[1]: answer(trade, key, "accept", api=api, allow_partial=True),
            lambda api=clients[2], key=keys[2]: answer(trade, key, "accept", api=api, allow_partial=True),
            lambda: allocate_backorders(at=now()),
        )

        errors = [one for one in found[:3] if getattr(one, "status_code", 500) not in (200, 201, 409)]
        assert errors == []
        assert not isinstance(found[3], Exception), found
        counters(trade)
