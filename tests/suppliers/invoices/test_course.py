"""Every state of an invoice with every action of both sides, against the table of its course."""

from typing import Any

import pytest

from suppliers.invoices.course import Who, allowed, step_of
from suppliers.invoices.states import InvoiceStatus
from tests.suppliers.invoices.bills import Desk

ACTIONS: dict[str, tuple[Who, dict[str, Any]]] = {
    "match": (Who.BUYER, {}),
    "approve": (Who.BUYER, {}),
    "dispute": (Who.BUYER, {"reason_code": "other"}),
    "reject": (Who.BUYER, {"reason": "No"}),
    "cancel": (Who.SUPPLIER, {"reason": "No"}),
}
STATES = ("matched", "mismatched", "approved", "disputed", "rejected", "cancelled")


def _in_state(desk: Desk, state: str) -> dict[str, Any]:
    order = desk.arrived(60)
    made = desk.issue(order, desk.line(order, 1, 60, **({"unit_price": "99999"} if state == "mismatched" else {})))
    taken = {"approved": "approve", "disputed": "dispute", "rejected": "reject", "cancelled": "cancel"}.get(state)
    if taken:
        desk.did(made, taken, **ACTIONS[taken][1])
    read = desk.read(made)
    assert read["status"] == state
    return made


@pytest.mark.parametrize("state", STATES)
def test_actions_that_the_state_does_not_allow_change_nothing(desk: Desk, state: str) -> None:
    made = _in_state(desk, state)
    before = desk.read(made)

    for action, (who, body) in ACTIONS.items():
        if step_of(state, action, who):
            continue
        answer = desk.act(made, action, **body)
        found = answer.json()
        told = (answer.status_code, found["code"], found["from"], found["action"], sorted(found["allowed"]))
        assert told == (409, "invalid_transition", state, action, allowed(state, who))
    assert desk.read(made) == before


@pytest.mark.parametrize("action", [*ACTIONS])
def test_the_other_party_takes_no_action(desk: Desk, action: str) -> None:
    made = _in_state(desk, "matched")
    who, body = ACTIONS[action]
    other = desk.supplier if who == Who.BUYER else desk.approver

    answer = desk.act(made, action, api=other, **body)

    assert answer.status_code == 403, answer.content
    assert desk.read(made)["status"] == InvoiceStatus.MATCHED


def test_a_credit_note_takes_no_action(desk: Desk) -> None:
    order = desk.arrived(60)
    note = desk.credit(order, desk.issue(order, 60), 10)

    for action, (_, body) in ACTIONS.items():
        answer = desk.act(note, action, **body)
        assert (answer.status_code, answer.json()["code"]) == (409, "invalid_transition"), action
