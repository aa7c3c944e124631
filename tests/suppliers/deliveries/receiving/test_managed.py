"""Receipts of orders to suppliers that are not on the platform."""

from typing import Any

from core.clock import now, rfc3339
from core.db import tenant_context
from suppliers.deliveries.models import Delivery
from suppliers.orders import course
from suppliers.orders.course import Place
from tests import factories
from tests.suppliers.deliveries.receiving.arrivals import PATH, Dock
from tests.suppliers.inventory.shelf import refused

ORDERS = "/v1/purchase-orders"


def managed(dock: Dock, quantity: int = 10, **text: Any) -> dict[str, Any]:
    """Send an order to a managed supplier, which accepts it by being sent."""
    given = {"legal_name": "Corner shop", "country": "DE", "currencies": ["EUR"]}
    api = factories.as_member(dock.buyer.tenant, ["buyer"])
    made = api.post("/v1/suppliers", json=given)
    assert made.status_code == 201, made.content
    line = {"description": "Curtains", "quantity": quantity, "unit_price": "12.50", **text}
    order = dock.trade.draft(line, supplier_id=made.json()["data"]["id"])
    sent = dock.trade.api.post(f"{ORDERS}/{order['id']}/submit", json={})
    assert sent.status_code == 200, sent.content
    found: dict[str, Any] = sent.json()["data"]
    assert found["status"] == "accepted"
    return found


def received(dock: Dock, order: dict[str, Any], *counts: dict[str, Any], **more: Any) -> Any:
    """Ask for a receipt of the first line of an order."""
    lines = [{"order_line_id": order["lines"][0]["id"], "accepted_quantity": 0, **one} for one in counts]
    body = {"received_at": rfc3339(now()), "location_id": dock.place["id"], "lines": lines} | more
    return dock.clerk.post(f"{ORDERS}/{order['id']}/receipts", json=body)


def test_delivery_and_receipt_are_made_at_once(dock: Dock) -> None:
    order = managed(dock)
    answer = received(
        dock, order, {"accepted_quantity": 4, "lot_number": "M1"}, {"accepted_quantity": 2, "short_quantity": 1}
    )
    assert answer.status_code == 201, answer.content
    made = answer.json()["data"]
    assert [one["accepted"] for one in made["lines"]] == [4, 2]
    shown = dock.clerk.get(f"{PATH}/{made['delivery_id']}").json()["data"]
    assert (shown["status"], [one["lot_number"] for one in shown["lines"]]) == ("completed", ["M1", None])
    assert dock.ordered() == [(7, 6, 0, 1)]
    with tenant_context(dock.buyer.id):
        (row,) = Delivery.objects.filter(tenant_id=dock.buyer.id)
    assert dock.counted(row.id) == [(4, 0, 0), (2, 0, 1)]
    assert [one.type for one in dock.facts(dock.buyer)] == ["delivery.received", "delivery.completed"]
    assert dock.on_hand() == []
    refused(received(dock, order, {"accepted_quantity": 5}), 409, "over_receipt")
    back = dock.receive(row.id, reverses=made["id"])
    assert (back["reverses"], dock.counted(row.id)) == (made["id"], [(0, 0, 0), (0, 0, 0)])
    dock.receive(row.id, {"accepted_quantity": 4}, {"line": 1, "accepted_quantity": 3})
    assert received(dock, order, {"accepted_quantity": 3}).status_code == 201
    assert dock.trade.read(order["id"])["fulfilment_status"] == "received"


def test_a_supplier_on_the_platform_ships_itself(dock: Dock) -> None:
    order = dock.order()
    found = dock.trade.read(order["id"])
    refused(received(dock, found, {"accepted_quantity": 1}), 403, "counterparty_only")


def test_lines_and_states_are_checked(dock: Dock) -> None:
    order = managed(dock)
    refused(received(dock, order, {"accepted_quantity": 1, "serial_numbers": ["A", "B"]}), 400, "validation_error")
    refused(received(dock, order, {"accepted_quantity": 1}, location_id=order["id"]), 400, "validation_error")
    refused(received(dock, order | {"lines": [{"id": order["id"]}]}, {"accepted_quantity": 1}), 400, "validation_error")
    answer = dock.trade.api.post(f"{ORDERS}/{order['id']}/cancel", json={"reason": "No need"})
    assert answer.status_code == 200, answer.content
    body = refused(received(dock, order, {"accepted_quantity": 1}), 409, "invalid_transition")
    assert (body["from"], body["action"]) == ("cancelled", "receipts")


def test_receipts_are_for_accepted_orders_alone(dock: Dock) -> None:
    def asked(order: dict[str, Any], action: str, **body: Any) -> dict[str, Any]:
        answer = dock.trade.api.post(f"{ORDERS}/{order['id']}/{action}", json=body)
        assert answer.status_code == 200, answer.content
        return dock.trade.read(order["id"])

    orders = [managed(dock) for _ in range(3)]
    line = {"description": "Curtains", "quantity": 10, "unit_price": "12.50"}
    drafts = [dock.trade.draft(line, supplier_id=orders[0]["supplier_id"]) for _ in range(2)]
    path = f"/v1/tenants/{dock.buyer.id}/configuration"
    steps = {"policies": {"approval_steps": [{"over_amount": "49.00", "approvals": 1}]}}
    assert factories.as_member(dock.buyer.tenant).patch(path, json=steps).status_code == 200
    more = {"revision": 1, "reason": "More", "lines": [{"line_no": 1, "quantity": 20}]}
    waiting = [
        drafts[0], asked(drafts[1], "submit"), asked(orders[0], "propose-changes", **more),
        asked(orders[1], "cancel"), asked(orders[2], "close", reason="Done"),
    ]  # fmt: skip
    places = [Place(one["status"], one["approval_for"] or "") for one in waiting]
    assert places == [course.DRAFT, course.FOR_SENDING, course.FOR_BUYERS, course.CANCELLED, course.CLOSED]

    for order, place in zip(waiting, places, strict=True):
        body = refused(received(dock, order, {"accepted_quantity": 1}), 409, "invalid_transition")
        assert (body["from"], body["action"], body["allowed"]) == (
            place.status, "receipts", course.allowed(place, course.Who.BUYER, course.Who.APPROVER),
        )  # fmt: skip
    with tenant_context(dock.buyer.id):
        assert not Delivery.objects.filter(tenant_id=dock.buyer.id).exists()
