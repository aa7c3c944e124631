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
    " VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14) RETURNING id"
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


class UnknownEventType(ValueError):
    """The event type is not registered, so the catalogue lacks it; a programming error."""


@needs_transaction
def record(
    *, actor: Actor, event: EventType, resource_id: UUID, at: datetime, resource_version: int | None = None
) -> Fact:
    """Record one fact in the caller's transaction, so that it exists if and only if the change does.

    :raises UnknownEventType: the event's class is not registered.
    """
    fact = _fact(actor, event, resource_id, at, resource_version)
    pipeline.run([*_calls([fact])])
    return fact


@needs_transaction
def record_many(*, actor: Actor, occurrences: Sequence[Occurrence], at: datetime) -> list[Fact]:
    """Record many facts of one instant in the caller's transaction, in one round trip whatever their number.

    :raises UnknownEventType: the class of an event is not registered; nothing is written.
    """
    facts = _facts(actor, occurrences, at)
    if facts:
        pipeline.run([*_calls(facts)])
    return facts


@needs_transaction
def statements_of_many(*, actor: Actor, occurrences: Sequence[Occurrence], at: datetime) -> list[pipeline.Call]:
    """Return the statements that record many facts, for an action that sends them in one trip with its own.

    :raises UnknownEventType: the class of an event is not registered.
    """
    facts = _facts(actor, occurrences, at)
    return [*_calls(facts)] if facts else []


@needs_transaction
def statements(
    *, actor: Actor, event: EventType, resource_id: UUID, at: datetime, resource_version: int | None = None
) -> list[pipeline.Call]:
    """Return the statements that record one fact, for an action that sends them in one trip with its own.

    :raises UnknownEventType: the event's class is not registered.
    """
    return [*_calls([_fact(actor, event, resource_id, at, resource_version)])]


def _facts(actor: Actor, occurrences: Sequence[Occurrence], at: datetime) -> list[Fact]:
    return [_fact(actor, one.event, one.resource_id, at, one.resource_version) for one in occurrences]


def _fact(actor: Actor, event: EventType, resource_id: UUID, at: datetime, resource_version: int | None) -> Fact:
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
    )


def _calls(facts: Sequence[Fact]) -> Iterator[pipeline.Call]:
    """Yield the inserts of the facts, the statements of inside subscribers, and the inserts for after-commit ones."""
    if len(facts) == 1:
        yield pipeline.Call(_INSERT, [*map(rows.text, facts[0])])
    else:
        yield rows.insert_all(Event, [fact._asdict() for fact in facts])
    for handler, wanted in registry.inside_handlers(facts):
        yield from handler(wanted) or ()
    pending = [(fact, name) for fact in facts for name in registry.after_names(fact.type)]
    if len(pending) > _FEW:
        yield rows.insert_all(Pending, [_pending_row(fact, name) for fact, name in pending])
    else:
        for fact, name in pending:
            yield pipeline.Call(_PENDING, [uuid7_text(), str(fact.tenant_id), str(fact.id), name])
    if pending:
        jobs.enqueue(RELAY, expires_seconds=5)


def _pending_row(fact: Fact, subscriber: str) -> dict[str, object]:
    return {
        "id": uuid7_text(),
        "tenant_id": fact.tenant_id,
        "event_id": fact.id,
        "subscriber": subscriber,
        "attempts": 0,
        "last_error": "",
    }
