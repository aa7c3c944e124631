"""All rows of a report are as of one time, whatever is written between asking, reading and writing."""

import threading
from datetime import timedelta
from typing import Any

from django.db import connection

from core.clock import now
from core.db import tenant_context
from core.watermark import begin
from suppliers.analytics.reports import worker
from suppliers.pricing.models import ListPrice, ListPriceTier
from tests.procurement.purchasing.orders import Trade, act, submitted
from tests.suppliers.analytics.reports.asking import asked, finished, in_batches_of, read, stored
from tests.suppliers.analytics.test_metrics_of_stock import _listed
from tests.suppliers.deliveries.shipping import LATE, medicine, shipped
from tests.suppliers.inventory.recalls import answer, change, notices, recall, received, walk
from tests.suppliers.inventory.shelf import reserve
from tests.suppliers.orders.answers import accepted


def _begun(trade: Trade, kind: str) -> dict[str, Any]:
    """Ask for a report; return it once its time has come."""
    made = asked(trade.shelf.api, kind, "json")
    while read(trade.shelf.api, made["id"])["status"] == "queued":
        worker.advance(trade.shelf.id, stored(trade.shelf.id, made["id"]).id, at=now())
    return made


def test_orders_are_those_of_the_time(trade: Trade) -> None:
    api = trade.shelf.api
    trade.shelf.stock(trade.gloves, 10_000)
    for quantity in (5, 6, 7):
        submitted(trade, (trade.gloves, quantity))
    sent = api.get("/v1/orders?sort=created_at").json()["data"]["items"]
    ids = [one["id"] for one in sent]
    accepted(trade, ids[0])
    before = finished(api, asked(api, "orders", "json"))
    made = asked(api, "orders", "json")
    shipped(trade, api.get(f"/v1/orders/{ids[0]}").json()["data"], 500)
    accepted(trade, ids[1])
    assert act(trade, ids[2], "cancel", reason="Ordered twice").status_code == 200
    submitted(trade, (trade.gloves, 8))
    assert finished(api, made) == before
    assert [(row["status"], row["ordered"], row["cancelled"], row["shipped"]) for row in before] == [
        ("accepted", 500, 0, 0), ("sent", 600, 0, 0), ("sent", 700, 0, 0),
    ]  # fmt: skip
    after = finished(api, asked(api, "orders", "json"))
    assert len(after) == 4
    assert [row["cancelled"] for row in after if row["order_id"] == ids[2]] == [700]
    assert [row["shipped"] for row in after if row["order_id"] == ids[0]] == [500]


def test_stock_is_what_was_on_hand_at_the_time(trade: Trade, monkeypatch: Any) -> None:
    in_batches_of(monkeypatch, "stock", 1)
    shelf, api = trade.shelf, trade.shelf.api
    vials = medicine(trade)
    shelf.stock(vials, 100, lot="L1", expiry=LATE)
    shelf.stock(trade.masks, 30)
    before = finished(api, asked(api, "stock", "json"))
    made = asked(api, "stock", "json")
    place = str(shelf.places["hall"])
    moves = [
        {
            "product_id": vials["id"],
            "location_id": place,
            "lot_number": "L1",
            "mode": "delta",
            "quantity": -40,
        },
        {"product_id": trade.masks["id"], "location_id": place, "mode": "delta", "quantity": 5},
    ]
    moved = api.post(
        "/v1/inventory/adjustments", json={"lines": [{"reason_code": "correction"} | one for one in moves]}
    )
    assert moved.status_code in (200, 201), moved.content
    assert change(shelf, status="quarantined").status_code == 200
    shelf.stock(trade.shelf.product(name="New"), 9)
    assert finished(api, made) == before
    assert sorted(row["on_hand"] for row in before) == [30, 100]
    assert sorted(row["on_hand"] for row in finished(api, asked(api, "stock", "json"))) == [9, 35, 60]


def test_movements_after_the_time_are_left_out(trade: Trade, monkeypatch: Any) -> None:
    in_batches_of(monkeypatch, "movements", 2)
    level = trade.shelf.level(trade.shelf.stock(trade.gloves, 1))
    at = now() - timedelta(minutes=5)
    for number in range(2, 7):  # all at one instant
        trade.shelf.movement(level, number, at=at)
    made = _begun(trade, "movements")
    trade.shelf.movement(level, 99)
    rows = finished(trade.shelf.api, made)
    assert sorted(row["quantity"] for row in rows) == [1, 2, 3, 4, 5, 6]
    assert len({row["id"] for row in rows}) == 6


def test_prices_are_those_of_the_moment_when_they_were_read(trade: Trade) -> None:
    _listed(trade, trade.gloves, "5.00", since=now().date())
    made = _begun(trade, "prices")
    with tenant_context(trade.shelf.id):
        ListPriceTier.objects.filter(tenant_id=trade.shelf.id).delete()
        ListPrice.objects.filter(tenant_id=trade.shelf.id).delete()
    _listed(trade, trade.gloves, "6.00", since=now().date())
    assert [row["unit_price"] for row in finished(trade.shelf.api, made)] == ["5.00"]
    assert read(trade.shelf.api, made["id"])["as_of"] >= made["as_of"]


def test_recalls_are_as_they_were_answered_at_the_time(trade: Trade) -> None:
    shelf, api = trade.shelf, trade.shelf.api
    shelf.stock(trade.gloves, 1_000, lot="L1")
    reserve(trade.buyer, shelf, (trade.gloves, 1))
    recall(shelf)
    told = asked(api, "recall_trace", "json")
    while walk(shelf):
        pass
    assert [row["status"] for row in finished(api, told)] == ["pending"]
    (notice,) = notices(shelf)
    assert received(trade.buyer)
    answer(trade.buyer, notice.id, quantity_found=100, quantity_disposed=10, note="Shelf 3")
    answered = asked(api, "recall_trace", "json")
    answer(trade.buyer, notice.id, quantity_found=100, quantity_disposed=100, closed=True)
    closed = asked(api, "recall_trace", "json")
    seen = [
        (row["status"], row["quantity_found"], row["quantity_disposed"])
        for made in (answered, closed)
        for row in finished(api, made)
    ]
    assert seen == [("answered", 100, 10), ("closed", 100, 100)]


def test_report_waits_for_what_was_begun_before(trade: Trade) -> None:
    shelf = trade.shelf
    level = shelf.level(shelf.stock(trade.gloves, 1))
    has_begun, may_commit = threading.Event(), threading.Event()

    def late() -> None:
        try:
            with tenant_context(shelf.id):
                at = begin(shelf.id)
                has_begun.set()
                may_commit.wait(20)
                shelf.movement(level, 7, at=at)
        finally:
            has_begun.set()
            connection.close()

    writer = threading.Thread(target=late)
    writer.start()
    assert has_begun.wait(20)
    made = asked(shelf.api, "movements", "json")
    assert not worker.advance(shelf.id, stored(shelf.id, made["id"]).id, at=now())
    assert read(shelf.api, made["id"])["status"] == "queued"
    may_commit.set()
    writer.join(20)
    assert sorted(row["quantity"] for row in finished(shelf.api, made)) == [1, 7]
