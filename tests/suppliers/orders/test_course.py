"""The table of an order's course: every state with every action of every role, held against the model and the contract."""

from collections import Counter
from itertools import product

import pytest

from core.clock import now
from core.errors import InvalidTransition
from core.ids import uuid7
from ledger.public import catalogue
from suppliers.orders import course
from suppliers.orders.course import BEFORE, LIMITS, PLACES, STEPS, Place, Step, Who
from suppliers.orders.models import PurchaseOrder
from suppliers.orders.states import TERMINAL, OrderStatus

ACTIONS = sorted({(one.action, one.who, one.choice) for one in STEPS})
# The rows of the contract, supply-order.md 2 "States": from, action (who), to.
CONTRACT = {
    ("draft", "submit", "buyer"): {"pending_approval", "sent", "accepted"},
    ("pending_approval", "approve", "approver"): {
        "pending_approval", "sent", "accepted", "change_proposed",
    },
    ("pending_approval", "reject", "approver"): {"draft", "change_proposed", "sent", "accepted"},
    ("sent", "accept", "supplier"): {"accepted", "change_proposed"},
    ("sent", "items", "supplier"): {"change_proposed"},
    ("change_proposed", "accept", "supplier"): {"change_proposed", "accepted", "sent"},
    ("change_proposed", "items", "supplier"): {"change_proposed"},
    ("change_proposed", "confirm-changes", "buyer"): {
        "accepted", "pending_approval", "cancelled", "sent", "change_proposed",
    },
    ("sent", "propose-changes", "buyer"): {"change_proposed", "pending_approval"},
    ("change_proposed", "propose-changes", "buyer"): {"change_proposed", "pending_approval"},
    ("accepted", "propose-changes", "buyer"): {"change_proposed", "pending_approval", "accepted"},
    ("accepted", "items", "supplier"): {"accepted"},
    ("sent", "reject", "supplier"): {"rejected"},
    ("change_proposed", "reject", "supplier"): {"rejected"},
    ("draft", "cancel", "buyer"): {"cancelled"},
    ("pending_approval", "cancel", "buyer"): {"cancelled"},
    ("sent", "cancel", "buyer"): {"cancelled"},
    ("change_proposed", "cancel", "buyer"): {"cancelled"},
    ("accepted", "cancel", "buyer"): {"cancelled", "accepted"},
    ("accepted", "close", "buyer"): {"closed"},
    ("accepted", "close", "system"): {"closed"},
    ("draft", "update", "buyer"): {"draft"},
}  # fmt: skip
# The events of the same rows, of both sides; at a managed supplier a sent order is accepted at once.
_ACCEPTED, _PROPOSED = {"purchase_order.accepted", "order.accepted"}, {
    "purchase_order.change_proposed", "order.change_proposed",
}  # fmt: skip
_DECLINED = {"purchase_order.change_declined", "order.change_declined"}
_CANCELLED, _REJECTED = {"purchase_order.cancelled", "order.cancelled"}, {"purchase_order.rejected", "order.rejected"}
_CLOSED, _ITEM = {"purchase_order.closed", "order.closed"}, {"order_item.updated"}
_SENT = {"purchase_order.sent", "order.placed", "purchase_order.accepted"}
_ASKED = {"purchase_order.submitted"}  # a change that waits for approvers
TOLD = {
    ("draft", "update"): {"purchase_order.updated"}, ("draft", "submit"): {"purchase_order.submitted"} | _SENT,
    ("draft", "cancel"): {"purchase_order.cancelled"},
    ("pending_approval", "approve"): {"purchase_order.approved"} | _SENT | _ACCEPTED | _PROPOSED,
    ("pending_approval", "reject"): {"purchase_order.approval_rejected"}, ("pending_approval", "cancel"): _CANCELLED,
    ("sent", "accept"): _ACCEPTED | _PROPOSED | _ITEM, ("sent", "items"): _PROPOSED | _ITEM,
    ("sent", "propose-changes"): _PROPOSED | _ASKED, ("sent", "reject"): _REJECTED, ("sent", "cancel"): _CANCELLED,
    ("change_proposed", "accept"): _ACCEPTED | _PROPOSED | _DECLINED | _ITEM,
    ("change_proposed", "items"): _PROPOSED | _ITEM,
    ("change_proposed", "confirm-changes"): _ACCEPTED | _CANCELLED | _DECLINED | _ASKED,
    ("change_proposed", "propose-changes"): _PROPOSED | _ASKED, ("change_proposed", "reject"): _REJECTED,
    ("change_proposed", "cancel"): _CANCELLED, ("accepted", "items"): _ITEM,
    ("accepted", "propose-changes"): _PROPOSED | _ASKED | {"purchase_order.accepted"},
    ("accepted", "cancel"): _CANCELLED | _ITEM, ("accepted", "close"): _CLOSED,
}  # fmt: skip


def order_at(place: Place) -> PurchaseOrder:
    """Return an order in a state, by transitions of the model; it is not stored."""
    row = PurchaseOrder(id=uuid7(), tenant_id=uuid7(), supplier_tenant_id=uuid7(), created_at=now())
    path = {
        OrderStatus.DRAFT: [], OrderStatus.REJECTED: [course.SENT], OrderStatus.CLOSED: [course.SENT, course.ACCEPTED],
    }.get(OrderStatus(place.status), [course.SENT])  # fmt: skip
    for one in [*path, place]:
        row.become(one)
    return row


def test_the_table_is_the_contract_s() -> None:
    found: dict[tuple[str, str, str], set[str]] = {}
    for one in STEPS:
        key = (one.source.status, one.action, str(one.who))
        found.setdefault(key, set()).update(target.status for target in one.targets)

    assert found == CONTRACT


def test_the_table_tells_what_the_contract_names() -> None:
    found: dict[tuple[str, str], set[str]] = {}
    for one in STEPS:
        found.setdefault((one.source.status, one.action), set()).update(one.buyer, one.supplier)

    assert found == TOLD


def test_each_action_of_a_role_stands_once_for_a_state() -> None:
    twins = [
        key
        for key, times in Counter((one.source, one.action, one.who, one.choice) for one in STEPS).items()
        if times > 1
    ]

    assert twins == []
    assert {one.source for one in STEPS} | {Place(state) for state in TERMINAL} == set(PLACES)


@pytest.mark.parametrize("place", PLACES, ids=lambda one: "-".join(filter(None, one)))
def test_every_state_with_every_action(place: Place) -> None:
    for action, who, choice in ACTIONS:
        known = [one for one in STEPS if (one.source, one.action, one.who, one.choice) == (place, action, who, choice)]
        if known:
            assert course.require(place, action, who, choice) == known[0]
            continue
        with pytest.raises(InvalidTransition) as refused:
            course.require(place, action, who, choice)
        extra = refused.value.extra
        is_hidden = who is Who.SUPPLIER and place.status == "pending_approval"
        assert (extra["from"], extra["action"]) == ("change_proposed" if is_hidden else place.status, action)
        assert extra["allowed"] == sorted(
            {one.action for one in STEPS if one.source == place and (one.who is Who.SUPPLIER) == (who is Who.SUPPLIER)}
        )


@pytest.mark.parametrize(("source", "target"), [*product(PLACES, PLACES)])
def test_the_model_goes_where_the_table_leads_and_nowhere_else(source: Place, target: Place) -> None:
    row = order_at(source)
    leads = any(
        one.source.status == source.status and target.status in {to.status for to in one.targets} for one in STEPS
    )
    if source.status == target.status:
        row.become(target)
        assert row.place == target
    elif leads:
        row.become(target)
        assert (row.place, row.status) == (target, target.status)
    else:
        with pytest.raises(InvalidTransition):
            row.become(target)
        assert row.status == source.status


def test_nothing_leaves_a_terminal_state() -> None:
    assert [one for one in STEPS if one.source.status in TERMINAL] == []


def test_events_belong_to_their_sides_and_those_of_offered_actions_are_registered() -> None:
    for one in STEPS:
        assert all(name.startswith(("purchase_order.", "order_item.")) for name in one.buyer), one
        assert all(name.startswith(("order.", "order_item.")) for name in one.supplier), one
        assert {*one.buyer, *one.supplier} <= catalogue().keys(), one


def test_limits_are_refused_wherever_more_is_ordered() -> None:
    def has(step: Step) -> bool:
        return set(LIMITS) <= set(step.refusals)

    assert {(one.source.status, one.action, one.choice) for one in STEPS if has(one)} == {
        ("draft", "submit", ""), ("change_proposed", "confirm-changes", "accept"),
        *((source.status, "propose-changes", "") for source in BEFORE),
    }  # fmt: skip
