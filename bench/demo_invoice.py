"""The story of the money in `./dev demo`: from the invoices of the order to the last cent, goods that go back, and the figures.

The supplier bills the order in two invoices. One matches; the other is dearer than ordered, disputed, and put right by a credit
note. The hospital pays in two parts, of which one fails and is repeated and one is taken back (`bench/demo_payment.py`). Goods are
replaced, those of the recall credited (`bench/demo_return.py`), and the credit pays what is open. Metrics and insights tell the
same in three time zones (`bench/demo_figures.py`), the webhooks of both parties all of it.
"""

import json
from datetime import UTC, datetime
from typing import Any

from bench.demo_balance import PATH, hold, read
from bench.demo_figures import read_figures, read_insights
from bench.demo_hearing import hear
from bench.demo_http import DemoFailed, expect, listen, once, step
from bench.demo_order_goods import PRICES, Story, signed_in_again
from bench.demo_payment import ACCOUNT, offset, pay, pay_too_early
from bench.demo_return import give_back, replace, send_back_recalled, withdraw
from bench.receiver import Receiver

PATTERNS = (
    "invoice.*", "credit_note.*", "payment.*", "return.*", "delivery.*", "order.*", "purchase_order.*",
)  # fmt: skip
TAXED = {"tax_category": "S", "tax_rate": "19"}
DEARER = "50.00"  # than the 48.00 that were confirmed
OFF = "2.00"
FREIGHT = "12.50"


def walk_invoice(demo: dict[str, Any], story: Story) -> None:
    """Walk on from an order that has come, with people of the hospital, the supplier's key, and strangers of both sides.

    :raises DemoFailed: a step did not end as it should.
    """
    story = signed_in_again(demo, story)
    with Receiver() as receiver:
        endpoints = [(one, listen(one, receiver, *PATTERNS)) for one in (story.supplier, story.admin)]
        bill(story)
        pay_too_early(story)
        dispute(story)
        approve(story)
        pay(story)
        withdraw(story)
        replace(story)
        give_back(story)
        send_back_recalled(story)
        offset(story)
        agree(story)
        read_figures(story)
        read_insights(story)
        tell(receiver, story)
        for one, endpoint in endpoints:
            expect(one.call("DELETE", f"/v1/webhooks/{endpoint}", **once()), 204, "delete the endpoint")


def _body(story: Story, name: str, product: str, quantity: int, price: str, **more: Any) -> dict[str, Any]:
    """The body of an invoice for one line of the order."""
    line = {"order_line_id": story.line(product)["id"], "quantity": quantity, "unit_price": price, **TAXED}
    today = datetime.now(UTC).date().isoformat()
    return {"invoice_number": f"{name}-{story.mark}", "issue_date": today, "lines": [line], **more}


def _issue(story: Story, body: dict[str, Any], what: str, status: int = 201) -> dict[str, Any]:
    """Issue an invoice or a credit note; return it, or the refusal."""
    answer = story.supplier.call("POST", f"/v1/orders/{story.order}/invoices", body, **once())
    found: dict[str, Any] = expect(answer, status, what)
    return found.get("data") or found


def _act(story: Story, name: str, action: str, body: Any, status: int = 200) -> dict[str, Any]:
    """Let the hospital act on an invoice."""
    answer = story.finance.call("POST", f"{PATH}/{story.bills[name]}/{action}", body, **once())
    found: dict[str, Any] = expect(answer, status, f"{action} the invoice")
    return found.get("data") or found


def bill(story: Story) -> None:
    """Bill the infusion sets as ordered, with freight, and the foam dressings dearer than ordered."""
    freight = {"amount": FREIGHT, "reason": "Freight", **TAXED}
    totals = {"net": "387.50", "tax": "73.63", "gross": "461.13"}  # 375.00 and 12.50; 73.625 of tax
    body = _body(story, "INV-1", "set", 10, PRICES["set"], charges=[freight])
    _issue(story, body | {"stated_totals": totals | {"gross": "461.20"}}, "state a wrong total", 400)
    right = _issue(story, body | {"stated_totals": totals}, "bill the sets")
    over = _issue(story, _body(story, "INV-0", "set", 3, PRICES["set"]), "bill more than was shipped", 409)
    taken = _issue(story, _body(story, "INV-1", "foam", 5, DEARER), "use a number twice", 409)
    wrong = _issue(story, _body(story, "INV-2", "foam", 5, DEARER), "bill the dressings")
    story.bills |= {"sets": right["id"], "foam": wrong["id"]}
    seen = (right["status"], right["gross_total"], over["code"], taken["code"], wrong["status"], wrong["gross_total"])
    if seen != ("matched", "461.13", "over_invoiced", "invoice_number_taken", "mismatched", "297.50"):
        raise DemoFailed(f"it was billed otherwise: {seen}")
    (line,) = read(story.finance, wrong["id"])["match"]["lines"]
    theirs = json.dumps(read(story.supplier, wrong["id"]))
    if (line["result"], float(line["price_variance"])) != ("price_over", 2) or "variance" in theirs:
        raise DemoFailed(f"the match reads otherwise: {line}, {theirs[:300]}")
    step(
        f"{right['invoice_number']}: 461.13 EUR with freight and 19 % of tax, matched; more than was shipped: 409 over_invoiced"
    )
    step(f"{wrong['invoice_number']}: 2.00 a case too dear, mismatched; by how much the hospital alone reads")
    story.will_hear(right["id"], "invoice.issued", "invoice.matched", "invoice.approved", "invoice.paid")
    story.will_hear(wrong["id"], "invoice.issued", "invoice.mismatched", "invoice.disputed", "invoice.dispute_resolved")
    story.will_hear(wrong["id"], "invoice.matched", "invoice.approved", "invoice.paid")
    story.wanted.add((story.hospital_id, "purchase_order.price_differs", story.order))


def dispute(story: Story) -> None:
    """Put the dearer invoice under query; a credit note of the supplier ends it."""
    key = story.bills["foam"]
    for stranger in (story.stranger, story.other_supplier):
        read(stranger, key, 404)
    _act(story, "foam", "approve", {}, 400)
    _act(story, "foam", "dispute", {"reason_code": "price", "note": "48.00 a case was confirmed."})
    seen = read(story.supplier, key)
    if (seen["status"], seen["dispute"]["reason_code"]) != ("disputed", "price"):
        raise DemoFailed(f"the supplier reads no query: {seen['status']}, {seen['dispute']}")
    body = _body(story, "CN-1", "foam", 5, OFF, type="credit_note", original_invoice_id=key)
    note = _issue(story, body, "issue a credit note")
    hold(story, "foam", "matched", credited_total="11.90", balance_due="285.60")
    story.bills["note"] = note["id"]
    story.will_hear(note["id"], "credit_note.issued")
    step(f"disputed; the credit note {note['invoice_number']} of 11.90 EUR ends it: matched, 285.60 EUR are due")
    step("another hospital and another supplier: 404 for the invoice")


def approve(story: Story) -> None:
    """Release both invoices for payment; the order, all of which has come and is billed, is closed by then."""
    for name in ("sets", "foam"):
        approved = _act(story, name, "approve", {})
        if approved["status"] != "approved":
            raise DemoFailed(f"the invoice is {approved['status']}")
    order = story.received()
    if (story.own()["status"], order["status"]) != ("closed", "closed"):
        raise DemoFailed(f"the order is {order['status']}")
    story.wanted |= {
        (story.hospital_id, "purchase_order.closed", story.order),
        (story.supplier_id, "order.closed", story.order),
    }
    step("both released for payment; all of the order has come and is billed, so that it has closed by itself")


def agree(story: Story) -> None:
    """Hold the lists of both parties against each other: the same documents with the same balances."""
    parts = "invoice_number,type,status,gross_total,credited_total,held_total,paid_total,offset_total,balance_due"
    path = f"{PATH}?purchase_order_id={story.order}&fields={parts}&sort=invoice_number"
    sides = []
    for caller in (story.finance, story.supplier):
        listed = expect(caller.call("GET", path), 200, "list the invoices")["data"]
        sides.append(listed["items"] if isinstance(listed, dict) else listed)
    if sides[0] != sides[1] or len(sides[0]) != 4:
        raise DemoFailed(f"the lists of both parties differ: {sides}")
    due = {one["invoice_number"]: one["balance_due"] for one in sides[0]}
    step(f"both parties list the same four documents; due: {due}")


def tell(receiver: Receiver, story: Story) -> None:
    """Hold what both parties were told, each event signed, and nothing of the hospital's account."""
    told = hear(receiver, story.wanted, story.names)
    if any(ACCOUNT in json.dumps(one) for one in told):
        raise DemoFailed("a webhook tells the hospital's account")
    if more := {(one["tenant_id"], one["type"], one["data"]["object"]["id"]) for one in told} - story.wanted:
        raise DemoFailed(f"webhooks tell what has not happened: {more}")
    kinds = {kind for _, kind, _ in story.wanted}
    step(
        f"{len(story.wanted)} webhooks of {len(kinds)} types arrived at both parties, among {len(told)}, all verified:"
        f" {', '.join(sorted(kinds))}"
    )
