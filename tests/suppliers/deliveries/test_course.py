"""The table of a shipment's course: every state with every action of both sides, held against models and contract."""

from collections import Counter
from itertools import product

import pytest

from core.clock import now
from core.errors import InvalidTransition
from core.ids import uuid7
from ledger.public import catalogue
from suppliers.deliveries import course
from suppliers.deliveries.course import COMPLETED, IN_TRANSIT, LOST, NONE, PREPARING, STEPS, UNDER_WAY, Who
from suppliers.deliveries.models import Delivery
from suppliers.deliveries.shipment_models import ShipmentDraft
from suppliers.deliveries.states import OF_DELIVERY, OF_DRAFT, DeliveryStatus
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.deliveries.shipping import (
    DELIVERIES,
    deliveries,
    facts,
    patch,
    placed,
    prepared,
    receiver,
    shipped,
)

STATES = (NONE, *DeliveryStatus.values)
ACTIONS = sorted({(one.action, one.who) for one in STEPS})
# The rows of the contract, supply-order.md 3: from, action (who), to.
CONTRACT = {
    ("", "prepare", "supplier"): {"preparing"},
    ("", "ship", "supplier"): {"in_transit"},
    ("preparing", "update", "supplier"): {"preparing"},
    ("preparing", "in_transit", "supplier"): {"in_transit"},
    ("preparing", "cancelled", "supplier"): {"cancelled"},
    ("in_transit", "delivered", "supplier"): {"delivered"},
    ("in_transit", "lost", "supplier"): {"lost"},
    ("in_transit", "lost", "buyer"): {"lost"},
    ("completed", "reverse", "buyer"): {"partially_received"},
    ("partially_received", "reverse", "buyer"): {"partially_received"},
} | {(one, "receipts", "buyer"): {"partially_received", "completed"} for one in UNDER_WAY}
BESIDE = {"update", "exceptions"}  # keep the state


def test_the_table_is_the_contract_s() -> None:
    found = {
        (one.source, one.action, str(one.who)): {*one.targets}
        for one in STEPS
        if one.action not in BESIDE or one.source == PREPARING
    }

    assert found == CONTRACT
    assert all(one.targets == (one.source,) for one in STEPS if one.action in BESIDE)


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


# What the addresses ask of a shipment in each state that can be reached today, by the word of the action.
BODIES = {
    "update": {"carrier": "UPS"}, "in_transit": {"status": "in_transit"}, "cancelled": {"status": "cancelled"},
    "delivered": {"status": "delivered"}, "lost": {"status": "lost"}, "exceptions": {"exception": {"type": "delayed"}},
}  # fmt: skip
REACHED = {PREPARING: [], "cancelled": ["cancelled"], IN_TRANSIT: [], "delivered": ["delivered"], LOST: ["lost"]}


@pytest.mark.parametrize(("state", "action"), [*product(REACHED, BODIES)])
def test_every_action_of_the_supplier_over_http(trade: Trade, state: str, action: str) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order = placed(trade, (trade.gloves, 10))
    key = (prepared if state in OF_DRAFT else shipped)(trade, order, 500)["id"]
    for one in REACHED[state]:
        assert patch(trade, order, key, status=one).status_code == 200
    step = course.step_of(state, action, Who.SUPPLIER)
    before = (len(facts(trade, trade.shelf)), len(facts(trade, trade.buyer)))

    answer = patch(trade, order, key, **BODIES[action])

    told = (len(facts(trade, trade.shelf)) - before[0], len(facts(trade, trade.buyer)) - before[1])
    if step is None:
        found = answer.json()
        assert (answer.status_code, found["code"], found["from"]) == (409, "invalid_transition", state), answer.content
        assert found["allowed"] == course.allowed(state, Who.SUPPLIER)
        assert told == (0, 0)
        return
    assert (answer.status_code, answer.json()["data"]["status"]) == (200, step.targets[0]), answer.content
    assert told == (len(step.told) + len(step.supplier), len(step.told))
    trade.stored()


@pytest.mark.parametrize("state", [IN_TRANSIT, "delivered", LOST])
def test_a_buyer_reports_in_every_state_that_can_be_reached(trade: Trade, state: str) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order = placed(trade, (trade.gloves, 10))
    key = shipped(trade, order, 500)["id"]
    for one in REACHED[state]:
        assert patch(trade, order, key, status=one).status_code == 200

    answer = receiver(trade).post(f"{DELIVERIES}/{key}/exceptions", json={"type": "damaged"})

    assert (answer.status_code, answer.json()["data"]["status"]) == (201, state), answer.content
    assert deliveries(trade) == [(state, 1)]
