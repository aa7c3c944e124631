"""The table of a shipment's course: every state with every action of both sides, held against models and contract."""

from collections import Counter
from itertools import product

import pytest

from core.clock import now
from core.errors import InvalidTransition
from core.ids import uuid7
from ledger.public import catalogue
from suppliers.deliveries import course
from suppliers.deliveries.course import COMPLETED, IN_TRANSIT, LOST, NONE, STEPS, UNDER_WAY
from suppliers.deliveries.models import Delivery
from suppliers.deliveries.shipment_models import ShipmentDraft
from suppliers.deliveries.states import OF_DELIVERY, OF_DRAFT, DeliveryStatus

STATES = (NONE, *DeliveryStatus.values)
ACTIONS = sorted({(one.action, one.who) for one in STEPS})
HANDED_OVER = (*UNDER_WAY, COMPLETED, LOST)
# The rows of the contract, supply-order.md 3: from, action (who), to, events of both sides; and its exceptions.
CONTRACT = {
    ("", "prepare", "supplier"): ({"preparing"}, []),
    ("", "ship", "supplier"): ({"in_transit"}, ["delivery.shipped"]),
    ("preparing", "update", "supplier"): ({"preparing"}, []),
    ("preparing", "in_transit", "supplier"): ({"in_transit"}, ["delivery.shipped"]),
    ("preparing", "cancelled", "supplier"): ({"cancelled"}, ["delivery.cancelled"]),
    ("in_transit", "delivered", "supplier"): ({"delivered"}, ["delivery.delivered"]),
    ("in_transit", "lost", "supplier"): ({"lost"}, ["delivery.lost"]),
    ("in_transit", "lost", "buyer"): ({"lost"}, ["delivery.exception_reported", "delivery.lost"]),
    ("completed", "reverse", "buyer"): ({"partially_received"}, ["delivery.received"]),
    ("partially_received", "reverse", "buyer"): ({"partially_received"}, ["delivery.received"]),
}
RECEIVED = ({"partially_received", "completed"}, ["delivery.received", "delivery.completed"])
CONTRACT |= {(one, "receipts", "buyer"): RECEIVED for one in UNDER_WAY}
CONTRACT |= {(one, "update", "supplier"): ({one}, ["delivery.updated"]) for one in UNDER_WAY}
CONTRACT |= {
    (one, "exceptions", who): ({one}, ["delivery.exception_reported"])
    for one in HANDED_OVER
    for who in ("buyer", "supplier")
}


def test_the_table_is_the_contract_s() -> None:
    found = {(one.source, one.action, str(one.who)): ({*one.targets}, [*one.told, *one.supplier]) for one in STEPS}

    assert found == CONTRACT


def test_each_action_of_a_side_stands_once_for_a_state() -> None:
    twins = [key for key, times in Counter((one.source, one.action, one.who) for one in STEPS).items() if times > 1]

    assert twins == []


@pytest.mark.parametrize("state", STATES)
def test_every_state_with_every_action(state: str) -> None:
    for action, who in ACTIONS:
        known = [one for one in STEPS if (one.source, one.action, one.who) == (state, action, who)]
        if known:
            assert course.require(state, action, who) == known[0]
            continue
        with pytest.raises(InvalidTransition) as refused:
            course.require(state, action, who)
        extra = refused.value.extra
        assert (extra["from"], extra["action"]) == (state, action)
        assert extra["allowed"] == sorted({one.action for one in STEPS if one.source == state and one.who == who})


@pytest.mark.parametrize(("source", "target"), [*product(OF_DELIVERY, OF_DELIVERY)])
def test_a_delivery_goes_where_the_table_leads_and_nowhere_else(source: str, target: str) -> None:
    row = Delivery(id=uuid7(), tenant_id=uuid7(), supplier_tenant_id=uuid7(), created_at=now())
    for one in {IN_TRANSIT: [], COMPLETED: [COMPLETED]}.get(source, [source]):
        row.become(one)
    leads = any(one.source == source and target in one.targets for one in STEPS)
    if source == target or leads:
        row.become(target)
        assert row.status == target
    else:
        with pytest.raises(InvalidTransition):
            row.become(target)
        assert row.status == source


def test_a_draft_ends_or_becomes_a_delivery_that_is_no_draft() -> None:
    row = ShipmentDraft(id=uuid7(), tenant_id=uuid7(), created_at=now())
    with pytest.raises(InvalidTransition):
        row.become(IN_TRANSIT)
    row.become("cancelled")
    assert row.status == "cancelled"
    assert {*OF_DRAFT} | {*OF_DELIVERY} == {*DeliveryStatus.values}


def test_events_of_offered_actions_are_registered() -> None:
    for one in STEPS:
        assert all(name.startswith("delivery.") for name in (*one.told, *one.supplier)), one
        assert {*one.told, *one.supplier} <= catalogue().keys(), one
