"""Shipments in preparation, deliveries under way, arrival, loss, and what is reported of them."""

import pytest

from core.db import tenant_context
from suppliers.deliveries.models import DeliveryException, DeliveryLine
from suppliers.inventory.models import Lot
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.deliveries.shipping import (
    DELIVERIES,
    LATE,
    counted,
    deliveries,
    facts,
    fulfilment,
    medicine,
    patch,
    placed,
    post,
    prepared,
    read,
    receiver,
    shipped,
    stock,
)
from tests.suppliers.inventory.shelf import refused

NOW = "2026-11-24T08:00:00Z"


@pytest.fixture
def order(trade: Trade) -> dict[str, object]:
    """Return an accepted order of 1,000 gloves, all of which are in stock."""
    trade.shelf.stock(trade.gloves, 1_000)
    return placed(trade, (trade.gloves, 10))


def test_a_shipment_in_preparation_counts_and_is_seen_by_its_supplier_alone(
    trade: Trade, order: dict[str, object]
) -> None:
    made = prepared(trade, order, 600)

    assert (made["status"], made["delivery_number"], made["lines"][0]["base_quantity"]) == ("preparing", None, 600)
    assert (stock(trade), counted(trade), deliveries(trade)) == ([(1_000, 1_000)], [(1_000, 0, 0)], [])
    found = refused(post(trade, order, 401), 409, "over_shipment")
    assert [(one["pointer"], one["open"]) for one in found["errors"]] == [("/lines/0", 400)]
    for api in (trade.buyer.api, trade.shelf.api):
        assert api.get(f"{DELIVERIES}/{made['id']}").status_code == 404
        assert api.get(DELIVERIES).json()["data"] == []
    assert facts(trade, trade.buyer) == facts(trade, trade.shelf) == []


def test_a_draft_is_edited_and_leaves_with_its_own_id(trade: Trade, order: dict[str, object]) -> None:
    made = prepared(trade, order, 600, carrier="DHL")
    line = {"order_line_id": order["items"][0]["id"], "unit": "base", "quantity": 250}  # type: ignore[index]
    changed = patch(trade, order, made["id"], lines=[line], tracking_number="JD014")
    assert changed.status_code == 200, changed.content
    assert (changed.json()["data"]["lines"][0]["base_quantity"], changed.json()["data"]["version"]) == (250, 2)

    left = patch(trade, order, made["id"], status="in_transit")

    assert left.status_code == 200, left.content
    found = left.json()["data"]
    assert (found["id"], found["status"], found["carrier"]) == (made["id"], "in_transit", "DHL")
    assert (stock(trade), counted(trade)) == ([(750, 750)], [(1_000, 250, 0)])
    assert facts(trade, trade.shelf) == [("delivery.shipped", "in_transit", "supplier")]
    again = refused(patch(trade, order, made["id"], status="in_transit"), 409, "invalid_transition")
    assert again["allowed"] == ["delivered", "exceptions", "lost", "update"]
    refused(patch(trade, order, made["id"], lines=[line]), 400, "validation_error")


def test_a_cancelled_draft_makes_room_again(trade: Trade, order: dict[str, object]) -> None:
    made = prepared(trade, order, 1_000)

    answer = patch(trade, order, made["id"], status="cancelled", reason="Wrong hall")

    assert (answer.status_code, answer.json()["data"]["status"]) == (200, "cancelled"), answer.content
    assert facts(trade, trade.shelf) == [("delivery.cancelled", "cancelled", "supplier")]
    assert facts(trade, trade.buyer) == []
    refused(patch(trade, order, made["id"], status="in_transit"), 409, "invalid_transition")
    shipped(trade, order, 1_000)
    assert counted(trade) == [(1_000, 1_000, 0)]


def test_a_delivery_is_tracked_and_delivered(trade: Trade, order: dict[str, object]) -> None:
    key = shipped(trade, order, 1_000)["id"]

    tracked = patch(
        trade, order, key, tracking_number="JD2", temperature={"required_max_c": "8.0", "max_recorded_c": "9.5"}
    )
    assert tracked.json()["data"]["temperature"]["excursion"] is True, tracked.content
    arrived = patch(trade, order, key, status="delivered")

    assert arrived.json()["data"]["status"] == "delivered", arrived.content
    assert read(trade.buyer.api, key)["tracking_number"] == "JD2"
    assert (deliveries(trade), fulfilment(trade), counted(trade)) == (
        [("delivered", 1)], ["shipped"], [(1_000, 1_000, 0)],
    )  # fmt: skip
    for side in (trade.buyer, trade.shelf):
        assert [name for name, _, _ in facts(trade, side)] == [
            "delivery.shipped", "delivery.updated", "delivery.delivered",
        ]  # fmt: skip
    timeline = read(trade.buyer.api, key)["timeline"]
    assert [(one["action"], one["by"], one["actor_id"]) for one in timeline] == [
        ("delivered", "supplier", None), ("updated", "supplier", None), ("shipped", "supplier", None),
    ]  # fmt: skip


def test_what_is_lost_is_short_and_may_be_shipped_again(trade: Trade, order: dict[str, object]) -> None:
    key = shipped(trade, order, 1_000)["id"]
    refused(post(trade, order, 1), 409, "over_shipment")

    answer = patch(trade, order, key, status="lost", reason="Fell into the sea")

    assert answer.json()["data"]["status"] == "lost", answer.content
    assert (counted(trade), fulfilment(trade)) == ([(1_000, 1_000, 1_000)], ["partially_shipped"])
    trade.shelf.stock(trade.masks, 1)
    line = {"product_id": trade.gloves["id"], "location_id": str(trade.shelf.places["hall"]), "mode": "delta"}
    more = line | {"quantity": 500, "reason_code": "receipt"}
    assert trade.shelf.api.post("/v1/inventory/adjustments", json={"lines": [more]}).status_code == 201
    shipped(trade, order, 500)
    assert counted(trade) == [(1_000, 1_500, 1_000)]
    with tenant_context(trade.buyer.id):
        assert [row.short for row in DeliveryLine.objects.filter(tenant_id=trade.buyer.id).order_by("id")] == [1_000, 0]


def test_a_buyer_reports_what_went_wrong(trade: Trade, order: dict[str, object]) -> None:
    key = shipped(trade, order, 1_000)["id"]
    api = receiver(trade)

    answer = api.post(f"{DELIVERIES}/{key}/exceptions", json={"type": "damaged", "note": "Wet", "line_nos": [1]})

    assert answer.status_code == 201, answer.content
    assert "Location" not in answer
    for reader in (api, trade.shelf.api):
        (found,) = read(reader, key)["exceptions"]
        assert (found["type"], found["by"], found["note"], found["line_nos"]) == ("damaged", "buyer", "Wet", [1])
    with tenant_context(trade.buyer.id):
        (row,) = DeliveryException.objects.filter(tenant_id=trade.buyer.id)
        assert row.reported_by_id is not None
    refused(
        api.post(f"{DELIVERIES}/{key}/exceptions", json={"type": "damaged", "line_nos": [2]}), 400, "validation_error"
    )
    assert deliveries(trade) == [("in_transit", 1)]
    for side in (trade.buyer, trade.shelf):
        assert facts(trade, side)[1:] == [("delivery.exception_reported", "in_transit", "buyer")]


@pytest.mark.parametrize(("left", "status"), [("2026-01-01T08:00:00Z", "lost"), (None, "in_transit")])
def test_the_buyer_s_loss_counts_after_thirty_days_only(trade: Trade, left: str | None, status: str) -> None:
    from core import clock

    trade.shelf.stock(trade.gloves, 1_000)
    order = placed(trade, (trade.gloves, 10))
    key = shipped(trade, order, 1_000, dispatched_at=left or clock.rfc3339(clock.now()))["id"]

    answer = receiver(trade).post(f"{DELIVERIES}/{key}/exceptions", json={"type": "lost"})

    assert (answer.status_code, answer.json()["data"]["status"]) == (201, status), answer.content
    assert deliveries(trade) == [(status, 1)]
    assert counted(trade) == [(1_000, 1_000, 1_000 if status == "lost" else 0)]


def test_suspect_goods_are_held_at_the_buyer(trade: Trade) -> None:
    product = medicine(trade)
    trade.shelf.stock(product, 30, lot="L1", expiry=LATE)
    order = placed(trade, (product, 20))
    made = shipped(trade, order, 20)
    with tenant_context(trade.shelf.id):
        origin = Lot.objects.get(tenant_id=trade.shelf.id, lot_number="L1")
    receive_lot(trade, product, origin)

    answer = receiver(trade).post(f"{DELIVERIES}/{made['id']}/exceptions", json={"type": "suspect", "note": "Odd seal"})

    assert answer.status_code == 201, answer.content
    with tenant_context(trade.buyer.id):
        assert [row.status for row in Lot.objects.filter(tenant_id=trade.buyer.id)] == ["quarantined"]
    assert ("lot.quarantined", "quarantined", "buyer") in facts(trade, trade.buyer, of="lot")


def receive_lot(trade: Trade, product: dict[str, object], origin: Lot) -> None:
    """Put goods of a supplier's lot on the buyer's shelf."""
    from organizations.models import Location
    from suppliers.inventory.models import StockPlace
    from tests import factories

    with tenant_context(trade.buyer.id):
        place = Location.objects.create(tenant_id=trade.buyer.id, name="Store", type="warehouse")
        StockPlace.objects.create(
            tenant_id=trade.buyer.id, location=place, code=f"P-{factories.suffix()}", min_c="2.0", max_c="25.0"
        )
    line = {
        "product_id": product["id"], "supplier_id": str(trade.shelf.id), "location_id": str(place.id), "mode": "delta",
        "quantity": 5, "reason_code": "receipt", "lot_number": origin.lot_number, "expiry_date": LATE.isoformat(),
    }  # fmt: skip
    answer = receiver(trade).post("/v1/inventory/adjustments", json={"lines": [line]})
    assert answer.status_code == 201, answer.content


def test_orders_show_their_shipments_and_deliveries(trade: Trade, order: dict[str, object]) -> None:
    path, own = f"/v1/orders/{order['id']}", f"/v1/purchase-orders/{order['id']}"
    before = trade.shelf.api.get(path)["ETag"]
    draft, left = prepared(trade, order, 100), shipped(trade, order, 200, carrier="DHL")

    answer, mine = trade.shelf.api.get(path), trade.buyer.api.get(own).json()["data"]

    found = answer.json()["data"]
    assert [(one["id"], one["status"], one["lines"][0]["base_quantity"]) for one in found["shipments"]] == [
        (draft["id"], "preparing", 100)
    ]
    assert "shipments" not in mine
    assert found["deliveries"] == mine["deliveries"]
    assert [(one["id"], one["status"], one["carrier"]) for one in mine["deliveries"]] == [
        (left["id"], "in_transit", "DHL")
    ]
    assert (found["shipments_total"], found["deliveries_total"], mine["deliveries_total"]) == (1, 1, 1)
    assert (found["fulfilment_status"], answer["ETag"] == before) == ("partially_shipped", False)
    patch(trade, order, draft["id"], carrier="UPS")
    assert trade.shelf.api.get(path)["ETag"] != answer["ETag"]
