"""The returns of the invoice story in `./dev demo`: one is declined, one withdrawn, one replaced, and a recall is credited."""

from typing import Any

from bench.demo_http import DemoFailed, expect, once, step
from bench.demo_order_goods import Story, instant, levels

PATH = "/v1/procurement/returns"
Return = dict[str, Any]


def _request(story: Story, delivery: str, product: str, quantity: int, reason: str, **more: Any) -> Return:
    """Request a return of cases of a product that a delivery has brought."""
    came = story.deliveries[delivery]
    line = next(one for one in came["lines"] if one["product_id"] == story.products[product]["id"])
    lines = [{"delivery_line_id": line["id"], "quantity": quantity, "reason_code": reason}]
    body = {"delivery_id": came["id"], "lines": lines, **more}
    made: Return = expect(story.buyer.call("POST", PATH, body, **once()), 201, "request a return")["data"]
    story.will_hear(made["id"], "return.requested")
    return made


def _act(story: Story, one: Return, action: str, body: Any, status: int = 200) -> Return:
    """Take an action of the side whose it is."""
    caller = story.buyer if action in ("ship", "cancel") else story.supplier
    answer = caller.call("POST", f"{PATH}/{one['id']}/{action}", body, **once())
    found: Return = expect(answer, status, f"{action} the return")
    return found.get("data") or found


def _entry(one: Return, disposition: str, **more: Any) -> dict[str, Any]:
    """What becomes of goods of the only line of a return."""
    return {"return_line_id": one["lines"][0]["id"], "disposition": disposition, "unit": "base", **more}


def _bring_back(story: Story, one: Return) -> None:
    """Let goods leave the hospital, and be set apart at the supplier."""
    shipped = {"carrier": "DHL", "tracking_number": "RJJD1", "shipped_at": instant()}
    _act(story, one, "ship", shipped)
    came = _act(story, one, "receive", {"location_id": story.apart})
    if came["lines"][0]["received"] != one["lines"][0]["base_quantity"]:
        raise DemoFailed(f"it came back otherwise: {came['lines']}")
    story.will_hear(one["id"], "return.authorized", "return.shipped", "return.received")
    story.will_hear(one["id"], "return.inspected", "return.completed")


def withdraw(story: Story) -> None:
    """Ask for returns that come to nothing: one is declined, one withdrawn."""
    declined = _request(story, "second", "foam", 1, "not_needed")
    path = f"{PATH}/{declined['id']}"
    for stranger in (story.stranger, story.other_supplier):
        expect(stranger.call("GET", path), 404, "a stranger reads the return")
    _act(story, declined, "authorize", {"decision": "declined", "reason": "Opened cases only on complaint"})
    withdrawn = _request(story, "second", "foam", 1, "not_needed")
    _act(story, withdrawn, "cancel", None)
    body = {"delivery_id": declined["delivery_id"], "lines": []}
    line = {"delivery_line_id": declined["lines"][0]["delivery_line_id"], "quantity": 6, "reason_code": "quality"}
    answer = story.buyer.call("POST", PATH, body | {"lines": [line]}, **once())
    refused = expect(answer, 409, "return more than came")
    if refused["code"] != "return_exceeds_received":
        raise DemoFailed(f"more than came is refused for another reason: {refused['code']}")
    story.will_hear(declined["id"], "return.declined")
    story.will_hear(withdrawn["id"], "return.cancelled")
    step("a return is declined, another withdrawn; a case more than came: 409 return_exceeds_received; strangers: 404")


def replace(story: Story) -> None:
    """Send a case back, have it inspected, and get another one by an order at price 0."""
    given = {"name": "Quarantine", "type": "quarantine", "code": f"OQ-{story.mark}", "sellable": False}
    answer = story.supplier.call("POST", "/v1/inventory/locations", given, **once())
    story.apart = expect(answer, 201, "make a place of quarantine")["data"]["id"]
    one = _request(story, "third", "set", 1, "quality", resolution="replacement", note="The clamp slips")
    _act(story, one, "authorize", {"instructions": "To gate 4"})
    _bring_back(story, one)
    entries = [_entry(one, "restock", quantity=7, location_id=story.hall), _entry(one, "quarantine", quantity=3)]
    done = _act(story, one, "inspect", {"lines": entries})
    again = _act(story, one, "inspect", {"lines": [_entry(one, "destroy")]})
    story.replacement = str(done["replacement_order_id"])
    path = f"/v1/purchase-orders/{story.replacement}"
    order = expect(story.buyer.call("GET", path), 200, "read the replacement")["data"]
    seen = (done["status"], again["status"], order["status"], order["totals"]["gross"], order["return_id"])
    if seen != ("completed", "completed", "accepted", "0.00", one["id"]):
        raise DemoFailed(f"it was replaced otherwise: {seen}")
    step(
        f"{one['return_number']}: a case goes back; 7 sets to the shelf, 3 to quarantine and destroyed; {order['po_number']} at 0.00 EUR replaces it"
    )


def give_back(story: Story) -> None:
    """Ship and receive the replacement, which closes by itself: there is nothing to bill."""
    path = f"/v1/purchase-orders/{story.replacement}"
    line = expect(story.buyer.call("GET", path), 200, "read the replacement")["data"]["lines"][0]
    body = {
        "from_location_id": story.hall, "carrier": "DHL", "dispatched_at": instant(),
        "lines": [{"order_line_id": line["id"], "quantity": 1}],
    }  # fmt: skip
    answer = story.supplier.call("POST", f"/v1/orders/{story.replacement}/shipments", body, **once())
    made = expect(answer, 201, "ship the replacement")["data"]
    delivery = f"/v1/procurement/deliveries/{made['id']}"
    (came,) = expect(story.clerk.call("GET", delivery), 200, "read the delivery")["data"]["lines"]
    lines = [{"delivery_line_id": came["id"], "accepted_quantity": 1}]
    body = {"received_at": instant(), "location_id": story.ward, "lines": lines}
    expect(story.clerk.call("POST", f"{delivery}/receipts", body, **once()), 201, "receive the replacement")
    order = expect(story.buyer.call("GET", path), 200, "read the replacement")["data"]
    if (order["status"], order["fulfilment_status"]) != ("closed", "received"):
        raise DemoFailed(f"the replacement is {order['status']}, {order['fulfilment_status']}")
    story.will_hear(made["id"], "delivery.shipped", "delivery.received", "delivery.completed")
    for party, side, words in (
        (story.hospital_id, "purchase_order", ("sent", "accepted", "closed")),
        (story.supplier_id, "order", ("placed", "accepted", "closed")),
    ):
        story.wanted |= {(party, f"{side}.{word}", story.replacement) for word in words}
    step(
        f"the replacement is shipped as {made['delivery_number']} and received: {order['po_number']} closes without an invoice"
    )


def send_back_recalled(story: Story) -> None:
    """Send the recalled sets back: authorized at once, not to be sold again, destroyed and credited."""
    one = _request(story, "first", "set", 4, "recalled", type="recall")
    if (one["status"], one["lines"][0]["lot_number"]) != ("authorized", "SOONER"):
        raise DemoFailed(f"the recall is not authorized: {one['status']}, {one['lines']}")
    _bring_back(story, one)
    number = {"credit_note_number": f"CN-2-{story.mark}"}
    sold = {"lines": [_entry(one, "restock", location_id=story.hall)], **number}
    refused = _act(story, one, "inspect", sold, 409)
    done = _act(story, one, "inspect", {"lines": [_entry(one, "destroy")], **number})
    (line,) = done["lines"]
    seen = (refused["code"], done["status"], line["credited"], float(line["credited_amount"]))
    if seen != ("disposition_not_allowed", "completed", 40, 150):
        raise DemoFailed(f"it was credited otherwise: {seen}")
    shelf = {lot: held["on_hand"] for lot, held in levels(story.clerk, story.products["set"]).items()}
    if shelf != {"SOONER": 0, "LATER": 20, "LATEST": 40}:
        raise DemoFailed(f"the hospital's shelf holds {shelf}")
    story.bills["recall"] = str(done["credit_note_id"])
    story.will_hear(story.bills["recall"], "credit_note.issued")
    step(
        f"{one['return_number']}: the 40 recalled sets go back, authorized at once; to sell them again: 409 disposition_not_allowed"
    )
    step(
        f"destroyed and credited: 150.00 EUR net by {number['credit_note_number']}; on the hospital's shelf by lot: {shelf}"
    )
