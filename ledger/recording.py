"""Recording of facts, in the transaction of the change that they describe."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from core import jobs, pipeline, rows
from core.actor import Actor
from core.db import needs_transaction
from core.ids import uuid7, uuid7_text

from . import registry
from .models import Event, Pending
from .registry import EventType, Fact

RELAY = "ledger.relay"
_FEW = 4  # up to this number one prepared statement for each row is cheaper than one for all

_INSERT = pipeline.Statement.of(
    f"INSERT INTO ledger_event ({', '.join(Fact._fields)})"
    " VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15) RETURNING id"
)
_PENDING = pipeline.Statement.of(
    "INSERT INTO ledger_pending (id, tenant_id, event_id, subscriber, attempts, last_error)"
    " VALUES ($1,$2,$3,$4,0,'') RETURNING id"
)


class Occurrence(NamedTuple):
    """One event of one resource, for recording many at once."""

    event: EventType
    resource_id: UUID
    resource_version: int | None = None


class ReactionMissed(ValueError):
    """Something reacts to the event, so `record`, `record_many` or `record_for` records it; a programming error."""


class UnknownEventType(ValueError):
    """The event type is not registered, so the catalogue lacks it; a programming error."""


@needs_transaction
def record(
    *, actor: Actor, event: EventType, resource_id: UUID, at: datetime, resource_version: int | None = None
) -> Fact:
    """Record one fact in the caller's transaction, so that it exists if and only if the change does.

    :raises UnknownEventType: the event's class is not registered.
    """
    fact = fact_of(actor, event, resource_id, at, resource_version)
    pipeline.run([*calls_of([fact])])
    react([fact])
    return fact


@needs_transaction
def record_many(*, actor: Actor, occurrences: Sequence[Occurrence], at: datetime) -> list[Fact]:
    """Record many facts of one instant in the caller's transaction, in one round trip whatever their number.

    :raises UnknownEventType: the class of an event is not registered; nothing is written.
    """
    facts = _facts(actor, occurrences, at)
    if facts:
        pipeline.run([*calls_of(facts)])
        react(facts)
    return facts


@needs_transaction
def statements_of_many(*, actor: Actor, occurrences: Sequence[Occurrence], at: datetime) -> list[pipeline.Call]:
    """Return the statements that record many facts, for an action that sends them in one trip with its own.

    :raises UnknownEventType: the class of an event is not registered.
    :raises ReactionMissed: something reacts to an event.
    """
    facts = _facts(actor, occurrences, at)
    _check_unfollowed(facts)
    return [*calls_of(facts)] if facts else []


@needs_transaction
def statements(
    *, actor: Actor, event: EventType, resource_id: UUID, at: datetime, resource_version: int | None = None
) -> list[pipeline.Call]:
    """Return the statements that record one fact, for an action that sends them in one trip with its own.

    :raises UnknownEventType: the event's class is not registered.
    :raises ReactionMissed: something reacts to the event.
    """
    fact = fact_of(actor, event, resource_id, at, resource_version)
    _check_unfollowed([fact])
    return [*calls_of([fact])]


def react(facts: Sequence[Fact]) -> None:
    """Run the reactions to facts of one tenant, to which the transaction is bound."""
    for handler, wanted in registry.reactions(facts):
        handler(wanted)


def _check_unfollowed(facts: Sequence[Fact]) -> None:
    if any(True for _ in registry.reactions(facts)):
        raise ReactionMissed(", ".join(sorted({fact.type for fact in facts})))


def _facts(actor: Actor, occurrences: Sequence[Occurrence], at: datetime) -> list[Fact]:
    return [fact_of(actor, one.event, one.resource_id, at, one.resource_version) for one in occurrences]


def fact_of(actor: Actor, event: EventType, resource_id: UUID, at: datetime, resource_version: int | None) -> Fact:
    """Make the fact of an event in the actor's tenant.

    :raises UnknownEventType: the event's class is not registered.
    """
    if not registry.is_registered(event.type):
        raise UnknownEventType(event.type)
    return Fact(
        id=uuid7(),
        tenant_id=actor.tenant_id,
        type=event.type,
        version=event.version,
        resource_type=event.resource,
        resource_id=resource_id,
        resource_version=resource_version,
        data=event.payload(),
        subject_id=actor.subject.id,
        subject_kind=str(actor.subject.kind),
        credential=actor.subject.credential,
        membership_id=actor.membership_id,
        request_id=actor.request_id,
        occurred_at=at,
        figures=event.measured(),
    )


def calls_of(facts: Sequence[Fact]) -> Iterator[pipeline.Call]:
    """Yield the inserts of the facts, the statements of inside subscribers, and the inserts for after-commit ones."""
    if len(facts) == 1:
        yield pipeline.Call(_INSERT, [*map(rows.text, facts[0])])
    else:
        yield rows.insert_all(Event, [fact._asdict() for fact in facts])
    for handler, wanted in registry.inside_handlers(facts):
        yield from handler(wanted) or ()
    pending = [(fact, name) for fact in facts for name in registry.after_names(fact)]
    if len(pending) > _FEW:
        yield rows.insert_all(Pending, [_pending_row(fact, name) for fact, name in pending])
    else:
        for fact, name in pending:
            yield pipeline.Call(_PENDING, [uuid7_text(), str(fact.tenant_id), str(fact.id), name])
    if pending:
        jobs.enqueue(RELAY, expires_seconds=jobs.RING_SECONDS)


def _pending_row(fact: Fact, subscriber: str) -> dict[str, object]:
    return {
        "id": uuid7_text(),
        "tenant_id": fact.tenant_id,
        "event_id": fact.id,
        "subscriber": subscriber,
        "attempts": 0,
        "last_error": "",
    }
