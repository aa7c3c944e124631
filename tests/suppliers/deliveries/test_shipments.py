"""Shipments that leave: stock, what the order holds, the delivery on both sides, and what is refused."""

from datetime import date, timedelta

from core import clock
from core.db import tenant_context
from suppliers.inventory.models import Lot
from tests.procurement.purchasing.orders import Trade, price, submitted
from tests.suppliers.deliveries.shipping import (
    LATE,
    counted,
    deliveries,
    facts,
    fulfilment,
    hall,
    medicine,
    movements,
    placed,
    post,
    read,
    reservations,
    shipped,
    stock,
)
from tests.suppliers.inventory.shelf import refused


def test_a_shipment_leaves_and_is_a_delivery_of_both_sides(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 2_000)
    order = placed(trade, (trade.gloves, 10))
    assert stock(trade) == [(2_000, 1_000)]

    answer = post(trade, order, 400, carrier="DHL", tracking_number="JD014")

    assert answer.status_code == 201, answer.content
    made = answer.json()["data"]
    assert answer["Location"] == f"/v1/procurement/deliveries/{made['id']}"
    assert (made["status"], made["delivery_number"], made["carrier"]) == ("in_transit", "DN-000001", "DHL")
    assert (made["lines"][0]["base_quantity"], made["lines"][0]["quantity"]) == (400, 4)
    assert stock(trade) == [(1_600, 600)]
    assert reservations(trade) == [("active", 600)]
    assert movements(trade) == [(-400, "")]
    assert counted(trade) == [(1_000, 400, 0)]
    assert fulfilment(trade) == ["partially_shipped"]
    assert deliveries(trade) == [("in_transit", 1)]
    mine, theirs = read(trade.buyer.api, made["id"]), read(trade.shelf.api, made["id"])
    assert (mine["from_location_id"], mine["picked"]) == (None, None)
    assert theirs["picked"][0]["base_quantity"] == 400
    shared = mine.keys() - {"from_location_id", "picked", "timeline", "created_at", "updated_at", "version"}
    assert {name: mine[name] for name in shared} == {name: theirs[name] for name in shared}
    for side in (trade.buyer, trade.shelf):
        assert facts(trade, side) == [("delivery.shipped", "in_transit", "supplier")]


def test_the_rest_leaves_and_the_reservation_is_consumed(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order = placed(trade, (trade.gloves, 10))

    shipped(trade, order, 400)
    shipped(trade, order, 600)

    assert (stock(trade), reservations(trade)) == ([(0, 0)], [("consumed", 600)])
    assert (counted(trade), fulfilment(trade)) == ([(1_000, 1_000, 0)], ["shipped"])
    assert ("reservation.consumed", "consumed", "supplier") in facts(trade, trade.buyer, of="reservation")
    refused(post(trade, order, 1), 409, "over_shipment")


def test_lots_leave_in_the_order_of_their_expiry(trade: Trade) -> None:
    product = medicine(trade)
    trade.shelf.stock(product, 30, lot="LATE", expiry=LATE)
    trade.shelf.stock(product, 30, lot="SOON", expiry=date(2028, 1, 31))
    order = placed(trade, (product, 40))
    assert stock(trade) == [(30, 10), (30, 30)]

    made = shipped(trade, order, 40)

    found = [(one["lot_number"], one["base_quantity"], one["expiry_date"]) for one in made["lines"]]
    assert found == [("SOON", 30, "2028-01-31"), ("LATE", 10, "2030-01-31")]
    assert (stock(trade), counted(trade)) == ([(20, 0), (0, 0)], [(40, 40, 0)])


def test_another_lot_than_the_allocated_one_may_leave_if_it_is_free(trade: Trade) -> None:
    product = medicine(trade)
    trade.shelf.stock(product, 30, lot="LATE", expiry=LATE)
    trade.shelf.stock(product, 30, lot="SOON", expiry=date(2028, 1, 31))
    order = placed(trade, (product, 20))
    assert stock(trade) == [(30, 0), (30, 20)]

    shipped(trade, order, {"quantity": 15, "lot_number": "LATE"})

    assert (stock(trade), reservations(trade)) == ([(15, 0), (30, 5)], [("active", 5)])
    assert counted(trade) == [(20, 15, 0)]


def test_what_another_order_holds_does_not_leave(trade: Trade) -> None:
    product = medicine(trade)
    trade.shelf.stock(product, 30, lot="ONE", expiry=LATE)
    first, second = placed(trade, (product, 20)), placed(trade, (product, 10))
    shipped(trade, second, 10)

    assert stock(trade) == [(20, 20)]
    shipped(trade, first, 20)
    assert counted(trade) == [(20, 20, 0), (10, 10, 0)]


def test_what_was_allocated_may_not_leave_once_its_lot_is_recalled(trade: Trade) -> None:
    product = medicine(trade)
    trade.shelf.stock(product, 30, lot="BAD", expiry=LATE)
    order = placed(trade, (product, 20))
    with tenant_context(trade.shelf.id):
        lot = Lot.objects.get(tenant_id=trade.shelf.id)
    body = {"status": "recalled", "reason": "Glass", "recall": {"class": "I"}}
    assert trade.shelf.api.patch(f"/v1/inventory/lots/{lot.id}", json=body).status_code == 200

    for asked in (20, {"quantity": 20, "lot_number": "BAD"}):
        found = refused(post(trade, order, asked), 409, "lot_not_shippable")
        assert [(one["pointer"], one["reason"]) for one in found["errors"]] == [("/lines/0/lot_number", "recalled")]
    assert (deliveries(trade), counted(trade), movements(trade)) == ([], [(20, 0, 0)], [])


def test_a_lot_that_is_held_expired_or_too_old_may_not_leave(trade: Trade) -> None:
    product = medicine(trade, min_remaining_shelf_life_days=30)
    for lot, expiry, status in (
        ("HELD", LATE, "quarantined"), ("OLD", date(2020, 1, 1), "released"),
        ("SHORT", clock.now().date() + timedelta(days=10), "released"), ("GOOD", LATE, "released"),
    ):  # fmt: skip
        trade.shelf.stock(product, 30, lot=lot, expiry=expiry, status=status)
    order = placed(trade, (product, 20))
    wanted = [{"quantity": 1, "lot_number": one} for one in ("HELD", "OLD", "SHORT")]

    found = refused(post(trade, order, wanted), 409, "lot_not_shippable")

    assert [one["reason"] for one in found["errors"]] == ["quarantined", "expired", "shelf_life_too_short"]
    assert (deliveries(trade), movements(trade)) == ([], [])


def test_a_lot_lasts_as_long_as_its_offer_says(trade: Trade) -> None:
    product = trade.shelf.product(tracking="lot", min_remaining_shelf_life_days=0)
    trade.shelf.offer(product, currency="EUR", tiers=price((1, "2.00")), min_remaining_shelf_life_days=100)
    trade.shelf.stock(product, 30, lot="SHORT", expiry=clock.now().date() + timedelta(days=20))
    trade.shelf.stock(product, 30, lot="LONG", expiry=LATE)
    order, other = placed(trade, (product, 20)), placed(trade, (product, 10), min_remaining_shelf_life_days=20)

    found = refused(post(trade, order, {"quantity": 20, "lot_number": "SHORT"}), 409, "lot_not_shippable")
    assert [one["reason"] for one in found["errors"]] == ["shelf_life_too_short"]
    shipped(trade, order, 20)
    shipped(trade, other, 10)

    assert sorted(movements(trade)) == [(-20, "LONG"), (-10, "SHORT")]


def test_what_is_not_there_does_not_leave(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order = placed(trade, (trade.gloves, 10))
    other = str(trade.shelf.place("Hall 2"))

    found = refused(post(trade, order, 400, from_location_id=other), 409, "insufficient_stock")

    assert (found["errors"][0]["pointer"], found["errors"][0]["available"]) == ("/lines/0/quantity", 0)
    assert (deliveries(trade), stock(trade), counted(trade)) == ([], [(1_000, 1_000)], [(1_000, 0, 0)])


def test_an_order_that_is_not_accepted_cannot_be_shipped(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    key = submitted(trade, (trade.gloves, 10))["id"]
    order = trade.shelf.api.get(f"/v1/orders/{key}").json()["data"]

    found = refused(post(trade, order, 400), 409, "invalid_transition")

    assert (found["from"], found["action"]) == ("sent", "shipments")
    assert trade.buyer.api.post(f"/v1/orders/{key}/shipments", json={}).status_code == 403


def test_units_with_serial_numbers_leave_by_their_numbers(trade: Trade) -> None:
    product = medicine(trade, tracking="lot_and_serial")
    given = [f"S{number}" for number in range(5)]
    place = hall(trade)
    line = {
        "product_id": product["id"], "location_id": place, "lot_number": "L1", "expiry_date": "2030-01-31",
        "mode": "delta", "quantity": 5, "reason_code": "receipt", "serial_numbers": given,
    }  # fmt: skip
    assert trade.shelf.api.post("/v1/inventory/adjustments", json={"lines": [line]}).status_code == 201
    order = placed(trade, (product, 3))

    wrong = post(trade, order, {"quantity": 2, "serial_numbers": ["S0", "S9"]})
    refused(wrong, 409, "wrong_serial")
    found = refused(post(trade, order, 2), 400, "validation_error")
    assert found["errors"][0]["code"] == "count_mismatch"
    made = shipped(trade, order, {"quantity": 2, "serial_numbers": ["S0", "S3"]})
    scanned = shipped(trade, order, {"quantity": 1, "scan": "17300131" + "10L1\x1d" + "21S4"})

    assert (made["lines"][0]["serial_numbers"], made["lines"][0]["lot_number"]) == (["S0", "S3"], "L1")
    assert (scanned["lines"][0]["serial_numbers"], counted(trade)) == (["S4"], [(3, 3, 0)])
    refused(post(trade, order, {"quantity": 1, "scan": "99"}), 400, "validation_error")


def test_packages_are_a_tree_with_checked_numbers(trade: Trade) -> None:
    product = medicine(trade)
    trade.shelf.stock(product, 30, lot="LATE", expiry=LATE)
    trade.shelf.stock(product, 30, lot="SOON", expiry=date(2028, 1, 31))
    order = placed(trade, (product, 40))
    pallet, box = "340123450000000000", "340123450000000017"
    inner = {"sscc": box, "parent_sscc": pallet, "level": "case", "lines": [{"line_no": 1, "base_quantity": 35}]}
    tree = [{"sscc": pallet, "level": "pallet", "lines": [{"line_no": 1, "base_quantity": 5}]}, inner]
    for wrong in ([inner], [{"sscc": "340123450000000001", "level": "pallet"}], [*tree, tree[0]]):
        refused(post(trade, order, 40, packages=wrong), 400, "validation_error")

    made = shipped(trade, order, 40, packages=tree)

    assert made["packages"] == [
        {"sscc": pallet, "parent_sscc": None, "level": "pallet", "lines": [{"line_no": 1, "base_quantity": 5}]},
        {
            "sscc": box, "parent_sscc": pallet, "level": "case",
            "lines": [{"line_no": 1, "base_quantity": 25}, {"line_no": 2, "base_quantity": 10}],
        },
    ]  # fmt: skip
    assert read(trade.buyer.api, made["id"])["packages"] == made["packages"]
