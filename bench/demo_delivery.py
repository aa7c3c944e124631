"""Shipments, receipts and the recall of the order story in `./dev demo`."""

import secrets
from typing import Any

from bench.demo_http import DemoFailed, expect, once, step, wait_until
from bench.demo_order_goods import Story, instant, levels

Delivery = dict[str, Any]


def _sscc() -> str:
    """A Serial Shipping Container Code with its check digit. Source: GS1 General Specifications."""
    digits = f"3{secrets.randbelow(10**16):016d}"
    total = sum(int(digit) * (1 if place % 2 else 3) for place, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


def _shipment(story: Story, lines: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Make a shipment; return it as the supplier reads it."""
    body = {"from_location_id": story.hall, "carrier": "DHL", "lines": lines, **more}
    path = f"/v1/orders/{story.order}/shipments"
    found: dict[str, Any] = expect(story.supplier.call("POST", path, body, **once()), 201, "ship")["data"]
    return found


def _delivery(story: Story, key: str) -> Delivery:
    """Read a delivery as the hospital."""
    path = f"/v1/procurement/deliveries/{key}"
    found: Delivery = expect(story.clerk.call("GET", path), 200, "the hospital reads the delivery")["data"]
    return found


def ship(story: Story) -> tuple[Delivery, Delivery]:
    """Ship eight cases of the sets at once, and the rest by a shipment that is prepared first."""
    sets, foam = story.line("set"), story.line("foam")
    sscc = _sscc()
    packages = [{"sscc": sscc, "level": "pallet", "lines": [{"line_no": 1}]}]
    made = _shipment(
        story, [{"order_line_id": sets["id"], "quantity": 8}], dispatched_at=instant(), tracking_number="JJD1", packages=packages
    )  # fmt: skip
    first = _delivery(story, made["id"])
    lots = {one["lot_number"]: one["base_quantity"] for one in first["lines"]}
    if (first["status"], lots, first["packages"][0]["sscc"]) != ("in_transit", {"SOONER": 50, "LATER": 30}, sscc):
        raise DemoFailed(f"the first delivery is another: {first['status']}, {lots}, {first['packages']}")
    path = f"/v1/procurement/deliveries/{made['id']}"
    expect(story.stranger.call("GET", path), 404, "another hospital reads the delivery")
    expect(story.other_supplier.call("GET", path), 404, "another supplier reads the delivery")
    lines = [{"order_line_id": sets["id"], "quantity": 2}, {"order_line_id": foam["id"], "quantity": 5}]
    prepared = _shipment(story, lines)
    expect(
        story.clerk.call("GET", f"/v1/procurement/deliveries/{prepared['id']}"), 404, "look at what is in preparation"
    )
    path = f"/v1/orders/{story.order}/shipments/{prepared['id']}"
    body = {"status": "in_transit", "tracking_number": "JJD2"}
    left = expect(story.supplier.call("PATCH", path, body, **once()), 200, "let it leave")["data"]
    path = f"/v1/orders/{story.order}/shipments/{made['id']}"
    expect(story.supplier.call("PATCH", path, {"status": "delivered"}, **once()), 200, "the carrier delivers")
    lines = [{"order_line_id": sets["id"], "quantity": 1}]
    body = {"from_location_id": story.hall, "dispatched_at": instant(), "lines": lines}
    path = f"/v1/orders/{story.order}/shipments"
    over = expect(story.supplier.call("POST", path, body, **once()), 409, "ship more than was accepted")
    if (over["code"], story.own()["fulfilment_status"]) != ("over_shipment", "shipped"):
        raise DemoFailed(f"another refusal, or progress: {over['code']}, {story.own()['fulfilment_status']}")
    step(
        f"two shipments: {first['delivery_number']} with 80 sets of two lots on a pallet, then 20 sets and 50 foam dressings"
    )
    step("in preparation: 404 for the hospital; both deliveries: 404 for strangers; a case too many: 409 over_shipment")
    return first, _delivery(story, left["id"])


def _receive(story: Story, delivery: Delivery, lines: list[dict[str, Any]]) -> Delivery:
    """Receive lines of a delivery into the ward store; return the delivery as it is then."""
    body = {"received_at": instant(), "location_id": story.ward, "lines": lines}
    path = f"/v1/procurement/deliveries/{delivery['id']}/receipts"
    expect(story.clerk.call("POST", path, body, **once()), 201, "receive")
    return _delivery(story, delivery["id"])


def _whole(delivery: Delivery) -> list[dict[str, Any]]:
    """Receipt lines that accept all that was shipped."""
    return [
        {"delivery_line_id": one["id"], "accepted_quantity": one["base_quantity"], "unit": "base"}
        for one in delivery["lines"]
    ]


def receive(story: Story, first: Delivery, second: Delivery) -> None:
    """Receive the first delivery with a damaged case and one that is missing, the second whole."""
    lines = {one["lot_number"]: one["id"] for one in first["lines"]}
    told = [
        {
            "delivery_line_id": lines["SOONER"], "accepted_quantity": 4, "rejected_quantity": 1, "rejection_reason": "damaged",
            "note": "Wet",
        },
        {"delivery_line_id": lines["LATER"], "accepted_quantity": 2, "short_quantity": 1},
    ]  # fmt: skip
    received = _receive(story, first, told)
    body = {"received_at": instant(), "location_id": story.ward, "lines": told}
    path = f"/v1/procurement/deliveries/{first['id']}/receipts"
    again = expect(story.clerk.call("POST", path, body, **once()), 409, "receive it again")
    whole = _receive(story, second, _whole(second))
    line, order = story.line("set"), story.own()
    seen = (received["status"], again["code"], whole["status"], line["received"], line["rejected"], line["short"])
    if seen != ("completed", "delivery_completed", "completed", 80, 10, 10):
        raise DemoFailed(f"it was received otherwise: {seen}")
    if order["fulfilment_status"] != "partially_received":
        raise DemoFailed(f"the order is further than it should be: {order['fulfilment_status']}")
    shelf = {lot: one["on_hand"] for lot, one in levels(story.clerk, story.products["set"]).items()}
    if shelf != {"SOONER": 40, "LATER": 20, "LATEST": 20}:
        raise DemoFailed(f"the hospital's shelf holds {shelf}")
    step(f"received: 80 of 100 sets, 10 rejected as damaged, 10 short; on the hospital's shelf by lot: {shelf}")


def ship_again(story: Story) -> Delivery:
    """Ship what was rejected and short once more, on the same order, and receive it."""
    lines = [{"order_line_id": story.line("set")["id"], "quantity": 2, "lot_number": "LATEST"}]
    third = _delivery(story, _shipment(story, lines, dispatched_at=instant())["id"])
    received = _receive(story, third, _whole(third))
    line, order = story.line("set"), story.own()
    if (received["status"], line["received"], order["fulfilment_status"]) != ("completed", 100, "received"):
        raise DemoFailed(f"the order is not complete: {line}, {order['fulfilment_status']}")
    step("the 20 sets that were rejected or short are shipped again and received: 100 of 100, the order is received")
    return third


def end(story: Story) -> None:
    """Try to end the complete order, whose invoices are still to come; both sides read its whole course."""
    closing = story.act(story.buyer, "close", {"reason": "All is there"}, "close the order", 409)
    cancelling = story.act(story.buyer, "cancel", {}, "cancel the order", 409)
    own, seen = story.own(), story.received()
    if (closing["code"], cancelling["code"], own["status"]) != ("open_invoice", "already_shipped", "accepted"):
        raise DemoFailed(f"it ends otherwise: {closing['code']}, {cancelling['code']}, {own['status']}")
    buyer, supplier = ([one["action"] for one in side["timeline"]] for side in (own, seen))
    if not {"created", "approved", "sent", "accepted"} <= {*buyer} or "approved" in supplier:
        raise DemoFailed(f"the timelines tell too little or too much: {buyer}, {supplier}")
    step("cancelling: 409 already_shipped; closing: 409 open_invoice, since the invoices are still to come")
    step(f"timeline of the hospital: {len(buyer)} entries; of the supplier: {len(supplier)}, without the approvals")


def recall(story: Story, first: Delivery) -> None:
    """Recall a lot that was received: it is found on the hospital's shelf."""
    lot = levels(story.supplier, story.products["set"])["SOONER"]["lot_id"]
    said = {"class": "II", "reference": f"FSN-{story.mark}", "instructions": "Set aside and send back."}
    body = {"status": "recalled", "recall": said, "reason": "A valve may stick"}
    expect(story.supplier.call("PATCH", f"/v1/inventory/lots/{lot}", body, **once()), 200, "recall the lot")

    def is_found() -> bool:
        shelf = levels(story.clerk, story.products["set"])
        noticed = {one["lot_number"]: one["recall_notice"] for one in _delivery(story, first["id"])["lines"]}
        is_stopped = (shelf["SOONER"]["lot_status"], shelf["SOONER"]["sellable"]) == ("recalled", 0)
        return (
            is_stopped
            and shelf["LATER"]["lot_status"] == "released"
            and bool(noticed["SOONER"])
            and not noticed["LATER"]
        )

    wait_until(is_found, "the recall at the hospital")
    step("a received lot is recalled: 40 sets on the hospital's shelf are stopped, the line of its delivery tells it")
