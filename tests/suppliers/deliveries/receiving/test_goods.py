"""Where received goods lie: put away, numbered, kept cold or set apart; and what a reversal finds of them."""

from core.db import tenant_context
from suppliers.deliveries.models import DeliveryException
from suppliers.inventory.models import Lot
from suppliers.notifications.models import OpenAlert
from tests.procurement.purchasing import orders
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.deliveries.receiving.arrivals import Dock
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.notifications.inbox import relay


def numbered(dock: Dock, *numbers: str) -> tuple[dict, str]:
    """A product with serial numbers on the supplier's shelf, and where it lies."""
    product = dock.shelf.product(name="Pumps", tracking="serial")
    dock.shelf.offer(product, currency="EUR", tiers=orders.price((1, "900")))
    hall = arrivals.place(dock.shelf, roles=["supplier_admin"])
    line = {"product_id": product["id"], "location_id": hall["id"], "mode": "delta", "quantity": len(numbers),
            "reason_code": "receipt", "serial_numbers": list(numbers)}  # fmt: skip
    answer = dock.shelf.api.post("/v1/inventory/adjustments", json={"lines": [line]})
    assert answer.status_code == 201, answer.content
    return product, hall["id"]


def apart(dock: Dock, parent: str | None = None) -> dict:
    """A place of quarantine beside the hall, or below a place."""
    more = {"parent_id": parent} if parent else {}
    return arrivals.place(dock.buyer, name="Quarantine", type="quarantine", sellable=False, **more)


def test_goods_are_put_away_and_the_supplier_does_not_read_where(dock: Dock) -> None:
    bin_ = arrivals.place(dock.buyer, name="Bin 7", type="bin")
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    (line,) = dock.lines(delivery)
    put = {"delivery_line_id": str(line.id), "location_id": bin_["id"], "quantity": 3}
    refused(dock.post(delivery, {"accepted_quantity": 29}, putaway=[put]), 400, "validation_error")
    made = dock.receive(delivery, {"accepted_quantity": 50}, putaway=[put])
    assert made["putaway"] == [{"delivery_line_id": str(line.id), "location_id": bin_["id"], "base_quantity": 30}]
    assert sorted(dock.on_hand()) == [("L1", 20), ("L1", 30)]
    dock.receive(delivery, reverses=made["id"])
    assert dock.on_hand() == [("L1", 0), ("L1", 0)]


def test_a_place_that_keeps_no_stock_only_counts(dock: Dock) -> None:
    ward = orders.ward(dock.buyer, "Ward 4")
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    dock.receive(delivery, {"accepted_quantity": 100}, location_id=str(ward))
    assert (dock.counted(delivery), dock.on_hand()) == ([(100, 0, 0)], [])


def test_packs_and_scans(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    made = dock.receive(delivery, {"accepted_quantity": 4, "unit": "pack", "scan": "10L1\x1d17310131"})
    assert (made["lines"][0]["accepted"], made["lines"][0]["differs"]) == (40, False)
    refused(dock.post(delivery, {"accepted_quantity": 4, "scan": "10L2"}), 409, "lot_mismatch")


def test_units_with_numbers_are_received_by_them_on_both_sides(dock: Dock) -> None:
    product, hall = numbered(dock, "S1", "S2", "S3")
    order = dock.order((product, 3))
    delivery = dock.send(order, hall, quantity=3, serial_numbers=["S1", "S2", "S3"])
    refused(dock.post(delivery, {"accepted_quantity": 2}), 400, "validation_error")
    refused(dock.post(delivery, {"accepted_quantity": 1, "serial_numbers": ["S9"]}), 409, "wrong_serial")
    first = dock.receive(delivery, {"accepted_quantity": 1, "serial_numbers": ["S2"]})
    refused(dock.post(delivery, {"accepted_quantity": 1, "serial_numbers": ["S2"]}), 409, "wrong_serial")
    dock.receive(delivery, {"accepted_quantity": 2})
    assert dock.units(dock.buyer) == [("S1", "in_stock"), ("S2", "in_stock"), ("S3", "in_stock")]
    assert dock.units(dock.shelf) == [("S1", "received"), ("S2", "received"), ("S3", "received")]
    dock.receive(delivery, reverses=first["id"])
    assert dock.units(dock.buyer)[1] == ("S2", "returned")
    assert dock.units(dock.shelf)[1] == ("S2", "shipped")
    dock.receive(delivery, {"accepted_quantity": 1, "serial_numbers": ["S2"]})
    assert dock.units(dock.buyer)[1] == ("S2", "in_stock")


def test_the_cold_chain_is_spoken_of_and_what_was_too_warm_is_set_apart(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1", "cold": True}, cold_chain=True)
    body = refused(dock.post(delivery, {"accepted_quantity": 1}), 400, "validation_error")
    assert [one["code"] for one in body["errors"]] == ["required"]
    place = apart(dock, dock.place["id"])
    dock.receive(delivery, {"accepted_quantity": 10}, temperature_ok=True)
    made = dock.receive(delivery, {"accepted_quantity": 30}, temperature_ok=False)
    assert made["lines"][0]["is_quarantined"] is True
    with tenant_context(dock.buyer.id):
        (report,) = DeliveryException.objects.filter(tenant_id=dock.buyer.id, delivery_id=delivery)
        lot = Lot.objects.get(tenant_id=dock.buyer.id)
    assert (report.type, report.line_nos, lot.status) == ("temperature_excursion", [1], "released")
    levels = dock.clerk.get(f"/v1/inventory/levels?location_id={place['id']}").json()["data"]["items"]
    assert [(one["on_hand"], one["sellable"]) for one in levels] == [(30, 0)]
    for side in (dock.buyer, dock.shelf):
        told = [one.data["exception"] for one in dock.facts(side) if one.type == "delivery.exception_reported"]
        assert told == ["temperature_excursion"]
        relay(side.tenant)
        with tenant_context(side.id):
            (alert,) = OpenAlert.objects.filter(tenant_id=side.id, type="temperature_excursion")
        assert alert.resource_id == str(delivery)


def test_without_a_place_apart_the_lot_is_held_back(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1", "cold": True}, cold_chain=True)
    dock.receive(delivery, {"accepted_quantity": 30}, temperature_ok=False)
    with tenant_context(dock.buyer.id):
        lot = Lot.objects.get(tenant_id=dock.buyer.id)
    assert (lot.status, lot.origin_tenant_id) == ("quarantined", dock.shelf.id)
    dock.lines(delivery)


def test_goods_that_are_gone_are_not_taken_back(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    made = dock.receive(delivery, {"accepted_quantity": 60})
    line = {"product_id": dock.vials["id"], "location_id": dock.place["id"], "lot_number": "L1", "mode": "delta",
            "quantity": -1, "reason_code": "damaged"}  # fmt: skip
    assert dock.clerk.post("/v1/inventory/adjustments", json={"lines": [line]}).status_code == 201
    body = refused(dock.post(delivery, reverses=made["id"]), 409, "receipt_not_reversible")
    assert (body["reason"], dock.counted(delivery), dock.on_hand()) == ("stock_gone", [(60, 0, 0)], [("L1", 59)])


def test_what_was_shipped_again_keeps_its_rejection(dock: Dock) -> None:
    order = dock.order()
    delivery = dock.ship(order, {"units": 100, "lot": "L1"})
    made = dock.receive(delivery, {"accepted_quantity": 90, "rejected_quantity": 10, "rejection_reason": "damaged"})
    again = dock.ship(order, {"units": 10, "lot": "L1"})
    body = refused(dock.post(delivery, reverses=made["id"]), 409, "receipt_not_reversible")
    assert body["reason"] == "shipped_again"
    dock.receive(again, {"accepted_quantity": 10})
    assert dock.ordered() == [(110, 100, 10, 0)]
    assert dock.trade.read(order["id"])["fulfilment_status"] == "received"
