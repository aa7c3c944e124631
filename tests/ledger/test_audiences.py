"""One change told to several tenants, figures that only the ledger keeps, and reactions behind their facts."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from bench.statements import recording
from core import clock
from core.actor import SYSTEM, Subject, SubjectKind, system_actor
from core.db import tenant_context
from core.ids import uuid7
from ledger.public import (
    Event,
    EventType,
    Occurrence,
    ReactionMissed,
    SideMissing,
    UnknownEventType,
    react,
    record,
    record_for,
    record_many,
    register,
    statements,
    statements_of_many,
)
from tests import factories
from webhooks import catalogue
from webhooks.models import Event as Message


@register
@dataclass(frozen=True)
class BargainStruck(EventType):
    """Two tenants agreed."""

    type: ClassVar[str] = "test_bargain.struck"
    resource: ClassVar[str] = "test_bargain"
    figures: ClassVar = ("net", "lines")
    by: str = "buyer"
    net: str = "9.90"
    lines: tuple[int, ...] = ()


@register
@dataclass(frozen=True)
class BargainFollowed(EventType):
    """Something reacts to this fact."""

    type: ClassVar[str] = "test_bargain.followed"
    resource: ClassVar[str] = "test_bargain"
    by: str = "buyer"


@register
@dataclass(frozen=True)
class BargainFiled(EventType):
    """What the reaction records."""

    type: ClassVar[str] = "test_bargain.filed"
    resource: ClassVar[str] = "test_bargain"


def file(facts):
    for fact in facts:
        record(
            actor=system_actor(fact.tenant_id), event=BargainFiled(), resource_id=fact.resource_id, at=fact.occurred_at
        )


react(["test_bargain.followed"], file)


@pytest.fixture
def tenants():
    return factories.provision(), factories.provision()


def person(tenant):
    subject = Subject(id=uuid7(), kind=SubjectKind.USER, credential=f"session:{uuid7()}")
    return replace(
        system_actor(tenant.id, request_id=f"chosen-{uuid7()}"), subject=subject, membership_id=uuid7()
    )  # fmt: skip


def told(tenant, key):
    with tenant_context(tenant.id):
        messages = list(Message.objects.filter(tenant_id=tenant.id, resource_id=key).order_by("sequence"))
        facts = list(Event.objects.filter(tenant_id=tenant.id, resource_id=key).order_by("id"))
    assert [one.type for one in facts] == [one.type for one in messages]
    return list(zip(facts, messages, strict=True))


def tell(actor, event, *tenants, key):
    with tenant_context(actor.tenant_id):
        return record_for({one.id: [Occurrence(event, key, 3)] for one in tenants}, actor=actor, at=clock.now())


def test_each_audience_has_a_fact_of_its_own(tenants):
    mine, theirs = tenants
    actor, key = person(mine), uuid7()
    facts = tell(actor, BargainStruck(), *tenants, key=key)
    assert set(facts) == {mine.id, theirs.id}
    ((own, _),) = told(mine, key)
    assert (own.subject_id, own.credential, own.membership_id, own.request_id) == (
        actor.subject.id, actor.subject.credential, actor.membership_id, actor.request_id,
    )  # fmt: skip
    ((other, message),) = told(theirs, key)
    assert (other.subject_id, other.subject_kind, other.credential, other.membership_id) == (
        SYSTEM.id, "system", "system", None,
    )  # fmt: skip
    assert other.request_id not in ("", actor.request_id)
    assert message.request_id == other.request_id
    assert (other.resource_version, other.data) == (3, {"by": "buyer"})
    whole = str(vars(other)) + bytes(message.body).decode()
    for secret in (actor.subject.id, actor.subject.credential, actor.membership_id, actor.request_id, mine.id):
        assert str(secret) not in whole


def test_all_facts_take_one_trip_in_the_order_of_the_tenants(tenants):
    actor, key = person(tenants[1]), uuid7()
    with tenant_context(actor.tenant_id), recording() as record_of_trips:
        record_for({one.id: [Occurrence(BargainStruck(), key)] for one in tenants}, actor=actor, at=clock.now())
    (trip,) = record_of_trips.trips
    inserted = [call.parameters[1] for call in trip.calls if b"INSERT INTO ledger_event" in call.statement.sql]
    assert inserted == sorted(str(one.id) for one in tenants)


def test_actors_tenant_is_bound_afterwards(tenants):
    actor, key = person(tenants[0]), uuid7()
    with tenant_context(actor.tenant_id):
        record_for({one.id: [Occurrence(BargainFollowed(), key)] for one in tenants}, actor=actor, at=clock.now())
        assert Event.objects.filter(resource_id=key).values_list("tenant_id", flat=True).distinct().get() == (
            tenants[0].id
        )


def test_fact_for_another_tenant_names_the_side_that_acted(tenants):
    actor, key = person(tenants[0]), uuid7()
    with pytest.raises(SideMissing):
        tell(actor, BargainFiled(), *tenants, key=key)
    assert told(tenants[0], key) == told(tenants[1], key) == []


def test_unknown_event_is_recorded_for_nobody(tenants):
    @dataclass(frozen=True)
    class Unknown(EventType):
        type: ClassVar[str] = "test_bargain.unknown"
        resource: ClassVar[str] = "test_bargain"
        by: str = "buyer"

    actor, key = person(tenants[0]), uuid7()
    with pytest.raises(UnknownEventType):
        tell(actor, Unknown(), *tenants, key=key)
    assert told(tenants[0], key) == told(tenants[1], key) == []


def test_rollback_takes_the_facts_of_all_tenants_along(tenants):
    actor, key = person(tenants[0]), uuid7()
    with pytest.raises(ZeroDivisionError), tenant_context(actor.tenant_id):
        record_for({one.id: [Occurrence(BargainFollowed(), key)] for one in tenants}, actor=actor, at=clock.now())
        raise ZeroDivisionError
    assert told(tenants[0], key) == told(tenants[1], key) == []


def test_figures_are_kept_and_not_told(tenants):
    actor, key = person(tenants[0]), uuid7()
    tell(actor, BargainStruck(net="1.25", lines=(1, 2)), *tenants, key=key)
    for tenant in tenants:
        ((fact, message),) = told(tenant, key)
        assert fact.figures == {"net": "1.25", "lines": [1, 2]}
        assert fact.data == {"by": "buyer"}
        assert b"1.25" not in bytes(message.body)
    assert set(catalogue.describe(BargainStruck)["schema"]["properties"]) == {"type", "id", "by", "version"}


def test_event_without_figures_keeps_none(tenants):
    with tenant_context(tenants[0].id):
        fact = record(actor=person(tenants[0]), event=BargainFiled(), resource_id=uuid7(), at=clock.now())
    with tenant_context(tenants[0].id):
        assert Event.objects.get(pk=fact.id).figures is None


def test_many_events_keep_their_figures(tenants):
    key = uuid7()
    given = [Occurrence(BargainStruck(net=str(n)), key) for n in range(3)] + [Occurrence(BargainFiled(), key)]
    with tenant_context(tenants[0].id):
        record_many(actor=person(tenants[0]), occurrences=given, at=clock.now())
    figures = [fact.figures and fact.figures["net"] for fact, _ in told(tenants[0], key)]
    assert sorted(figures, key=str) == ["0", "1", "2", None]


def test_figure_that_is_no_field_is_refused():
    @dataclass(frozen=True)
    class Wrong(EventType):
        type: ClassVar[str] = "test_bargain.wrong"
        resource: ClassVar[str] = "test_bargain"
        figures: ClassVar = ("gross",)

    with pytest.raises(ValueError, match="gross"):
        register(Wrong)


def test_reaction_is_recorded_behind_its_fact_in_every_audience(tenants):
    actor, key = person(tenants[0]), uuid7()
    tell(actor, BargainFollowed(), *tenants, key=key)
    for tenant in tenants:
        assert [(fact.type, message.sequence) for fact, message in told(tenant, key)] == [
            ("test_bargain.followed", 1), ("test_bargain.filed", 2),
        ]  # fmt: skip


@pytest.mark.parametrize("many", [False, True])
def test_reaction_runs_behind_one_fact_and_behind_many(tenants, many):
    actor, key, at = person(tenants[0]), uuid7(), clock.now()
    with tenant_context(actor.tenant_id):
        if many:
            record_many(actor=actor, occurrences=[Occurrence(BargainFollowed(), key)], at=at)
        else:
            record(actor=actor, event=BargainFollowed(), resource_id=key, at=at)
    assert [fact.type for fact, _ in told(tenants[0], key)] == ["test_bargain.followed", "test_bargain.filed"]


def test_statements_of_a_fact_with_a_reaction_are_refused(tenants):
    actor, key, at = person(tenants[0]), uuid7(), clock.now()
    with pytest.raises(ReactionMissed), tenant_context(actor.tenant_id):
        statements(actor=actor, event=BargainFollowed(), resource_id=key, at=at)
    with pytest.raises(ReactionMissed), tenant_context(actor.tenant_id):
        statements_of_many(actor=actor, occurrences=[Occurrence(BargainFollowed(), key)], at=at)
