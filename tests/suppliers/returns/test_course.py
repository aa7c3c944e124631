"""Every action in every state of a return, from both sides, as the table of its course has it."""

from itertools import product
from typing import Any

import pytest
from django.db import IntegrityError, connections

from core.db import tenant_context
from core.errors import InvalidTransition
from suppliers.returns.course import STEPS, Who, allowed, require, step_of
from suppliers.returns.states import STORED
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.returns.backs import Back

ACTIONS = {
    "authorize": Who.SUPPLIER, "decline": Who.SUPPLIER, "ship": Who.BUYER, "receive": Who.SUPPLIER, "inspect": Who.SUPPLIER,
    "cancel": Who.BUYER,
}  # fmt: skip


def body_of(back: Back, one: dict[str, Any], action: str) -> tuple[str, dict[str, Any]]:
    """Return the path and the body of an action that nothing but the state keeps from being taken."""
    disposition = "destroy" if one["status"] == "completed" else "quarantine"
    bodies: dict[str, tuple[str, dict[str, Any]]] = {
        "decline": ("authorize", {"decision": "declined", "reason": "Not ours"}),
        "receive": ("receive", {"location_id": str(back.apart)}),
        "inspect": ("inspect", {"lines": [back.disposed(one, disposition)]}),
    }
    return bodies.get(action, (action, {}))


@pytest.mark.parametrize("state", STORED)
def test_a_state_takes_the_actions_of_the_table_and_no_others(back: Back, state: str) -> None:
    for action, who in ACTIONS.items():
        one = back.brought(state)
        path, body = body_of(back, one, action)
        before = back.stored(one["id"])[0]
        answer = back.act(one["id"], path, **body)
        step = step_of(state, action, who)
        after = back.stored(one["id"])[0]
        if step is None:
            problem = refused(answer, 409, "invalid_transition")
            assert (problem["from"], problem["action"], problem["allowed"]) == (state, action, allowed(state, who))
            assert (after.version, after.status) == (before.version, before.status)
            if state in ("requested", "authorized"):
                back.done(one["id"], "cancel")
        else:
            assert answer.status_code == 200, answer.content
            assert (after.status, after.version) == (step.targets[0], before.version + 1)
            told = [told[0] for told in back.told(back.dock.buyer, one["id"])]
            assert told[-len(step.told) :] == [*step.told]


@pytest.mark.parametrize("state", STORED)
def test_the_wrong_side_is_told_so_whatever_the_state(back: Back, state: str) -> None:
    one = back.brought(state)
    for action, who in ACTIONS.items():
        path, body = body_of(back, one, action)
        if who is Who.SUPPLIER:
            assert back.act(one["id"], path, api=back.api, **body).status_code == 403
        else:
            assert back.act(one["id"], path, api=back.supplier, **body).status_code == 403
    assert back.stored(one["id"])[0].status == state


def test_the_database_keeps_the_course(back: Back) -> None:
    one = back.request()
    with (
        tenant_context(back.dock.buyer.id),
        pytest.raises(IntegrityError) as caught,
        connections["default"].cursor() as cursor,
    ):
        cursor.execute(
            "UPDATE suppliers_return SET status = 'received', received_at = now(), shipped_at = now(), decided_at = now()"
            " WHERE tenant_id = %s AND id = %s", [back.dock.buyer.id, one["id"]],
        )  # fmt: skip
    assert "may not go from requested to received" in str(caught.value)


def test_the_table_names_each_action_of_a_state_once() -> None:
    named = [(one.source, one.action, one.who) for one in STEPS]
    assert len(named) == len(set(named))
    for state, action, who in product(STORED, ACTIONS, Who):
        if (state, action, who) not in named:
            with pytest.raises(InvalidTransition):
                require(state, action, who)
