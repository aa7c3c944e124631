"""The table of an invoice's course: every state with every action of both sides, held against model and contract."""

from collections import Counter
from itertools import product

import pytest

from core.clock import now
from core.errors import InvalidTransition
from core.ids import uuid7
from ledger.public import catalogue
from suppliers.invoices import course
from suppliers.invoices.course import NONE, STEPS
from suppliers.invoices.models import Invoice
from suppliers.invoices.states import TERMINAL, InvoiceStatus

ACTIONS = sorted({(one.action, one.who, one.choice) for one in STEPS})
UNANSWERED = ("issued", "matched", "mismatched")
MATCHED = {"matched", "mismatched", "approved"}  # approved at once where it is small enough
ON_CHANGE = ["invoice.matched", "invoice.mismatched", "invoice.approved"]
# "paid when balance_due <= 0": what credit notes have taken off wholly is paid by its release (decision 123).
AGAIN, ON_AGAIN = MATCHED | {"paid"}, [*ON_CHANGE, "invoice.paid"]
RELEASED = ({"approved", "paid"}, ["invoice.approved", "invoice.paid"])
# The rows of the contract, supply-invoice.md 2: from, action, who, what tells ways of one action apart; to, events.
CONTRACT: dict[tuple[str, str, str, str], tuple[set[str], list[str]]] = {
    ("", "issue", "supplier", ""): (MATCHED, ["invoice.issued", *ON_CHANGE]),
    ("", "issue", "supplier", "credit_note"): ({"issued"}, ["credit_note.issued"]),
    ("", "record", "buyer", ""): (MATCHED, ["invoice.issued", *ON_CHANGE]),
    ("", "record", "buyer", "credit_note"): ({"issued"}, ["credit_note.issued"]),
    ("matched", "approve", "buyer", ""): RELEASED,
    ("mismatched", "approve", "buyer", ""): RELEASED,
    ("disputed", "dispute", "buyer", "withdraw"): (AGAIN, ["invoice.dispute_resolved", *ON_AGAIN]),
}
CONTRACT |= {(one, "match", who, ""): (AGAIN, ON_AGAIN) for one in UNANSWERED for who in ("buyer", "system")}
CONTRACT |= {(one, "dispute", "buyer", ""): ({"disputed"}, ["invoice.disputed"]) for one in (*UNANSWERED, "approved")}
for _state, (_action, _who, _to) in product(
    (*UNANSWERED, "disputed"), (("reject", "buyer", "rejected"), ("cancel", "supplier", "cancelled"))
):
    CONTRACT[_state, _action, _who, ""] = ({_to}, [f"invoice.{_to}"])
for _state in ("approved", "partially_paid"):
    CONTRACT[_state, "pay", "system", ""] = ({"partially_paid", "paid"}, ["invoice.paid"])
for _state in ("partially_paid", "paid"):  # payment.reversed is a fact of the payment
    CONTRACT[_state, "reverse", "system", ""] = ({"approved", "partially_paid"}, [])
# "A credit after payment is as good as one before"; whatever matches is matched again, and what is paid off is paid.
CREDITED: dict[str, tuple[set[str], list[str]]] = {
    **dict.fromkeys(UNANSWERED, (AGAIN, ["credit_note.issued", *ON_AGAIN])),
    "disputed": (AGAIN, ["credit_note.issued", "invoice.dispute_resolved", *ON_AGAIN]),
    "approved": ({"approved", "paid"}, ["credit_note.issued", "invoice.paid"]),
    "partially_paid": ({"partially_paid", "paid"}, ["credit_note.issued", "invoice.paid"]),
    "paid": ({"paid"}, ["credit_note.issued"]),
}
CONTRACT |= {(one, "credit", who, ""): of for one, of in CREDITED.items() for who in ("supplier", "system")}
WAYS = {
    "issued": (), "matched": ("matched",), "mismatched": ("mismatched",), "approved": ("matched", "approved"),
    "disputed": ("disputed",), "partially_paid": ("matched", "approved", "partially_paid"),
    "paid": ("matched", "approved", "paid"), "rejected": ("rejected",), "cancelled": ("cancelled",),
}  # fmt: skip


def test_the_table_is_the_contract_s() -> None:
    found = {(one.source, one.action, str(one.who), one.choice): ({*one.targets}, [*one.told]) for one in STEPS}

    assert found == CONTRACT
    assert WAYS.keys() == {*InvoiceStatus.values}


def test_each_action_of_a_side_stands_once_for_a_state() -> None:
    named = Counter((one.source, one.action, one.who, one.choice) for one in STEPS)

    assert max(named.values()) == 1
    assert {name for one in STEPS for name in one.told} <= catalogue().keys()
    assert [one for one in STEPS if one.source in TERMINAL] == []


@pytest.mark.parametrize("state", [NONE, *InvoiceStatus.values])
def test_every_state_with_every_action(state: str) -> None:
    for action, who, choice in ACTIONS:
        known = [one for one in STEPS if (one.source, one.action, one.who, one.choice) == (state, action, who, choice)]
        if known:
            assert course.require(state, action, who, choice) == known[0]
            continue
        with pytest.raises(InvalidTransition) as refused:
            course.require(state, action, who, choice)
        assert refused.value.extra == {
            "from": state, "action": action,
            "allowed": sorted({one.action for one in STEPS if one.source == state and one.who == who}),
        }  # fmt: skip


@pytest.mark.parametrize(("source", "target"), [*product(InvoiceStatus.values, InvoiceStatus.values)])
def test_an_invoice_goes_where_the_table_leads_and_nowhere_else(source: str, target: str) -> None:
    row = Invoice(id=uuid7(), tenant_id=uuid7(), supplier_tenant_id=uuid7(), created_at=now())
    for one in WAYS[source]:
        row.become(one)
    if source == target or any(one.source == source and target in one.targets for one in STEPS):
        row.become(target)
        assert row.status == target
    else:
        with pytest.raises(InvalidTransition):
            row.become(target)
        assert row.status == source
