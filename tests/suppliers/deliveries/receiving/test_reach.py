"""How far a reversal reaches: what was moved on, sent back, billed or shipped again since keeps its receipt, line by line."""

from typing import Any
from uuid import UUID

from core.db import tenant_context
from suppliers.deliveries.models import DeliveryLine
from suppliers.inventory.models import StockLevel
from suppliers.orders.models import PurchaseOrderLine
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.deliveries.receiving.arrivals import Dock
from tests.suppliers.deliveries.receiving.test_goods import numbered
from tests.suppliers.inventory.shelf import refused


def received(dock: Dock) -> tuple[UUID, dict[str, Any]]:
    """Receive two lots of a delivery at once."""
    delivery = dock.ship(dock.order(), {"units": 60, "lot": "L1"}, {"units": 40, "lot": "L2"})
    return delivery, dock.receive(delivery, {"accepted_quantity": 50}, {"line": 1, "accepted_quantity": 40})


def kept(dock: Dock, delivery: UUID, made: dict[str, Any]) -> dict[str, str]:
    """Return the lines that keep a receipt from being reversed, with their reasons; nothing has changed."""
    before = (dock.counted(delivery), dock.on_hand(), len(dock.facts(dock.buyer)), len(dock.copies()))
    body = refused(dock.post(delivery, reverses=made["id"]), 409, "receipt_not_reversible")
    assert (dock.counted(delivery), dock.on_hand(), len(dock.facts(dock.buyer)), len(dock.copies())) == before
    found = {one["pointer"]: one["code"] for one in body["errors"]}
    assert body["reason"] == next(iter(found.values()))
    return found


def test_goods_that_were_moved_on_are_named_by_their_line(dock: Dock) -> None:
    delivery, made = received(dock)
    bin_ = arrivals.place(dock.buyer, name="Bin 7", type="bin")
    body = {
        "from_location_id": dock.place["id"], "to_location_id": bin_["id"],
        "lines": [{"product_id": dock.vials["id"], "lot_number": "L2", "quantity": 1}],
    }  # fmt: skip
    answer = dock.clerk.post("/v1/inventory/transfers", json=body)
    assert answer.status_code == 201, answer.content
    assert kept(dock, delivery, made) == {"/lines/1": "stock_gone"}


def test_goods_that_are_promised_are_named_and_all_lines_in_one_answer(dock: Dock) -> None:
    delivery, made = received(dock)
    with tenant_context(dock.buyer.id):
        StockLevel.objects.filter(tenant_id=dock.buyer.id, lot__lot_number="L1").update(reserved=1)
        (first, _) = DeliveryLine.objects.filter(tenant_id=dock.buyer.id, delivery_id=delivery).order_by("line_no")
        DeliveryLine.objects.filter(tenant_id=dock.buyer.id, delivery_id=delivery, line_no=2).update(returned=1)
        PurchaseOrderLine.objects.filter(tenant_id=dock.buyer.id, pk=first.order_line_id).update(returned=1)
    body = refused(dock.post(delivery, reverses=made["id"]), 409, "receipt_not_reversible")
    assert {one["pointer"] for one in body["errors"]} == {"/lines/0", "/lines/1"}
    assert {one["code"] for one in body["errors"]} == {"returned", "stock_gone"}


def test_units_that_are_gone_are_named_by_their_line(dock: Dock) -> None:
    product, hall = numbered(dock, "S1", "S2")
    delivery = dock.send(dock.order((product, 2)), hall, quantity=2, serial_numbers=["S1", "S2"])
    made = dock.receive(delivery, {"accepted_quantity": 2})
    line = {"product_id": product["id"], "location_id": dock.place["location_id"], "mode": "delta", "quantity": -1,
            "reason_code": "damaged", "serial_numbers": ["S2"]}  # fmt: skip
    assert dock.clerk.post("/v1/inventory/adjustments", json={"lines": [line]}).status_code == 201
    assert kept(dock, delivery, made) == {"/lines/0": "stock_gone"}


def test_goods_that_were_sent_back_are_named(dock: Dock) -> None:
    delivery, made = received(dock)
    with tenant_context(dock.buyer.id):
        DeliveryLine.objects.filter(tenant_id=dock.buyer.id, delivery_id=delivery, line_no=2).update(returned=3)
    body = refused(dock.post(delivery, reverses=made["id"]), 409, "receipt_not_reversible")
    assert [(one["pointer"], one["code"]) for one in body["errors"]] == [("/lines/1", "returned")]


def test_what_was_rejected_and_shipped_again_is_named(dock: Dock) -> None:
    order = dock.order()
    delivery = dock.ship(order, {"units": 100, "lot": "L1"})
    made = dock.receive(delivery, {"accepted_quantity": 90, "rejected_quantity": 10, "rejection_reason": "damaged"})
    dock.ship(order, {"units": 10, "lot": "L1"})
    assert kept(dock, delivery, made) == {"/lines/0": "shipped_again"}


def test_goods_that_lie_where_they_were_put_are_taken_back(dock: Dock) -> None:
    delivery, made = received(dock)
    dock.receive(delivery, reverses=made["id"])
    assert (dock.counted(delivery), dock.on_hand()) == ([(0, 0, 0), (0, 0, 0)], [("L1", 0), ("L2", 0)])
