"""Every state of an invoice with every action of both sides over HTTP, made of the table of its course.

What the table has happens and is told to both; what it has not is 409 with from, action and allowed, and nothing changes.
"""

from typing import Any

import pytest

from suppliers.invoices.course import CREDIT, PAY, REVERSE, STEPS, Who, allowed, step_of
from suppliers.invoices.states import InvoiceStatus
from tests import factories
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.invoices.standing import ASKED, Standing

STEPPED = [(one.source, one.action, one.who, one.choice) for one in STEPS if (one.action, one.who, one.choice) in ASKED]


@pytest.mark.parametrize("state", InvoiceStatus.values)
def test_what_the_table_does_not_have_is_refused_and_changes_nothing(desk: Desk, state: str) -> None:
    at = Standing(desk, state)
    before, tried = at.kept(), 0

    for action, who, choice in ASKED:
        if step_of(state, action, who, choice) or (action == REVERSE and not at.payment):
            continue
        answer, tried = at.ask(action, choice), tried + 1
        if action == PAY:  # a payment is refused for its own reasons
            refused(answer, 409, "exceeds_balance" if state == "paid" else "invoice_not_approved")
            continue
        found = refused(answer, 409, "invalid_transition")
        assert (found["from"], found["action"], found["allowed"]) == (state, action, allowed(state, who))

    assert tried > 0
    assert at.kept() == before


@pytest.mark.parametrize(("state", "action", "who", "choice"), STEPPED)
def test_what_the_table_has_happens_and_is_told(desk: Desk, state: str, action: str, who: Who, choice: str) -> None:
    at = Standing(desk, state)
    step = step_of(state, action, who, choice)
    assert step is not None
    before = at.news()

    answer = at.ask(action, choice)

    assert answer.status_code == (201 if action == CREDIT else 200), answer.content
    assert at.status in step.targets
    buyer, supplier = (now[len(then) :] for now, then in zip(at.news(), before, strict=True))
    assert buyer == supplier
    assert [name for name in step.told if name in buyer] == buyer  # in the order of the table
    if action not in ("match", PAY, REVERSE):  # these tell of a change only
        assert buyer[0] == step.told[0]
    desk.stored()


@pytest.mark.parametrize("state", InvoiceStatus.values)
def test_the_other_party_and_strangers_take_no_action(desk: Desk, state: str) -> None:
    at = Standing(desk, state)
    buyer, shelf = desk.dock.buyer, desk.dock.shelf
    other = {Who.BUYER: shelf.api, Who.SYSTEM: shelf.api, Who.SUPPLIER: desk.approver}
    # Members whose scopes are those of the other side are told that the side is wrong.
    both = factories.as_member(buyer.tenant, ["finance", "supplier_admin"])
    strangers = {
        Who.BUYER: factories.as_member(shelves.buyer().tenant, ["finance"]),
        Who.SUPPLIER: shelves.shelf().api,
    }
    before = at.kept()

    for action, who, choice in ASKED:
        if action == REVERSE and not at.payment:
            continue
        answer = at.ask(action, choice, api=other[who])
        assert (answer.status_code, answer.json()["code"]) in _WRONG[who], (action, answer.content)
        if who in strangers and action != PAY:
            refused(at.ask(action, choice, api=strangers[who]), 404, "not_found")
    refused(at.ask("cancel", api=both), 403, "counterparty_only")

    assert at.kept() == before


_WRONG: dict[Who, set[tuple[int, str]]] = {
    Who.BUYER: {(403, "insufficient_scope")}, Who.SYSTEM: {(403, "insufficient_scope")},
    Who.SUPPLIER: {(403, "insufficient_scope")},
}  # fmt: skip


@pytest.mark.parametrize("action", ["match", "approve", "dispute", "reject", "cancel"])
def test_a_credit_note_takes_no_action(desk: Desk, action: str) -> None:
    order = desk.arrived(60)
    note = desk.credit(order, desk.issue(order, 60), 10)
    at: Any = Standing.__new__(Standing)
    at.desk, at.made, at.order = desk, note, order
    before = at.kept()

    found = refused(at.ask(action), 409, "invalid_transition")

    assert (found["from"], found["action"], found["allowed"]) == ("issued", action, [])
    assert at.kept() == before


@pytest.mark.parametrize("paid", [False, True])
def test_what_is_held_or_paid_is_not_disputed(desk: Desk, paid: bool) -> None:
    at = Standing(desk, "approved")
    held = at.till.pay((at.made["id"], "1"))
    if paid:
        at.till.settled(held["id"], "processing")
    before = at.kept()

    found = refused(at.ask("dispute"), 409, "invalid_transition")

    assert (found["from"], found["action"], found["allowed"]) == ("approved", "dispute", [])
    assert at.kept() == before
    at.till.settled(held["id"], "failed")
    assert at.ask("dispute").json()["data"]["status"] == "disputed"
