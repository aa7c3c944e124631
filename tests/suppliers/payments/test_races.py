"""Payments that race for the same balance, the same credit or the same step: real threads, and one of them wins."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.races import race
from tests.suppliers.payments.tills import PATH, Till

ROUNDS = 3


def outcomes(found: list[Any]) -> Counter[str]:
    """Return how often each answer came: the status, and of a refusal its code."""
    assert not [one for one in found if isinstance(one, BaseException)], found
    return Counter(str(one.status_code) if one.status_code < 400 else one.json()["code"] for one in found)


def paying(till: Till, *parts: tuple[str, str], **changes: Any) -> Callable[[], Any]:
    """Return the work of a thread that asks for a payment."""
    return partial(till.client().post, PATH, json=till.body(*parts, **changes))


def confirming(till: Till, key: str, status: str) -> Callable[[], Any]:
    """Return the work of a thread that confirms or cancels a payment."""
    return partial(till.confirm, key, status, api=till.client())


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_payments_of_one_balance(till: Till, _round: int) -> None:
    key = till.invoice("100")

    found = race(*(paying(till, (key, "30")) for _ in range(5)))

    assert outcomes(found) == {"201": 3, "exceeds_balance": 2}
    assert till.balance(key) == ("approved", "90", "0", "100")
    assert till.stored() == [("pending", 1)] * 3


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_offsets_of_one_credit(till: Till, _round: int) -> None:
    source, targets = till.invoice("100"), [till.invoice("100") for _ in range(4)]
    till.paid((source, "100"))
    till.credit(source, "50")

    found = race(*(paying(till, (one, "20"), sources=[(source, "20")]) for one in targets))

    assert outcomes(found) == {"201": 2, "exceeds_balance": 2}
    assert till.balance(source) == ("paid", "0", "100", "-10")
    assert sorted(till.balance(one)[2] for one in targets) == ["0", "0", "20", "20"]
    till.stored()


@pytest.mark.parametrize(
    ("one", "other"),
    [("succeeded", "failed"), ("succeeded", "succeeded"), ("succeeded", "cancel"), ("failed", "cancel")],
)
def test_two_ends_of_one_payment(till: Till, one: str, other: str) -> None:
    key = till.invoice("10")
    made = till.pay((key, "10"))

    first, second = race(confirming(till, made["id"], one), confirming(till, made["id"], other))

    assert sorted((first.status_code, second.status_code)) == [200, 409]
    won, lost = (first, second) if first.status_code == 200 else (second, first)
    is_paid = won.json()["data"]["status"] == "succeeded"
    assert lost.json()["code"] == ("invalid_transition" if is_paid else "payment_final")
    assert till.balance(key) == (("paid", "0", "10", "0") if is_paid else ("approved", "0", "0", "10"))
    assert len(till.facts(till.shelf, "payment")) == 2
    till.stored()


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_two_reversals_give_back_once(till: Till, _round: int) -> None:
    key = till.invoice("10")
    made = till.paid((key, "10"))

    found = race(*(confirming(till, made["id"], "reversed") for _ in range(3)))

    assert outcomes(found) == {"200": 1, "payment_final": 2}
    assert till.balance(key) == ("approved", "0", "0", "10")
    till.stored()


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_a_payment_against_a_credit_note(till: Till, _round: int) -> None:
    key = till.invoice("100")

    paid, _ = race(paying(till, (key, "60")), partial(till.credit, key, "60"))

    if paid.status_code == 201:  # it was there first, and the credit comes on top
        assert till.balance(key) == ("approved", "60", "0", "40")
    else:
        assert paid.json()["code"] == "exceeds_balance"
        assert till.balance(key) == ("approved", "0", "0", "40")
    till.stored()


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_invoices_in_opposite_order_never_lock_each_other(till: Till, _round: int) -> None:
    one, two = till.invoice("100"), till.invoice("100")

    found = race(*(paying(till, *((one, "10"), (two, "10"))[:: 1 if place % 2 else -1]) for place in range(6)))

    assert outcomes(found) == {"201": 6}
    ends = race(*(confirming(till, answer.json()["data"]["id"], "succeeded") for answer in found))
    assert outcomes(ends) == {"200": 6}
    assert [till.balance(key) for key in (one, two)] == [("partially_paid", "0", "60", "40")] * 2
    till.stored()


def test_one_key_makes_one_payment(till: Till) -> None:
    key = till.invoice("100")
    body = till.body((key, "40"))

    def ask() -> Any:
        return till.client().post(PATH, json=body, headers={"Idempotency-Key": "run-17-line-3"})

    found = race(ask, ask, ask)

    assert {one.status_code for one in found} <= {201, 409}
    assert len({one.json()["data"]["id"] for one in found if one.status_code == 201}) == 1
    assert ask().headers["Idempotency-Replayed"] == "true"
    assert till.balance(key) == ("approved", "40", "0", "100")
    assert till.stored() == [("pending", 1)]
