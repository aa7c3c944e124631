"""What both sides are told of a delivery from its shipment to its end: lines, and the figures that statistics are made of."""

from datetime import timedelta
from typing import Any

import pytest

from core.clock import now, rfc3339
from core.db import tenant_context
from ledger.public import catalogue
from suppliers.deliveries.events import EVENTS
from suppliers.deliveries.models import Delivery
from suppliers.inventory.models import StockLevel
from suppliers.orders.models import PurchaseOrderLine
from tests.suppliers.deliveries.receiving.arrivals import PATH, Dock
from tests.suppliers.deliveries.receiving.test_set_apart import sent

PROMISED = "2031-01-15"
ZERO = {"accepted": 0, "rejected": 0, "short": 0}


@pytest.fixture
def sides(dock: Dock) -> list[Any]:
    return [dock.buyer, dock.shelf]


def promise(dock: Dock, order: dict[str, Any]) -> None:
    """Promise the goods of an order for a day."""
    with tenant_context(dock.buyer.id):
        lines = PurchaseOrderLine.objects.filter(tenant_id=dock.buyer.id, order_id=order["id"])
        assert lines.update(promised_date=PROMISED) > 0


def figures(dock: Dock, side: Any, name: str) -> list[dict[str, Any]]:
    """Return the figures of the facts of a type."""
    return [one.figures for one in dock.facts(side) if one.type == name]


def test_every_type_of_a_delivery_is_built_from_one_table() -> None:
    known = {name for name in catalogue() if name.startswith("delivery.")}
    assert {*EVENTS} == known
    for kind in EVENTS.values():
        assert kind.figures == ("reason", "shipped_at", "delivered_at", "delivery_location_id", "promised")


def test_figures_of_shipment_arrival_receipt_and_reversal(dock: Dock, sides: list[Any]) -> None:
    order = dock.order()
    promise(dock, order)
    with tenant_context(dock.shelf.id):
        where = StockLevel.objects.filter(tenant_id=dock.shelf.id).values_list("location_id", flat=True)[0]
    delivery = dock.send(order, str(where), quantity=100, lot_number="L1")
    path = f"/v1/orders/{order['id']}/shipments/{delivery}"
    assert dock.shelf.api.patch(path, json={"status": "delivered"}).status_code == 200
    made = dock.receive(delivery, {"accepted_quantity": 60, "rejected_quantity": 10, "rejection_reason": "damaged"})
    dock.receive(delivery, {"accepted_quantity": 20, "short_quantity": 10})
    dock.receive(delivery, reverses=made["id"])

    row = dock.delivery(delivery)
    line = {"line_no": 1, "promised_date": PROMISED, "category": dock.lines(delivery)[0].category}
    first, second = {"accepted": 60, "rejected": 10, "short": 0}, {"accepted": 20, "rejected": 0, "short": 10}
    counts = {
        "delivery.shipped": [ZERO],
        "delivery.delivered": [ZERO],
        "delivery.received": [first, second, {"accepted": -60, "rejected": -10, "short": 0}],
        "delivery.completed": [second],
    }
    for side in sides:
        for name, counted in counts.items():
            found = figures(dock, side, name)
            assert [one["promised"] for one in found] == [[line | one] for one in counted], name
            assert {one["shipped_at"] for one in found} == {rfc3339(row.shipped_at)}
            arrived = None if name == "delivery.shipped" else rfc3339(row.delivered_at)
            assert {one["delivered_at"] for one in found} == {arrived}, name
            assert {one["delivery_location_id"] for one in found} == {str(row.delivery_location_id)}


def test_a_loss_that_the_buyer_reports_of_one_line_is_told_of_all(dock: Dock, sides: list[Any]) -> None:
    order, delivery = sent(dock, 50)
    other = dock.ship(order, {"units": 30, "lot": "L1"}, {"units": 20, "lot": "L1"})
    with tenant_context(dock.buyer.id):
        Delivery.objects.filter(tenant_id=dock.buyer.id, pk=other).update(shipped_at=now() - timedelta(days=31))
    answer = dock.clerk.post(f"{PATH}/{other}/exceptions", json={"type": "lost", "line_nos": [2]})
    assert (answer.status_code, answer.json()["data"]["status"]) == (201, "lost"), answer.content

    for side in sides:
        facts = {one.type: one for one in dock.facts(side) if str(one.resource_id) == str(other)}
        assert [one["line_no"] for one in facts["delivery.exception_reported"].data["lines"]] == [2]
        assert [one["line_no"] for one in facts["delivery.lost"].data["lines"]] == [1, 2]
        assert [one["short"] for one in facts["delivery.lost"].figures["promised"]] == [30, 20]
    assert [(one.lines_total, one.status) for one in (dock.delivery(delivery),)] == [(1, "in_transit")]
