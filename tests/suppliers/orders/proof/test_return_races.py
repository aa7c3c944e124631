"""Goods that go back, and what meets them: they are booked once, and credited once, whoever comes first.

Each round races on an order of its own. `--long` runs many more rounds.
"""

import time
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from uuid import UUID

import pytest

from suppliers.invoices.models import Invoice
from tests.suppliers.orders.proof.fair import PAYMENTS, RETURNS, asked
from tests.suppliers.orders.proof.market import receive
from tests.suppliers.orders.proof.meeting import client, deadlocks, meet, told, won
from tests.suppliers.orders.proof.stages import GROSS, UNITS, Stage, stage, worth

pytestmark = pytest.mark.untraced
FRESH = 25
Round = Callable[[Stage], Counter[str]]
ZERO = Decimal(0)


def _notes(at: Stage, order: UUID) -> list[tuple[Decimal, bool]]:
    """Return the credit notes of an order: the gross, and whether they are of a return; sorted."""
    found = at.house.rows(Invoice, order_id=order, type="credit_note")
    return sorted((one.gross_total, one.return_id is not None) for one in found)


def receive_twice(at: Stage) -> Counter[str]:
    _, delivery = at.received()
    key, apis, before = at.back(delivery, 40, to="in_transit"), [at.seller(), at.seller()], at.apart()
    body = {"location_id": at.fair.apart}
    found = meet(
        one=lambda: asked(apis[0], RETURNS, key, "receive", **body),
        other=lambda: asked(apis[1], RETURNS, key, "receive", **body),
    )
    assert sorted(map(told, found.values())) == ["", "invalid_transition"]
    assert at.apart() == before + 40
    return won(found)


def inspect_twice(at: Stage) -> Counter[str]:
    order, delivery = at.received()
    invoice, key = at.invoiced(order, "approve"), at.back(delivery, 40)
    bodies, apis, before = [at.inspected(key) for _ in range(2)], [at.seller(), at.seller()], at.apart()
    found = meet(
        one=lambda: asked(apis[0], RETURNS, key, "inspect", **bodies[0]),
        other=lambda: asked(apis[1], RETURNS, key, "inspect", **bodies[1]),
    )
    assert won(found).total() == 1, found
    assert at.apart() == before - 40
    assert _notes(at, order) == [(worth(40), True)]
    assert at.money(invoice) == ("approved", worth(40), ZERO, ZERO, GROSS - worth(40))
    assert at.house.lines(order)[0].returned == 40
    return won(found)


def two_returns_of_one_invoice(at: Stage) -> Counter[str]:
    """Two returns of one order are inspected at once; both are credited, one behind the other."""
    order, delivery = at.received()
    invoice, keys = at.invoiced(order, "approve"), [at.back(delivery, units) for units in (50, 70)]
    bodies, apis = [at.inspected(one) for one in keys], [at.seller(), at.seller()]
    found = meet(
        one=lambda: asked(apis[0], RETURNS, keys[0], "inspect", **bodies[0]),
        other=lambda: asked(apis[1], RETURNS, keys[1], "inspect", **bodies[1]),
    )
    assert [*map(told, found.values())] == ["", ""]
    assert at.money(invoice) == ("paid", GROSS, ZERO, ZERO, ZERO)
    assert sum(one for one, _ in _notes(at, order)) == GROSS
    return won(found)


def return_against_credit(at: Stage) -> Counter[str]:
    """Goods that come back are credited as far as their invoice is not credited yet."""
    order, delivery = at.received()
    invoice, key, apis = at.invoiced(order, "approve"), at.back(delivery, 70), [at.seller(), at.seller()]
    body, note = at.inspected(key), at.note(order, invoice, 80)
    found = meet(
        inspected=lambda: asked(apis[0], RETURNS, key, "inspect", **body),
        credited=lambda: apis[1].post(f"/v1/orders/{order}/invoices", json=note),
    )
    assert told(found["inspected"]) == ""
    assert told(found["credited"]) in ("", "credit_exceeds_invoice")
    both = won(found)["credited"] == 1
    credited = GROSS if both else worth(70)
    assert sum(one for one, _ in _notes(at, order)) == credited
    assert at.money(invoice) == ("paid" if both else "approved", credited, ZERO, ZERO, GROSS - credited)
    assert at.house.lines(order)[0].invoiced == (0 if both else 50)
    return won(found)


def return_against_invoice(at: Stage) -> Counter[str]:
    """Goods come back while they are invoiced: credited, or billable by so much less."""
    order, delivery = at.received()
    key, apis = at.back(delivery, 40), [at.seller(), at.seller()]
    body, bill = (
        at.inspected(key),
        {"invoice_number": f"I-{key}", "issue_date": "2026-11-02", "lines": [at.line(order)]},
    )
    found = meet(
        inspected=lambda: asked(apis[0], RETURNS, key, "inspect", **body),
        invoiced=lambda: apis[1].post(f"/v1/orders/{order}/invoices", json=bill),
    )
    assert [*map(told, found.values())] == ["", ""]
    money = at.money(found["invoiced"].json()["data"]["id"])
    assert money in (("matched", worth(40), ZERO, ZERO, GROSS - worth(40)), ("mismatched", ZERO, ZERO, ZERO, GROSS))
    assert _notes(at, order) == ([(worth(40), True)] if money[0] == "matched" else [])
    return won(found) + Counter(credited=money[0] == "matched")


def return_against_payment(at: Stage) -> Counter[str]:
    order, delivery = at.received()
    invoice, key, apis = at.invoiced(order, "approve"), at.back(delivery, 40), [at.seller(), at.payer()]
    body, bill = at.inspected(key), at.pays((invoice, GROSS))
    found = meet(
        inspected=lambda: asked(apis[0], RETURNS, key, "inspect", **body),
        paid=lambda: apis[1].post(PAYMENTS, json=bill),
    )
    assert told(found["inspected"]) == ""
    assert told(found["paid"]) in ("", "exceeds_balance")
    held = GROSS if won(found)["paid"] else ZERO
    assert at.money(invoice) == ("approved", worth(40), held, ZERO, GROSS - worth(40))
    return won(found)


def request_against_reversal(at: Stage) -> Counter[str]:
    """What is on a return was received; what is reversed is on none."""
    order, delivery = at.received()
    part, api, first = at.part(delivery), client(at.house.trade.api), at.house.receipts()[-1]
    line = {"delivery_line_id": part, "quantity": 40, "unit": "base", "reason_code": "quality"}
    body = {"delivery_id": str(delivery), "lines": [line]}
    found = meet(
        requested=lambda: api.post(RETURNS, json=body),
        reversed=lambda: receive(at.house, delivery, reverses=str(first.id)),
    )
    assert won(found).total() == 1, found
    assert {told(one) for one in found.values()} <= {"", "receipt_not_reversible", "return_exceeds_received"}
    assert at.house.lines(order)[0].received == (UNITS if won(found)["requested"] else 0)
    return won(found)


@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    "act",
    [
        receive_twice, inspect_twice, two_returns_of_one_invoice, return_against_credit, return_against_invoice,
        return_against_payment, request_against_reversal,
    ],
    ids=lambda one: one.__name__,
)  # fmt: skip
def test_goods_come_back_once(act: Round, long: bool, capsys: pytest.CaptureFixture[str]) -> None:
    before, begun = deadlocks(), time.monotonic()
    winners: Counter[str] = Counter()
    rounds = 500 if long else 5
    for start in range(0, rounds, FRESH):
        at = stage()
        for _ in range(min(FRESH, rounds - start)):
            winners += act(at)
        at.sound()
    if long:
        with capsys.disabled():
            print(f"\n{act.__name__}: {rounds:,} rounds in {time.monotonic() - begun:.0f} s, won {dict(winners)}")
    assert deadlocks() == before
