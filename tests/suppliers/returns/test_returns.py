"""Goods go back: requested, authorized, shipped, received and inspected, with the stock of both sides."""

from typing import Any

import pytest

from tests.suppliers.analytics.figures import values
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.returns.backs import PATH, Back, found


def test_a_return_goes_its_whole_way(back: Back) -> None:
    one = back.request(10, note="Crystals in it")
    assert (one["status"], one["return_number"], one["resolution"]) == ("requested", "RT-000001", "credit")
    assert back.counted() == (10, 0)
    assert back.kept() == (100, 0)

    until = "2099-01-01T00:00:00.000Z"
    decided = back.done(one["id"], "authorize", valid_until=until, instructions="Gate 4")
    authorization = decided["authorization"]
    assert (authorization["valid_until"], authorization["instructions"]) == (until, "Gate 4")

    shipped = back.done(one["id"], "ship", carrier="DHL", tracking_number="T1", shipped_at="2026-11-25T08:00:00Z")
    assert (shipped["status"], shipped["carrier"], shipped["shipped_at"]) == (
        "in_transit",
        "DHL",
        "2026-11-25T08:00:00.000Z",
    )
    assert back.kept() == (90, 0)

    came = back.done(one["id"], "receive", location_id=str(back.apart))
    assert (came["status"], came["lines"][0]["received"]) == ("received", 10)
    assert back.kept() == (90, 10)

    done = back.done(one["id"], "inspect", lines=[back.disposed(one, "quarantine")])
    assert (done["status"], done["lines"][0]["disposition"]) == ("completed", "quarantine")
    assert back.kept() == (90, 10)
    assert back.counted() == (10, 10)
    row, (line,) = back.stored(one["id"])
    assert (row.version, row.shared_version, line.quarantined) == (5, 5, 10)


def test_both_sides_are_told_the_same(back: Back) -> None:
    one = back.brought("completed")
    expected = [
        ("return.requested", None, "requested", "buyer"),
        ("return.authorized", "requested", "authorized", "supplier"),
        ("return.shipped", "authorized", "in_transit", "buyer"),
        ("return.received", "in_transit", "received", "supplier"),
        ("return.inspected", "received", "inspected", "supplier"),
        ("return.completed", "inspected", "completed", "supplier"),
    ]
    assert back.told(back.dock.buyer, one["id"]) == expected
    assert back.told(back.dock.shelf, one["id"]) == expected
    timeline = back.read(one["id"])["timeline"]
    assert [(entry["action"], entry["actor_id"] is None) for entry in timeline] == [
        ("completed", True), ("inspected", True), ("received", True), ("shipped", False), ("authorized", True),
        ("requested", False),
    ]  # fmt: skip


def test_a_recall_is_authorized_at_once(back: Back) -> None:
    one = back.request(10, type="recall")
    assert (one["status"], one["authorization"]["decided_at"] is None) == ("authorized", False)
    assert back.told(back.dock.shelf, one["id"]) == [
        ("return.requested", None, "requested", "buyer"),
        ("return.authorized", "requested", "authorized", "system"),
    ]


def test_what_is_declined_or_withdrawn_can_be_returned_again(back: Back) -> None:
    for state in ("declined", "cancelled"):
        one = back.brought(state, 100)
        assert back.counted() == (0, 0)
        assert back.stored(one["id"])[0].completed_at is None
    assert back.read(one["id"])["cancelled_at"]
    back.request(100)


def test_goods_in_quarantine_move_on(back: Back) -> None:
    one = back.brought("completed")
    hall = str(back.dock.shelf.places["hall"])
    before = back.on_hand(back.dock.shelf, hall)
    entries = [
        back.disposed(one, "restock", quantity=6, location_id=hall),
        back.disposed(one, "destroy", quantity=3),
    ]
    done = back.done(one["id"], "inspect", lines=entries)
    (line,) = done["lines"]
    assert (line["disposition"], done["status"]) == (None, "completed")
    assert line["dispositions"] == [
        {"disposition": "restock", "base_quantity": 6},
        {"disposition": "quarantine", "base_quantity": 1},
        {"disposition": "destroy", "base_quantity": 3},
    ]
    assert back.on_hand(back.dock.shelf, hall) == before + 6
    assert back.kept() == (90, 1)
    assert back.told(back.dock.shelf, one["id"])[-1] == ("return.inspected", "completed", "completed", "supplier")
    left = back.done(one["id"], "inspect", lines=[back.disposed(one, "return_to_manufacturer")])
    assert left["lines"][0]["dispositions"][-1] == {"disposition": "return_to_manufacturer", "base_quantity": 1}
    assert back.kept() == (90, 0)
    answer = back.act(one["id"], "inspect", lines=[back.disposed(one, "destroy")])
    error = refused(answer, 400, "validation_error")["errors"][0]
    assert (error["field"], error["code"]) == ("lines.0.return_line_id", "not_in_quarantine")


def test_what_goes_back_to_its_manufacturer_is_not_shipped_to_buyers(back: Back) -> None:
    one = back.brought("completed")
    assert values(back.supplier, "days_of_cover")[1] is None  # what the delivery brought was not booked out
    back.done(one["id"], "inspect", lines=[back.disposed(one, "return_to_manufacturer")])
    assert values(back.supplier, "days_of_cover")[1] is None


def test_the_first_inspection_divides_a_line(back: Back) -> None:
    one = back.brought("received")
    hall = str(back.dock.shelf.places["hall"])
    before = back.on_hand(back.dock.shelf, hall)
    entries = [
        back.disposed(one, "restock", quantity=4, location_id=hall), back.disposed(one, "not_received", quantity=1),
        back.disposed(one, "destroy", quantity=2), back.disposed(one, "quarantine"),
    ]  # fmt: skip
    back.done(one["id"], "inspect", lines=entries)
    _, (line,) = back.stored(one["id"])
    assert (line.restocked, line.not_received, line.destroyed, line.quarantined) == (4, 1, 2, 3)
    assert back.on_hand(back.dock.shelf, hall) == before + 4
    assert back.kept() == (90, 3)
    assert back.counted() == (9, 9)


def test_what_did_not_come_back_is_not_received(back: Back) -> None:
    one = back.brought("in_transit")
    line = {"return_line_id": one["lines"][0]["id"], "quantity": 7, "unit": "base"}
    came = back.done(one["id"], "receive", location_id=str(back.apart), lines=[line])
    assert came["lines"][0]["received"] == 7
    assert back.kept() == (90, 7)
    answer = back.act(one["id"], "inspect", lines=[back.disposed(one, "quarantine")])
    assert refused(answer, 400, "validation_error")["errors"][0]["code"] == "more_than_received"
    entries = [back.disposed(one, "not_received", quantity=3), back.disposed(one, "quarantine")]
    back.done(one["id"], "inspect", lines=entries)
    assert back.kept() == (90, 7)
    assert back.counted() == (7, 7)


@pytest.mark.parametrize("resolution", ["replacement", "repair"])
def test_a_replacement_is_an_order_for_nothing(back: Back, resolution: str) -> None:
    one = back.brought("received", 20, resolution=resolution)
    entries = [back.disposed(one, "not_received", quantity=10), back.disposed(one, "quarantine")]
    done = back.done(one["id"], "inspect", lines=entries)
    order = back.dock.trade.read(done["replacement_order_id"])
    assert (order["status"], order["return_id"], order["totals"]["gross"]) == ("accepted", one["id"], "0.00")
    (line,) = order["lines"]
    assert (line["quantity"], line["unit"], line["accepted"], line["snapshot"]["unit_price"]) == (1, "pack", 10, "0.00")
    answer = back.supplier.get(f"/v1/orders/{order['id']}")
    assert answer.json()["data"]["return_id"] == one["id"]
    back.stored(one["id"])
    assert [told[0] for told in back.told(back.dock.shelf, order["id"])] == ["order.placed", "order.accepted"]
    assert [told[0] for told in back.told(back.dock.buyer, order["id"])] == [
        "purchase_order.sent", "purchase_order.accepted",
    ]  # fmt: skip
    old = back.dock.trade.read(one["purchase_order_id"])
    assert (old["lines"][0]["returned"], old["status"]) == (10, "accepted")


def test_a_replacement_is_shipped_and_closes_without_an_invoice(back: Back) -> None:
    one = back.brought("received", 20, resolution="replacement")
    key = back.done(one["id"], "inspect", lines=[back.disposed(one, "quarantine")])["replacement_order_id"]
    delivery = back.dock.send(back.dock.trade.read(key), str(back.dock.shelf.places["hall"]), quantity=20)
    back.dock.receive(delivery, {"accepted_quantity": 20})
    order = back.dock.trade.read(key)
    assert (order["status"], order["fulfilment_status"]) == ("closed", "received")
    back.sound()


def test_units_with_serial_numbers_go_back(back: Back) -> None:
    dock = back.dock
    product = dock.shelf.product(name="Pumps", tracking="serial")
    dock.shelf.offer(product, currency="EUR", tiers=[{"min_quantity": 1, "unit_price": "9.00"}])
    shelf = arrivals.place(dock.shelf, roles=["supplier_admin"])["id"]
    line = {"product_id": product["id"], "location_id": shelf, "mode": "delta", "quantity": 3, "reason_code": "receipt",
            "serial_numbers": ["A1", "A2", "A3"]}  # fmt: skip
    assert dock.shelf.api.post("/v1/inventory/adjustments", json={"lines": [line]}).status_code == 201
    delivery = dock.send(dock.order((product, 3)), shelf, quantity=3, serial_numbers=["A1", "A2", "A3"])
    dock.receive(delivery, {"accepted_quantity": 3})
    answer = back.api.post(PATH, json=back.body(1, delivery=delivery))
    assert refused(answer, 400, "validation_error")["errors"][0]["field"] == "lines.0.serial_numbers"
    one = back.brought("in_transit", 2, delivery=delivery, serial_numbers=["A1", "A3"])
    assert dock.units(dock.buyer) == [("A1", "returned"), ("A2", "in_stock"), ("A3", "returned")]
    answer = back.api.post(PATH, json=back.body(1, delivery=delivery, serial_numbers=["A1"]))
    refused(answer, 409, "wrong_serial")
    back.done(one["id"], "receive", location_id=str(back.apart))
    assert [unit for unit in dock.units(dock.shelf) if unit[0] != "A2"] == [("A1", "in_stock"), ("A3", "in_stock")]
    hall = str(dock.shelf.places["hall"])
    entries = [
        back.disposed(one, "restock", quantity=1, serial_numbers=["A3"], location_id=hall),
        back.disposed(one, "destroy", quantity=1),
    ]
    back.done(one["id"], "inspect", lines=entries)
    assert dict(dock.units(dock.shelf)) == {"A1": "disposed", "A2": "received", "A3": "in_stock"}
    back.stored(one["id"])


def test_a_scan_names_lot_and_unit(back: Back) -> None:
    body: dict[str, Any] = back.body(10, scan="10L1")
    assert found(back.api.post(PATH, json=body), 201)["lines"][0]["lot_number"] == "L1"
    answer = back.api.post(PATH, json=back.body(10, scan="10L2"))
    assert refused(answer, 400, "validation_error")["errors"][0]["code"] == "unknown_lot"
    answer = back.api.post(PATH, json=back.body(10, scan="9912"))
    assert refused(answer, 400, "validation_error")["errors"][0]["code"] == "invalid_scan"


def pumps(back: Back) -> tuple[str, dict[str, Any]]:
    """Let three units with serial numbers go back; return the product and the return on its way."""
    dock, units = back.dock, ["A1", "A2", "A3"]
    product = dock.shelf.product(name="Pumps", tracking="serial")
    dock.shelf.offer(product, currency="EUR", tiers=[{"min_quantity": 1, "unit_price": "9.00"}])
    shelf = arrivals.place(dock.shelf, roles=["supplier_admin"])["id"]
    line = {"product_id": product["id"], "location_id": shelf, "mode": "delta", "quantity": 3, "reason_code": "receipt",
            "serial_numbers": units}  # fmt: skip
    assert dock.shelf.api.post("/v1/inventory/adjustments", json={"lines": [line]}).status_code == 201
    delivery = dock.send(dock.order((product, 3)), shelf, quantity=3, serial_numbers=units)
    dock.receive(delivery, {"accepted_quantity": 3})
    return product["id"], back.brought("in_transit", 3, delivery=delivery, serial_numbers=units)


def test_the_units_that_came_back_are_named(back: Back) -> None:
    _, one = pumps(back)
    line = {"return_line_id": one["lines"][0]["id"], "quantity": 2, "unit": "base"}
    for serials, code in (
        ([], "required"), (["A3"], "count_mismatch"), (["A3", "A3"], "duplicate"), (["A3", "B1"], "unknown_serial"),
    ):  # fmt: skip
        given = [line | {"serial_numbers": serials}]
        answer = back.act(one["id"], "receive", location_id=str(back.apart), lines=given)
        error = refused(answer, 400, "validation_error")["errors"][0]
        assert (error["field"], error["code"]) == ("lines.0.serial_numbers", code)

    given = [line | {"serial_numbers": ["A3", "A2"]}]
    back.done(one["id"], "receive", location_id=str(back.apart), lines=given)

    assert [unit for unit in back.dock.units(back.dock.shelf) if unit[1] == "in_stock"] == [
        ("A2", "in_stock"), ("A3", "in_stock"),
    ]  # fmt: skip
    wrong = [
        back.disposed(one, "not_received", quantity=1, serial_numbers=["A2"]),
        back.disposed(one, "destroy", quantity=2, serial_numbers=["A1", "A3"]),
    ]
    error = refused(back.act(one["id"], "inspect", lines=wrong), 400, "validation_error")["errors"][0]
    assert (error["field"], error["code"]) == ("lines.1.serial_numbers", "not_received")
    entries = [
        back.disposed(one, "not_received", quantity=1, serial_numbers=["A1"]),
        back.disposed(one, "destroy", quantity=2, serial_numbers=["A2", "A3"]),
    ]
    back.done(one["id"], "inspect", lines=entries)
    units = dict(back.dock.units(back.dock.shelf))
    assert (units["A2"], units["A3"]) == ("disposed", "disposed")
    assert units["A1"] != "in_stock"
    back.stored(one["id"])
