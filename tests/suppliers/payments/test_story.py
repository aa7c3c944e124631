"""From an order to its last cent, by the API alone: receipt, invoice, release, split payment, credit note, offset, reversal; and a race."""

from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from tests.factories import Api
from tests.races import race
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.invoices.bills import desk as fresh
from tests.suppliers.payments.tills import PATH


@pytest.fixture
def desk() -> Desk:
    """Return a supplier and a hospital with members of both sides."""
    return fresh()


def released(desk: Desk, units: int = 100) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return an order that has arrived, and its invoice, which is released."""
    order = desk.arrived(units)
    made = desk.issue(order, units)
    return order, desk.did(made, "approve")


def pay(desk: Desk, *parts: tuple[dict[str, Any], str], sources: Any = ()) -> Any:
    """Ask for a payment of invoices by amounts."""
    amount = sum((Decimal(one) for _, one in parts), Decimal(0))
    body = {
        "supplier_id": str(desk.dock.shelf.id), "currency": "EUR", "amount": f"{amount:f}",
        "allocations": [{"invoice_id": of["id"], "amount": one} for of, one in parts],
    }  # fmt: skip
    if sources:
        used = [{"invoice_id": of["id"], "amount": one} for of, one in sources]
        body |= {"method": "offset", "credit_sources": used}
    return desk.clerk.post(PATH, json=body)


def confirmed(desk: Desk, payment: Any, status: str) -> None:
    assert payment.status_code == 201, payment.content
    answer = desk.clerk.post(f"{PATH}/{payment.json()['data']['id']}/confirm", json={"status": status})
    assert answer.status_code == 200, answer.content


def shown(desk: Desk, invoice: dict[str, Any]) -> tuple[str, ...]:
    """Return of an invoice as its buyer reads it: status, held, paid, credited, balance due; its supplier reads the same."""
    names = ("status", "held_total", "paid_total", "credited_total", "balance_due")
    mine, theirs = desk.read(invoice), desk.read(invoice, api=desk.supplier)
    assert [mine[name] for name in names] == [theirs[name] for name in names]
    return tuple(mine[name] for name in names)


def test_from_receipt_to_the_last_cent_and_back(desk: Desk) -> None:
    order, invoice = released(desk)
    gross = Decimal(invoice["gross_total"])
    half, zero = f"{gross / 2:.2f}", "0.00"
    rest = f"{gross - Decimal(half):.2f}"

    first = pay(desk, (invoice, half))
    assert shown(desk, invoice) == ("approved", half, zero, zero, invoice["gross_total"])
    assert pay(desk, (invoice, invoice["gross_total"])).json()["code"] == "exceeds_balance"
    confirmed(desk, first, "succeeded")
    assert shown(desk, invoice) == ("partially_paid", zero, half, zero, rest)
    second = pay(desk, (invoice, rest))
    confirmed(desk, second, "succeeded")
    assert shown(desk, invoice) == ("paid", zero, invoice["gross_total"], zero, zero)
    assert desk.billing(order)[1] == "paid"

    note = desk.credit(order, invoice, 10)
    credit = note["gross_total"]
    assert shown(desk, invoice)[-1] == f"-{credit}"
    _, other = released(desk)
    confirmed(desk, pay(desk, (other, credit), sources=[(invoice, credit)]), "reversed")
    offset = pay(desk, (other, credit), sources=[(invoice, credit)])
    assert (offset.status_code, offset.json()["data"]["status"]) == (201, "succeeded")
    assert pay(desk, (other, "0.01"), sources=[(invoice, "0.01")]).json()["code"] == "exceeds_balance"
    assert shown(desk, other)[0] == "partially_paid"
    assert shown(desk, invoice)[-1] == zero

    confirmed(desk, second, "reversed")
    assert shown(desk, invoice) == ("partially_paid", zero, half, credit, rest)
    assert [one[0] for one in desk.facts(desk.dock.shelf, invoice)].count("invoice.paid") == 1
    assert desk.facts(desk.dock.shelf, invoice) == desk.facts(desk.dock.buyer, invoice)
    desk.stored()


def test_credit_that_has_paid_another_invoice_is_due_again(desk: Desk) -> None:
    order, invoice = released(desk)
    gross, zero = invoice["gross_total"], "0.00"
    payment = pay(desk, (invoice, gross))
    confirmed(desk, payment, "succeeded")
    credit = desk.credit(order, invoice, 10)["gross_total"]
    _, other = released(desk)
    assert pay(desk, (other, credit), sources=[(invoice, credit)]).status_code == 201
    confirmed(desk, payment, "reversed")
    assert shown(desk, invoice) == ("approved", zero, zero, credit, gross)

    more = f"{Decimal(gross) + Decimal('0.01'):.2f}"
    assert pay(desk, (invoice, more)).json()["code"] == "exceeds_balance"
    confirmed(desk, pay(desk, (invoice, gross)), "succeeded")

    assert shown(desk, invoice) == ("paid", zero, gross, credit, zero)
    desk.stored()


def test_what_is_disputed_or_not_released_is_not_paid(desk: Desk) -> None:
    order = desk.arrived(100)
    made = desk.issue(order, 100)
    assert pay(desk, (made, "1.00")).json()["code"] == "invoice_not_approved"
    desk.did(made, "approve")
    held = pay(desk, (made, "1.00"))
    assert held.status_code == 201, held.content
    answer = desk.act(made, "dispute", reason_code="price")
    assert answer.status_code == 409, answer.content
    confirmed(desk, held, "failed")
    desk.did(made, "dispute", reason_code="price")
    assert pay(desk, (made, "1.00")).json()["code"] == "invoice_not_approved"
    desk.stored()


def client(of: Api) -> Api:
    """Return a further client of a member, for a thread of its own."""
    api = Api()
    api.headers = of.headers
    return api


@pytest.mark.parametrize("_round", range(3))
def test_a_payment_races_a_credit_note(desk: Desk, _round: int) -> None:
    order, invoice = released(desk)
    whole = invoice["gross_total"]
    body = {
        "supplier_id": str(desk.dock.shelf.id), "currency": "EUR", "amount": whole,
        "allocations": [{"invoice_id": invoice["id"], "amount": whole}],
    }  # fmt: skip
    crediting = partial(
        desk.post, order, 10, api=client(desk.supplier), type="credit_note", original_invoice_id=invoice["id"]
    )

    paid, credited = race(partial(client(desk.clerk).post, PATH, json=body), crediting)

    assert credited.status_code == 201, credited.content
    credit = credited.json()["data"]["gross_total"]
    if paid.status_code == 201:  # it was there first, and leaves credit behind
        confirmed(desk, paid, "succeeded")
        assert shown(desk, invoice)[-1] == f"-{credit}"
    else:
        assert paid.json()["code"] == "exceeds_balance"
        assert shown(desk, invoice)[1:3] == ("0.00", "0.00")
    desk.stored()
