"""Facts and their subscribers: inside the transaction, and after it at least once."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

import pytest

from core import clock
from core.actor import system_actor
from core.db import role_context, tenant_context
from core.ids import uuid7
from core.lanes import lanes
from core.row_security import DISPATCHER
from ledger import registry, relay
from ledger.models import Event, Pending
from ledger.public import EventType, UnknownEventType, after_commit, record, register, subscribe
from tests import factories

pytestmark = pytest.mark.usefixtures("each_number_of_lanes")

heard: list[Event] = []
inside: list[Event] = []
failing: set = set()


@register
@dataclass(frozen=True)
class SampleTaken(EventType):
    """A fact only these tests record."""

    type: ClassVar[str] = "relay_sample.taken"
    resource: ClassVar[str] = "relay_sample"
    amount: int = 1


@after_commit("tests.relay", types=["relay_sample.taken"])
def hear(event: Event) -> None:
    if event.tenant_id in failing:
        raise ZeroDivisionError
    heard.append(event)


subscribe(inside.extend, types=["relay_sample.taken"])


@register
@dataclass(frozen=True)
class SampleMeasured(EventType):
    """A fact whose figures not every tenant is told."""

    type: ClassVar[str] = "relay_sample.measured"
    resource: ClassVar[str] = "relay_sample"
    figures: ClassVar[tuple[str, ...]] = ("weight",)
    weight: str = ""


@register
@dataclass(frozen=True)
class SampleSorted(EventType):
    """A fact of which a subscriber wants some."""

    type: ClassVar[str] = "relay_sample.sorted"
    resource: ClassVar[str] = "relay_sample"
    amount: int = 1


chosen: list[Event] = []
after_commit("tests.chosen", types=["relay_sample.sorted"], concerned=lambda fact: fact.data["amount"] > 1)(
    chosen.append
)
measured: list[Event] = []
after_commit("tests.measured", types=["relay_sample.measured"], measured=True)(measured.append)


@pytest.fixture
def tenant():
    return factories.provision()


def tell(tenant, amount=1):
    with tenant_context(tenant.id):
        return record(
            actor=system_actor(tenant.id), event=SampleTaken(amount=amount), resource_id=uuid7(), at=clock.now()
        )


def mine(events, tenant):
    return [event.data["amount"] for event in events if event.tenant_id == tenant.id]


def pending(tenant):
    with tenant_context(tenant.id):
        return list(Pending.objects.filter(tenant_id=tenant.id, subscriber="tests.relay"))


def drain():
    for _ in range(50):
        if relay.run_once() == 0:
            return


def test_fact_reaches_both_kinds_of_subscribers(tenant):
    tell(tenant, 3)
    assert mine(inside, tenant) == [3]
    assert len(pending(tenant)) == 1
    drain()
    assert mine(heard, tenant) == [3]
    assert pending(tenant) == []


def test_rolled_back_fact_reaches_nobody_after_the_commit(tenant):
    with pytest.raises(ZeroDivisionError), tenant_context(tenant.id):
        record(actor=system_actor(tenant.id), event=SampleTaken(), resource_id=uuid7(), at=clock.now())
        raise ZeroDivisionError
    drain()
    assert mine(heard, tenant) == []
    assert pending(tenant) == []


def test_failing_subscriber_is_tried_again_later_and_stops_nobody_else(tenant):
    other = factories.provision()
    failing.add(tenant.id)
    tell(tenant, 1)
    tell(other, 2)
    drain()
    assert mine(heard, other) == [2]
    (row,) = pending(tenant)
    assert (row.attempts, row.last_error) == (1, "ZeroDivisionError")
    assert row.due_at > clock.now()
    failing.discard(tenant.id)
    with role_context(DISPATCHER):
        Pending.objects.filter(pk=row.pk).update(due_at=clock.now() - timedelta(seconds=1))
    drain()
    assert mine(heard, tenant) == [1]


def test_claimed_row_of_a_dead_relay_is_due_again_when_its_lease_ends(tenant):
    tell(tenant, 4)
    for lane in lanes():
        relay._claim(lane)  # and the process dies here
    drain()
    assert mine(heard, tenant) == []
    with role_context(DISPATCHER):
        Pending.objects.filter(tenant_id=tenant.id).update(due_at=clock.now() - timedelta(seconds=1))
    drain()
    assert mine(heard, tenant) == [4]


def test_many_events_of_one_tenant_stand_in_front_of_no_other(tenant):
    busy = factories.provision()
    drain()
    for number in range(300):
        tell(busy, number)
    tell(tenant, 5)
    relay.run_once()
    assert mine(heard, tenant) == [5]
    assert 0 < len(mine(heard, busy)) <= relay.BATCH
    drain()
    assert mine(heard, busy) == list(range(300))


def test_who_hears_of_figures_is_spared_what_has_none(tenant):
    with tenant_context(tenant.id):
        for weight in ("", "7"):
            event = SampleMeasured(weight=weight)
            record(actor=system_actor(tenant.id), event=event, resource_id=uuid7(), at=clock.now())
    drain()
    assert [one.figures for one in measured if one.tenant_id == tenant.id] == [{"weight": "7"}]


def test_subscriber_is_noted_for_the_facts_that_concern_it(tenant):
    with tenant_context(tenant.id):
        for amount in (1, 2):
            event = SampleSorted(amount=amount)
            record(actor=system_actor(tenant.id), event=event, resource_id=uuid7(), at=clock.now())
        assert Pending.objects.filter(tenant_id=tenant.id).count() == 1
    drain()
    assert mine(chosen, tenant) == [2]


def test_fact_of_an_unregistered_kind_is_a_programming_error(tenant):
    class Nameless(EventType):
        type: ClassVar[str] = "relay_sample.forgotten"
        resource: ClassVar[str] = "relay_sample"

    with pytest.raises(UnknownEventType), tenant_context(tenant.id):
        record(actor=system_actor(tenant.id), event=Nameless(), resource_id=uuid7(), at=clock.now())


@pytest.mark.parametrize("name", ["Product.created", "product", "product.Created"])
def test_name_that_is_no_event_name_is_refused(name):
    kind = type("Wrong", (EventType,), {"type": name, "resource": "x"})
    with pytest.raises(ValueError, match="not an event name"):
        registry.register(kind)
