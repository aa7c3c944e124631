"""Bills, payments and credit that meet: each cent is held, paid and used once, whoever comes first, and no lock waits for another.

Each round races on an order of its own. `--long` runs many more rounds.
"""

import time
from collections import Counter
from collections.abc import Callable
from decimal import Decimal

import pytest

from core.clock import now
from organizations.received.rebuilding import rebuild
from tests.races import race
from tests.suppliers.orders.proof.fair import INVOICES, PAYMENTS, asked
from tests.suppliers.orders.proof.market import receive
from tests.suppliers.orders.proof.meeting import deadlocks, meet, told, won
from tests.suppliers.orders.proof.stages import GROSS, UNITS, Stage, stage, worth

pytestmark = pytest.mark.untraced
FRESH = 25  # orders of one pair of parties
Round = Callable[[Stage], Counter[str]]
ZERO = Decimal(0)


def two_payments_of_one_balance(at: Stage) -> Counter[str]:
    (_, key), apis = at.approved(), [at.payer(), at.payer()]
    body = at.pays((key, Decimal("30.00")))
    found = meet(one=lambda: apis[0].post(PAYMENTS, json=body), other=lambda: apis[1].post(PAYMENTS, json=body))
    assert sorted(map(told, found.values())) == ["", "exceeds_balance"]
    assert at.money(key) == ("approved", ZERO, Decimal(30), ZERO, GROSS)
    return won(found)


def two_uses_of_one_credit(at: Stage) -> Counter[str]:
    order, source = at.approved()
    at.paid((source, GROSS))
    credit = at.fair.seller(order, "invoices", **at.note(order, source, 60))
    assert credit.status_code == 201, credit.content
    targets, apis = [at.approved()[1] for _ in range(2)], [at.payer(), at.payer()]
    bodies = [at.pays((one, Decimal(20)), sources=[(source, Decimal(20))]) for one in targets]
    found = meet(
        one=lambda: apis[0].post(PAYMENTS, json=bodies[0]), other=lambda: apis[1].post(PAYMENTS, json=bodies[1])
    )
    assert sorted(map(told, found.values())) == ["", "exceeds_balance"]
    left = worth(60) - 20
    assert at.money(source) == ("paid", worth(60), ZERO, GROSS, -left)
    assert sorted(at.money(one)[3] for one in targets) == [0, 20]
    return won(found)


def credit_against_reversal(at: Stage) -> Counter[str]:
    """The payment that has made a credit is taken back while the credit is used."""
    order, source = at.approved()
    payment = at.paid((source, GROSS))
    assert at.fair.seller(order, "invoices", **at.note(order, source, 60)).status_code == 201
    (_, target), apis = at.approved(), [at.payer(), at.payer()]
    body = at.pays((target, Decimal(20)), sources=[(source, Decimal(20))])
    found = meet(
        used=lambda: apis[0].post(PAYMENTS, json=body),
        reversed=lambda: asked(apis[1], PAYMENTS, payment, "confirm", status="reversed"),
    )
    assert told(found["reversed"]) == ""
    assert told(found["used"]) in ("", "exceeds_balance")
    used = 20 if won(found)["used"] else 0
    assert at.money(source) == ("approved", worth(60), ZERO, ZERO, GROSS - worth(60) + used)
    assert at.money(target)[3] == used
    return won(found)


def confirm_against_reverse(at: Stage) -> Counter[str]:
    (_, key), apis = at.approved(), [at.payer(), at.payer()]
    payment = at.paid((key, GROSS), outcome="")
    found = meet(
        confirmed=lambda: asked(apis[0], PAYMENTS, payment, "confirm", status="succeeded"),
        reversed=lambda: asked(apis[1], PAYMENTS, payment, "confirm", status="reversed"),
    )
    assert told(found["confirmed"]) == ""
    assert told(found["reversed"]) in ("", "invalid_transition")
    is_back = won(found)["reversed"] == 1
    assert at.money(key) == (("approved", ZERO, ZERO, ZERO, GROSS) if is_back else ("paid", ZERO, ZERO, GROSS, ZERO))
    return won(found)


def payment_against_dispute(at: Stage) -> Counter[str]:
    (_, key), apis = at.approved(), [at.payer(), at.payer()]
    body = at.pays((key, GROSS))
    found = meet(
        paid=lambda: apis[0].post(PAYMENTS, json=body),
        disputed=lambda: asked(apis[1], INVOICES, key, "dispute", reason_code="price"),
    )
    assert sorted(map(told, found.values())) in (["", "invalid_transition"], ["", "invoice_not_approved"])
    is_paid = won(found)["paid"] == 1
    assert at.money(key)[:3] == (("approved", ZERO, GROSS) if is_paid else ("disputed", ZERO, ZERO))
    return won(found)


def match_against_receipt(at: Stage) -> Counter[str]:
    order, delivery = at.shipped()
    key, apis, part = at.invoiced(order), [at.payer()], at.part(delivery)
    assert at.money(key)[0] == "mismatched"
    found = meet(
        matched=lambda: asked(apis[0], INVOICES, key, "match"),
        received=lambda: receive(at.house, delivery, {"delivery_line_id": part, "accepted_quantity": UNITS}),
    )
    assert [*map(told, found.values())] == ["", ""]
    assert at.money(key)[0] == "matched"
    return won(found)


def approval_against_reversal(at: Stage) -> Counter[str]:
    """Goods of an invoice that is released are not reversed; and what was reversed is not released without a reason."""
    order, delivery = at.received()
    key, apis, first = at.invoiced(order), [at.payer()], at.house.receipts()[-1]
    found = meet(
        approved=lambda: asked(apis[0], INVOICES, key, "approve"),
        reversed=lambda: receive(at.house, delivery, reverses=str(first.id)),
    )
    assert won(found).total() == 1, found
    is_approved = won(found)["approved"] == 1
    assert at.money(key)[0] == ("approved" if is_approved else "mismatched")
    assert at.house.lines(order)[0].received == (UNITS if is_approved else 0)
    return won(found)


def match_against_reversal(at: Stage) -> Counter[str]:
    order, delivery = at.received()
    key, apis, first = at.invoiced(order), [at.payer()], at.house.receipts()[-1]
    found = meet(
        matched=lambda: asked(apis[0], INVOICES, key, "match"),
        reversed=lambda: receive(at.house, delivery, reverses=str(first.id)),
    )
    assert [*map(told, found.values())] == ["", ""]
    assert at.money(key)[0] == "mismatched"
    return won(found)


def approval_against_credit(at: Stage) -> Counter[str]:
    """Whoever comes first, an invoice that is credited wholly is released with nothing left to pay."""
    order, _ = at.received()
    key, apis = at.invoiced(order), [at.payer(), at.seller()]
    body = at.note(order, key, UNITS)
    found = meet(
        approved=lambda: asked(apis[0], INVOICES, key, "approve"),
        credited=lambda: apis[1].post(f"/v1/orders/{order}/invoices", json=body),
    )
    assert [*map(told, found.values())] == ["", ""]
    assert at.money(key) == ("paid", GROSS, ZERO, ZERO, ZERO)
    return won(found)


def approval_against_refusal(at: Stage) -> Counter[str]:
    order, _ = at.received()
    key, apis = at.invoiced(order), [at.payer(), at.payer(), at.seller()]
    found = meet(
        approved=lambda: asked(apis[0], INVOICES, key, "approve"),
        rejected=lambda: asked(apis[1], INVOICES, key, "reject", reason="Wrong"),
        cancelled=lambda: asked(apis[2], INVOICES, key, "cancel", reason="Wrong"),
    )
    assert sorted(map(told, found.values())) == ["", "invalid_transition", "invalid_transition"]
    assert won(found)[at.money(key)[0]] == 1
    assert at.house.lines(order)[0].invoiced == (UNITS if won(found)["approved"] else 0)
    return won(found)


def two_credit_notes_of_the_same_units(at: Stage) -> Counter[str]:
    (order, key), apis = at.approved(), [at.seller(), at.seller()]
    bodies, path = [at.note(order, key, 70) for _ in range(2)], f"/v1/orders/{order}/invoices"
    found = meet(one=lambda: apis[0].post(path, json=bodies[0]), other=lambda: apis[1].post(path, json=bodies[1]))
    assert sorted(map(told, found.values())) == ["", "credit_exceeds_invoice"]
    assert at.money(key) == ("approved", worth(70), ZERO, ZERO, GROSS - worth(70))
    assert at.house.lines(order)[0].invoiced == 50
    return won(found)


def payment_against_credit(at: Stage) -> Counter[str]:
    """An amount that is held stays held when a credit comes, and leaves credit behind; one that comes later is too much."""
    (order, key), apis = at.approved(), [at.payer(), at.seller()]
    body, note = at.pays((key, GROSS)), at.note(order, key, 60)
    found = meet(
        paid=lambda: apis[0].post(PAYMENTS, json=body),
        credited=lambda: apis[1].post(f"/v1/orders/{order}/invoices", json=note),
    )
    assert told(found["credited"]) == ""
    assert told(found["paid"]) in ("", "exceeds_balance")
    held = GROSS if won(found)["paid"] else ZERO
    assert at.money(key) == ("approved", worth(60), held, ZERO, GROSS - worth(60))
    return won(found)


def actions_against_rebuilding(at: Stage) -> Counter[str]:
    """Copies are rewritten under the locks of their owner's rows, whose order all invoices of an order keep."""
    order, _ = at.received()
    lines = [at.line(order, UNITS // 3) for _ in range(3)]
    keys = [at.fair.bill(order, line).json()["data"]["id"] for line in lines]
    apis = [at.payer(), at.payer()]

    def rebuilt() -> None:
        for _ in range(3):
            rebuild(at.fair.shelf.id, now)

    found = race(
        rebuilt,
        *(
            lambda api=api, key=key: [asked(api, INVOICES, key, "match") for _ in range(4)]
            for api, key in zip(apis, keys[1:], strict=True)
        ),
    )
    assert found[0] is None, found
    assert [one.status_code for of in found[1:] for one in of] == [200] * 8
    return Counter(rebuilt=1)


@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    "act",
    [
        two_payments_of_one_balance, two_uses_of_one_credit, credit_against_reversal, confirm_against_reverse,
        payment_against_dispute, match_against_receipt, approval_against_reversal, match_against_reversal,
        approval_against_credit, approval_against_refusal, two_credit_notes_of_the_same_units, payment_against_credit,
        actions_against_rebuilding,
    ],
    ids=lambda one: one.__name__,
)  # fmt: skip
def test_money_is_right_whoever_comes_first(act: Round, long: bool, capsys: pytest.CaptureFixture[str]) -> None:
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
