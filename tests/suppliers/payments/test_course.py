"""The table of a payment's course: every state with every action, held against model and contract, and over HTTP from both sides."""

from collections import Counter
from itertools import product

import pytest

from core.clock import now
from core.errors import InvalidTransition
from core.ids import uuid7
from ledger.public import catalogue
from suppliers.payments import course
from suppliers.payments.course import CANCEL, NONE, PENDING, STEPS
from suppliers.payments.models import Payment
from suppliers.payments.refusals import PaymentFinal
from suppliers.payments.states import FINAL, PaymentStatus
from tests import factories
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.payments.tills import Till
from tests.suppliers.snapshots import everything

ACTIONS = (*course.OUTCOMES, CANCEL)
# The rows of the contract, supply-invoice.md 3: from, action, to, events.
CONTRACT = {
    ("", "create", ""): ("pending", ("payment.created",)),
    ("", "create", "offset"): ("succeeded", ("payment.created", "payment.succeeded")),
    ("pending", "processing", ""): ("processing", ("payment.processing",)),
    ("pending", "succeeded", ""): ("succeeded", ("payment.succeeded",)),
    ("processing", "succeeded", ""): ("succeeded", ("payment.succeeded",)),
    ("pending", "failed", ""): ("failed", ("payment.failed",)),
    ("processing", "failed", ""): ("failed", ("payment.failed",)),
    ("pending", "cancel", ""): ("cancelled", ("payment.cancelled",)),
    ("succeeded", "reversed", ""): ("reversed", ("payment.reversed",)),
}
WAYS = {
    "pending": (), "processing": ("processing",), "succeeded": ("succeeded",), "failed": ("failed",), "cancelled": ("cancel",),
    "reversed": ("succeeded", "reversed"),
}  # fmt: skip


def test_the_table_is_the_contract_s() -> None:
    assert {(one.source, one.action, one.choice): (one.target, one.told) for one in STEPS} == CONTRACT
    assert max(Counter((one.source, one.action, one.choice) for one in STEPS).values()) == 1
    assert {name for one in STEPS for name in one.told} <= catalogue().keys()
    assert WAYS.keys() == {*PaymentStatus.values}


@pytest.mark.parametrize("state", [NONE, *PaymentStatus.values])
def test_every_state_with_every_action(state: str) -> None:
    for action in ACTIONS:
        if step := course.step_of(state, action):
            assert course.require(state, action) == step
            continue
        with pytest.raises(InvalidTransition) as refusal:
            course.require(state, action)
        assert isinstance(refusal.value, PaymentFinal) == (state in FINAL)
        assert refusal.value.extra == {
            "from": state, "action": action, "allowed": sorted({one.action for one in STEPS if one.source == state}),
        }  # fmt: skip


@pytest.mark.parametrize(("source", "target"), [*product(PaymentStatus.values, PaymentStatus.values)])
def test_a_payment_goes_where_the_table_leads_and_nowhere_else(source: str, target: str) -> None:
    row = Payment(id=uuid7(), tenant_id=uuid7(), supplier_tenant_id=uuid7(), created_at=now())
    for one in WAYS[source]:
        row.become({"cancel": "cancelled"}.get(one, one))
    if any((one.source, one.target) == (source, target) for one in STEPS):
        row.become(target)
        assert row.status == target
    else:
        with pytest.raises(InvalidTransition):
            row.become(target)
        assert row.status == source


@pytest.mark.parametrize("state", PaymentStatus.values)
def test_every_action_over_http(till: Till, state: str) -> None:
    """Each action on a payment of its own in the state: it leads where the table says, or changes nothing on either side."""
    for action in ACTIONS:
        key = till.invoice("10")
        made = till.pay((key, "10"))
        till.settled(made["id"], *WAYS[state])
        told_before = [len(till.facts(one, "payment")) for one in (till.buyer, till.shelf)]
        before = everything(till.buyer, till.shelf)

        answer = till.confirm(made["id"], action)

        step = course.step_of(state, action)
        told = [till.facts(one, "payment")[at:] for one, at in zip((till.buyer, till.shelf), told_before, strict=True)]
        if step is None:
            found = refused(answer, 409, "payment_final" if state in FINAL else "invalid_transition")
            assert (found["from"], found["action"], found["allowed"]) == (state, action, course.allowed(state))
            assert everything(till.buyer, till.shelf) == before
        else:
            assert (answer.status_code, answer.json()["data"]["status"]) == (200, step.target), answer.content
            assert told == [[(step.told[0], step.target)]] * 2
    till.stored()


@pytest.mark.parametrize("state", PaymentStatus.values)
def test_a_supplier_takes_no_action(till: Till, state: str) -> None:
    made = till.pay((till.invoice("10"), "10"))
    till.settled(made["id"], *WAYS[state])
    key = till.invoice("10")
    stranger = factories.as_member(factories.provision("provider"), ["finance"])
    seller = factories.as_member(factories.provision("provider", also=("supplier",)), ["finance", "supplier_admin"])
    before = everything(till.buyer, till.shelf)

    for action in ACTIONS:
        refused(till.confirm(made["id"], action, api=till.shelf.api), 403, "insufficient_scope")
        for other in (stranger, seller):
            refused(till.confirm(made["id"], action, api=other), 404, "not_found")
    refused(till.post((key, "10"), api=till.shelf.api), 403, "insufficient_scope")
    assert everything(till.buyer, till.shelf) == before
    till.stored()


@pytest.mark.parametrize(("outcome", "left"), [("failed", PENDING), ("cancel", PENDING), ("reversed", "succeeded")])
def test_what_was_given_back_can_be_paid_anew(till: Till, outcome: str, left: str) -> None:
    key = till.invoice("10")
    first = till.pay((key, "10"))
    refused(till.post((key, "0.01")), 409, "exceeds_balance")
    if outcome == "reversed":
        till.settled(first["id"], "succeeded")
        assert till.balance(key) == ("paid", "0", "10", "0")

    till.settled(first["id"], outcome)

    assert till.balance(key) == ("approved", "0", "0", "10")
    till.paid((key, "10"))
    assert till.balance(key) == ("paid", "0", "10", "0")
    till.stored()
