"""The story of an order in `./dev demo`: from the search to goods on the buyer's shelf, and to the recall of one of them.

A hospital reserves, copies an order and submits it; two persons approve it, and none twice. The supplier accepts with a backorder
and a substitute, which the hospital confirms; both write to each other. New stock fills the backorder. Two shipments leave; what was
damaged or missing is shipped again. The lot that came is recalled and found on the hospital's shelf. Strangers see nothing of it,
and the webhooks of both parties tell it.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.demo_delivery import end, recall, receive, ship, ship_again
from bench.demo_hearing import hear
from bench.demo_http import Caller, DemoFailed, expect, listen, once, step, wait_until
from bench.demo_order_goods import PRICES, Story, days, search, stock_up, story_of, take_in
from bench.receiver import Receiver

PATTERNS = ("order.*", "order_item.*", "purchase_order.*", "delivery.*", "message.*")
STEPS = [{"over_amount": "500.00", "approvals": 2}]
SECRET = "Only for the ward"
# What each side is told of the order itself.
BUYER = ("created", "submitted", "approved", "sent", "change_proposed", "accepted")
SUPPLIER = ("placed", "change_proposed", "accepted")


def walk_order(demo: dict[str, Any]) -> Story:
    """Walk the story with people of the hospital, the supplier's key, and strangers of both sides; return it as it ends.

    :raises DemoFailed: a step did not end as it should.
    """
    story = story_of(demo)
    with Receiver() as receiver, _approvals(story):
        endpoints = [(one, listen(one, receiver, *PATTERNS)) for one in (story.supplier, story.admin)]
        stock_up(story)
        search(story)
        draft(story, reserve(story))
        approve(story)
        keep_out(story)
        write_to_each_other(story)
        answer(story)
        confirm(story)
        fill_backorder(story)
        first, second = ship(story)
        receive(story, first, second)
        third = ship_again(story)
        story.deliveries = {"first": first, "second": second, "third": third}
        end(story)
        recall(story, first)
        tell(receiver, story)
        for one, endpoint in endpoints:
            expect(one.call("DELETE", f"/v1/webhooks/{endpoint}", **once()), 204, "delete the endpoint")
    return story


@contextmanager
def _approvals(story: Story) -> Iterator[None]:
    """Let orders over an amount need two approvals, as long as the story lasts."""
    path = f"/v1/tenants/{story.hospital_id}/configuration"
    body: dict[str, Any] = {"policies": {"approval_steps": STEPS}}
    expect(story.admin.call("PATCH", path, body, **once()), 200, "set the steps of approval")
    try:
        yield
    finally:
        body = {"policies": {"approval_steps": None}}
        expect(story.admin.call("PATCH", path, body, **once()), 200, "reset the steps of approval")


def reserve(story: Story) -> str:
    """Reserve three cases of the infusion sets; return the reservation."""
    items = [{"product_id": story.products["set"]["id"], "quantity": 3}]
    body = {"supplier_id": story.supplier_id, "items": items}
    answer = story.buyer.call("POST", "/v1/stock/reservations", body, **once())
    (made,) = expect(answer, 201, "reserve")["data"]["items"]
    step(f"{made['base_quantity']} infusion sets reserved")
    return str(made["id"])


def draft(story: Story, reservation: str) -> None:
    """Draft an order, copy it, and change the copy; the supplier sees neither."""
    lines = [{"product_id": story.products["set"]["id"], "quantity": 10}]
    body = {
        "supplier_id": story.supplier_id, "currency": "EUR", "delivery_location_id": story.ward, "lines": lines,
        "internal_note": SECRET, "requested_delivery_date": days(14),
    }  # fmt: skip
    first = expect(story.buyer.call("POST", "/v1/purchase-orders", body, **once()), 201, "draft an order")["data"]
    body = {"copy_of": first["id"], "reservation_ids": [reservation]}
    made = expect(story.buyer.call("POST", "/v1/purchase-orders", body, **once()), 201, "copy the order")["data"]
    if (made["copy_of"], made["requested_delivery_date"]) != (first["id"], None):
        raise DemoFailed(f"the copy has what belongs to the first occasion: {made}")
    story.order = made["id"]
    lines.append({"product_id": story.products["dressing"]["id"], "quantity": 5})
    answer = story.buyer.call("PATCH", f"/v1/purchase-orders/{story.order}", {"lines": lines}, **once())
    changed = expect(answer, 200, "change the draft")["data"]
    if (changed["revision"], changed["totals"]["net"]) != (2, "625.00"):
        raise DemoFailed(f"the draft is priced otherwise: {changed['revision']}, {changed['totals']}")
    path = f"/v1/purchase-orders/{first['id']}/cancel"
    expect(story.buyer.call("POST", path, {"reason": "Copied"}, **once()), 200, "cancel the first draft")
    expect(story.supplier.call("GET", f"/v1/orders/{story.order}"), 404, "the supplier looks at the draft")
    step(f"{made['po_number']} copied from a draft and changed: {changed['totals']['net']} EUR; 404 for the supplier")


def approve(story: Story) -> None:
    """Submit the order, and let two persons approve it; its author and the same person again may not."""
    submitted = story.act(story.buyer, "submit", {}, "submit the order")
    if (submitted["status"], submitted["approval_for"]) != ("pending_approval", "sending"):
        raise DemoFailed(f"the order does not wait for an approval: {submitted['status']}")
    expect(story.supplier.call("GET", f"/v1/orders/{story.order}"), 404, "the supplier looks at it too early")
    body = {"revision": submitted["revision"]}
    story.act(story.buyer, "approve", body, "the author approves", 403)
    once_approved = story.act(story.approver, "approve", body, "the first approval")
    again = story.act(story.approver, "approve", body, "the same person approves again", 409)
    if (once_approved["status"], again["code"]) != ("pending_approval", "already_decided"):
        raise DemoFailed(f"one approval was enough, or counts twice: {once_approved['status']}, {again['code']}")
    sent = story.act(story.second, "approve", body, "the second approval")
    seen = story.received()
    if (sent["status"], seen["status"], seen["totals"]["net"]) != ("sent", "sent", "625.00"):
        raise DemoFailed(f"the order was not sent: {sent['status']}, {seen['status']}")
    if SECRET in json.dumps(seen) or "approvals" in seen:
        raise DemoFailed("the supplier reads what is the hospital's alone")
    step(f"two persons approved, the same one twice: 409 already_decided; sent as {seen['order_number']}")


def keep_out(story: Story) -> None:
    """Let a buyer and a supplier who are no parties look for the order."""
    expect(story.stranger.call("GET", f"/v1/purchase-orders/{story.order}"), 404, "another hospital reads the order")
    path = f"/v1/orders/{story.order}"
    expect(story.other_supplier.call("GET", path), 404, "another supplier reads the order")
    expect(story.other_supplier.call("POST", f"{path}/accept", {}, **once()), 404, "another supplier accepts the order")
    step("another hospital and another supplier: 404 for the order and for its actions")


def write_to_each_other(story: Story) -> None:
    """Let supplier and hospital write about the order, in one thread."""
    about = {"type": "order", "id": story.order}
    asked = _write(story.supplier, about, "Does the ramp take a pallet?")
    told = _write(story.buyer, about, "It does, until four.")
    if asked["thread_id"] != told["thread_id"]:
        raise DemoFailed("the two messages are of different threads")
    for reader, thread in ((story.buyer, asked["thread_id"]), (story.supplier, told["thread_id"])):
        listed = expect(reader.call("GET", "/v1/notifications?kind=message"), 200, "read the messages")["data"]
        items = listed["items"] if isinstance(listed, dict) else listed
        if thread not in {one["thread_id"] for one in items}:
            raise DemoFailed("a message about the order did not come")
    body = {"resource": about, "body": "And me?"}
    answer = story.stranger.call("POST", "/v1/notifications", body, **once())
    expect(answer, 404, "another hospital writes about the order")
    step("both sides wrote about the order, in one thread; another hospital: 404")


def _write(caller: Caller, about: dict[str, Any], text: str) -> dict[str, Any]:
    answer = caller.call("POST", "/v1/notifications", {"resource": about, "body": text}, **once())
    found: dict[str, Any] = expect(answer, 201, "write a message")["data"]
    return found


def answer(story: Story) -> None:
    """Let the supplier accept eight of ten cases, two for later, and another dressing in place of those ordered."""
    lines = {one["product_id"]: one for one in story.received()["items"]}
    sets, dressings = (lines[story.products[name]["id"]] for name in ("set", "dressing"))
    substitute = {
        "product_id": story.products["foam"]["id"], "quantity": 5, "unit_price": PRICES["foam"], "reason_code": "out_of_stock",
    }  # fmt: skip
    later = {"accepted_quantity": 8, "promised_date": days(3), "backorder_quantity": 2, "backorder_date": days(10)}
    body = {
        "lines": [
            {"item_id": sets["id"], **later},
            {"item_id": dressings["id"], "accepted_quantity": 0, "substitute": substitute},
        ]
    }
    path = f"/v1/orders/{story.order}/accept"
    found = expect(story.supplier.call("POST", path, body, **once()), 200, "accept with changes")["data"]
    if (found["status"], found["proposed_by"], found["awaiting"]) != ("change_proposed", "supplier", "buyer"):
        raise DemoFailed(f"the answer is no proposal: {found['status']}, {found['proposed_by']}, {found['awaiting']}")
    step("the supplier accepts 8 of 10 cases, 2 for later, and foam dressings instead: change_proposed")


def confirm(story: Story) -> None:
    """Let the hospital confirm the changes; an old revision is refused."""
    proposed = story.own()
    body = {"revision": proposed["revision"] - 1, "decision": "accept"}
    old = story.act(story.buyer, "confirm-changes", body, "confirm an old revision", 409)
    found = story.act(story.buyer, "confirm-changes", body | {"revision": proposed["revision"]}, "confirm the changes")
    sets, foam = story.line("set"), story.line("foam")
    seen = (old["code"], found["status"], sets["accepted"], sets["backordered"], foam["accepted"], foam["ordered"])
    if seen != ("revision_changed", "accepted", 80, 20, 50, 50):
        raise DemoFailed(f"the order was accepted otherwise: {seen}")
    dressings = story.line("dressing")
    if (foam["substitutes_line_id"], dressings["cancelled"]) != (dressings["id"], 50):
        raise DemoFailed(f"the substitute stands otherwise: {foam}, {dressings}")
    step(f"the hospital confirms revision {proposed['revision']}: accepted, with the substitute; an old revision: 409")


def fill_backorder(story: Story) -> None:
    """Let new stock come: the backorder is allocated by itself."""
    take_in(story, "set", "LATEST", "2034-01-31", 60)
    wait_until(lambda: story.line("set")["backordered"] == 0, "the allocation of the backorder")
    line = story.line("set")
    if (line["accepted"], line["ordered"]) != (100, 100):
        raise DemoFailed(f"the backorder was allocated otherwise: {line}")
    step("60 sets come in: the backorder of 20 is allocated and accepted by itself")


def tell(receiver: Receiver, story: Story) -> None:
    """Hold what both parties were told of the order, each event signed, and nobody of what is the other's."""
    ways = ("shipped", "received", "completed")
    wanted = {(story.hospital_id, f"purchase_order.{word}", story.order) for word in BUYER}
    wanted |= {(story.supplier_id, f"order.{word}", story.order) for word in SUPPLIER}
    for one in story.deliveries.values():
        story.will_hear(one["id"], *(f"delivery.{word}" for word in ways))
    wanted |= story.wanted
    told = hear(receiver, wanted, story.names)
    if any(SECRET in json.dumps(one) for one in told if one["tenant_id"] == story.supplier_id):
        raise DemoFailed("the supplier was told what is the hospital's alone")
    step(
        f"{len(wanted)} webhooks of the order and its deliveries arrived at both parties, among {len(told)}, all verified"
    )
