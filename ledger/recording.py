"""Writing one fact, in the transaction of the change it tells of."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from core import jobs, pipeline, rows
from core.actor import Actor
from core.db import needs_transaction
from core.ids import uuid7, uuid7_text

from . import registry
from .registry import EventType, Fact

RELAY = "ledger.relay"

_INSERT = pipeline.Statement.of(
    f"INSERT INTO ledger_event ({', '.join(Fact._fields)})"
    " VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14) RETURNING id"
)
_PENDING = pipeline.Statement.of(
    "INSERT INTO ledger_pending (id, tenant_id, event_id, subscriber, attempts, last_error)"
    " VALUES ($1,$2,$3,$4,0,'') RETURNING id"
)


class UnknownEventType(ValueError):
    """A programming error: the kind was never registered, so no catalogue would name it."""


@needs_transaction
def record(
    *, actor: Actor, event: EventType, resource_id: UUID, at: datetime, resource_version: int | None = None
) -> Fact:
    """Write one fact in the caller's transaction, so it exists if and only if the change does.

    :raises UnknownEventType: its class is not registered.
    """
    fact = _fact(actor, event, resource_id, at, resource_version)
    pipeline.run([*_calls(fact)])
    return fact


@needs_transaction
def statements(
    *, actor: Actor, event: EventType, resource_id: UUID, at: datetime, resource_version: int | None = None
) -> list[pipeline.Call]:
    """The statements that write one fact, for an action that sends them in this transaction together with its own.

    :raises UnknownEventType: its class is not registered.
    """
    return [*_calls(_fact(actor, event, resource_id, at, resource_version))]


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


def _calls(fact: Fact) -> Iterator[pipeline.Call]:
    """The fact, what the subscribers inside the transaction add to it, and a note for each of those after it."""
    yield pipeline.Call(_INSERT, [*map(rows.text, fact)])
    for handler in registry.inside_handlers(fact.type):
        yield from handler(fact) or ()
    subscribers = registry.after_names(fact.type)
    for name in subscribers:
        yield pipeline.Call(_PENDING, [uuid7_text(), str(fact.tenant_id), str(fact.id), name])
    if subscribers:
        jobs.enqueue(RELAY, expires_seconds=5)
