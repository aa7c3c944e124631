"""The payments of the invoice story in `./dev demo`: two parts, of which one fails and one is taken back, and an offset."""

from typing import Any

from bench.demo_balance import hold
from bench.demo_http import Caller, DemoFailed, expect, once, step
from bench.demo_order_goods import Story

ACCOUNT = "DE02120300000000202051"
PATH = "/v1/procurement/payments"
Part = tuple[str, str]  # the name of an invoice, and an amount


def _create(story: Story, *parts: Part, status: int = 201, sources: tuple[Part, ...] = ()) -> dict[str, Any]:
    """Create a payment, with `sources` an offset; return it, or the refusal."""
    allocated, taken = ([_part(story, *one) for one in some] for some in (parts, sources))
    body = {
        "supplier_id": story.supplier_id, "currency": "EUR", "amount": f"{sum(float(one) for _, one in parts):.2f}",
        "allocations": allocated,
    }  # fmt: skip
    body |= {"method": "offset", "credit_sources": taken} if sources else {"bank_account": ACCOUNT}
    answer = story.finance.call("POST", PATH, body, **once())
    found: dict[str, Any] = expect(answer, status, "create a payment")
    return found.get("data") or found


def _part(story: Story, name: str, amount: str) -> dict[str, Any]:
    return {"invoice_id": story.bills[name], "amount": amount}


def _confirm(story: Story, payment: dict[str, Any], status: str, **more: Any) -> None:
    """Record what the bank has made of a payment; both parties read it."""
    path = f"{PATH}/{payment['id']}"
    answer = story.finance.call("POST", f"{path}/confirm", {"status": status, **more}, **once())
    expect(answer, 200, f"confirm: {status}")
    seen = _read(story.supplier, payment)
    if (seen["status"], seen["bank_account"]) != (status, None):
        raise DemoFailed(f"the supplier reads of the payment: {seen['status']}, {seen['bank_account']}")
    story.will_hear(payment["id"], f"payment.{status}")


def _read(caller: Caller, payment: dict[str, Any]) -> dict[str, Any]:
    path = f"{PATH}/{payment['id']}"
    found: dict[str, Any] = expect(caller.call("GET", path), 200, "read the payment")["data"]
    return found


def pay_too_early(story: Story) -> None:
    """Try to pay an invoice that is not released."""
    refused = _create(story, ("sets", "461.13"), status=409)
    if refused["code"] != "invoice_not_approved":
        raise DemoFailed(f"paying too early is refused for another reason: {refused['code']}")
    step("paying before the release: 409 invoice_not_approved")


def pay(story: Story) -> None:
    """Pay a part; the rest fails at the bank and is repeated; the first part is taken back."""
    first = _create(story, ("foam", "100.00"))
    _confirm(story, first, "processing")
    hold(story, "foam", "approved", held_total="100.00", paid_total="0.00")
    _confirm(story, first, "succeeded")
    hold(story, "foam", "partially_paid", held_total="0.00", paid_total="100.00", balance_due="185.60")
    rest = (("foam", "185.60"), ("sets", "461.13"))
    failed = _create(story, *rest)
    over = _create(story, ("sets", "0.01"), status=409)
    _confirm(story, failed, "failed", failure={"code": "AC04", "message": "The account is closed."})
    hold(story, "sets", "approved", held_total="0.00", paid_total="0.00", balance_due="461.13")
    again = _create(story, *rest)
    _confirm(story, again, "processing")
    _confirm(story, again, "succeeded")
    hold(story, "sets", "paid", paid_total="461.13", balance_due="0.00")
    hold(story, "foam", "paid", paid_total="285.60", balance_due="0.00")
    step(
        f"{first['payment_number']}: 100.00 EUR of 285.60, sent and made; {failed['payment_number']}: 646.73 EUR for both fail"
    )
    step(f"meanwhile a cent more: 409 {over['code']}; {again['payment_number']} pays the same: both are paid")
    _confirm(story, first, "reversed", failure={"code": "MD06", "message": "Taken back"})
    hold(story, "foam", "partially_paid", paid_total="185.60", balance_due="100.00")
    if over["code"] != "exceeds_balance":
        raise DemoFailed(f"a cent more is refused for another reason: {over['code']}")
    for one in (first, failed, again):
        story.will_hear(one["id"], "payment.created")
    step(f"{first['payment_number']} is taken back: 100.00 EUR are due again, as both parties read")


def offset(story: Story) -> None:
    """Pay what is open with the credit of the goods that went back; a payment in its place is withdrawn."""
    hold(story, "sets", "paid", credited_total="178.50", balance_due="-178.50", credit_available="178.50")
    money = _create(story, ("foam", "100.00"))
    answer = story.finance.call("POST", f"{PATH}/{money['id']}/cancel", {"reason": "There is credit"}, **once())
    expect(answer, 200, "cancel the payment")
    made = _create(story, ("foam", "100.00"), sources=(("sets", "100.00"),))
    if made["status"] != "succeeded":
        raise DemoFailed(f"the offset is {made['status']}")
    hold(story, "foam", "paid", paid_total="285.60", balance_due="0.00")
    hold(story, "sets", "paid", offset_total="100.00", balance_due="-78.50", credit_available="78.50")
    again = _create(story, ("foam", "78.51"), sources=(("sets", "78.51"),), status=409)
    if again["code"] != "exceeds_balance":
        raise DemoFailed(f"more credit is refused for another reason: {again['code']}")
    story.will_hear(money["id"], "payment.created", "payment.cancelled")
    story.will_hear(made["id"], "payment.created", "payment.succeeded")
    step(
        f"{made['payment_number']} pays the 100.00 EUR with the credit of what went back, at once; 78.50 EUR of it are left"
    )
