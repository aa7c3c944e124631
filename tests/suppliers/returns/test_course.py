"""Every action in every state of a return, from both sides, as the table of its course has it."""

from itertools import product
from typing import Any

import pytest
from django.db import IntegrityError, connections

from core.clock import now
from core.db import tenant_context
from core.errors import InvalidTransition
from core.ids import uuid7
from ledger.public import catalogue
from suppliers.returns.course import STEPS, Who, allowed, require, step_of
from suppliers.returns.models import Return
from suppliers.returns.states import STORED
from tests import factories
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.returns.backs import Back
from tests.suppliers.snapshots import everything, told

# The rows of the contract, supply-invoice.md 4: from, action, who; to, events of both sides.
CONTRACT: dict[tuple[str, str, str], tuple[set[str], list[str]]] = {
    ("", "request", "buyer"): ({"requested", "authorized"}, ["return.requested", "return.authorized"]),
    ("requested", "authorize", "supplier"): ({"authorized"}, ["return.authorized"]),
    ("requested", "decline", "supplier"): ({"declined"}, ["return.declined"]),
    ("authorized", "ship", "buyer"): ({"in_transit"}, ["return.shipped"]),
    ("in_transit", "receive", "supplier"): ({"received"}, ["return.received"]),
    ("received", "inspect", "supplier"): ({"completed"}, ["return.inspected", "return.completed"]),
    ("completed", "inspect", "supplier"): ({"completed"}, ["return.inspected"]),
    ("requested", "cancel", "buyer"): ({"cancelled"}, ["return.cancelled"]),
    ("authorized", "cancel", "buyer"): ({"cancelled"}, ["return.cancelled"]),
}
WAYS = {
    "requested": (), "authorized": ("authorized",), "declined": ("declined",), "cancelled": ("cancelled",),
    "in_transit": ("authorized", "in_transit"), "received": ("authorized", "in_transit", "received"),
    "completed": ("authorized", "in_transit", "received", "completed"),
}  # fmt: skip
ACTIONS = {
    "authorize": Who.SUPPLIER, "decline": Who.SUPPLIER, "ship": Who.BUYER, "receive": Who.SUPPLIER, "inspect": Who.SUPPLIER,
    "cancel": Who.BUYER,
}  # fmt: skip


def sides(back: Back) -> tuple[Any, Any]:
    """Return both parties."""
    return back.dock.buyer, back.dock.shelf


def test_the_table_is_the_contract_s() -> None:
    assert {(one.source, one.action, str(one.who)): ({*one.targets}, [*one.told]) for one in STEPS} == CONTRACT
    assert {name for one in STEPS for name in one.told} <= catalogue().keys()
    assert WAYS.keys() == {*STORED}


@pytest.mark.parametrize(("source", "target"), [*product(WAYS, WAYS)])
def test_a_return_goes_where_the_table_leads_and_nowhere_else(source: str, target: str) -> None:
    row = Return(id=uuid7(), tenant_id=uuid7(), supplier_tenant_id=uuid7(), created_at=now())
    for one in WAYS[source]:
        row.become(one)
    if source == target or any(one.source == source and target in one.targets for one in STEPS):
        row.become(target)
        assert row.status == target
    else:
        with pytest.raises(InvalidTransition):
            row.become(target)
        assert row.status == source


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
        kept, told_before = everything(*sides(back)), [told(side, "return") for side in sides(back)]
        answer = back.act(one["id"], path, **body)
        step = step_of(state, action, who)
        after = back.stored(one["id"])[0]
        if step is None:
            problem = refused(answer, 409, "invalid_transition")
            assert (problem["from"], problem["action"], problem["allowed"]) == (state, action, allowed(state, who))
            assert everything(*sides(back)) == kept
            if state in ("requested", "authorized"):
                back.done(one["id"], "cancel")
        else:
            assert answer.status_code == 200, answer.content
            assert (after.status, after.version) == (step.targets[0], before.version + 1)
            news = [told(side, "return")[len(then) :] for side, then in zip(sides(back), told_before, strict=True)]
            assert news == [[*step.told]] * 2


@pytest.mark.parametrize("state", STORED)
def test_the_wrong_side_is_told_so_whatever_the_state(back: Back, state: str) -> None:
    one = back.brought(state)
    both = factories.as_member(back.dock.buyer.tenant, ["buyer", "supplier_admin"])
    strangers = {Who.BUYER: shelves.buyer().api, Who.SUPPLIER: shelves.shelf().api}
    kept = everything(*sides(back))
    for action, who in ACTIONS.items():
        path, body = body_of(back, one, action)
        other = back.api if who is Who.SUPPLIER else back.supplier
        refused(back.act(one["id"], path, api=other, **body), 403, "insufficient_scope")
        refused(back.act(one["id"], path, api=strangers[who], **body), 404, "not_found")
        if who is Who.SUPPLIER:
            refused(back.act(one["id"], path, api=both, **body), 403, "counterparty_only")
    assert everything(*sides(back)) == kept
    back.stored(one["id"])


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
