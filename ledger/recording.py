"""Writing one fact, in the transaction of the change it tells of."""

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from core import jobs, pipeline
from core.actor import Actor
from core.db import needs_transaction
from core.ids import uuid7

from . import registry
from .models import Event
from .registry import EventType

RELAY = "ledger.relay"

_INSERT = pipeline.Statement.of(
    "INSERT INTO ledger_event (id, tenant_id, type, version, resource_type, resource_id, resource_version, data, subject_id,"
    " subject_kind, credential, membership_id, request_id, occurred_at)"
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
    *,
    actor: Actor,
    event: EventType,
    resource_id: UUID,
    at: datetime,
    resource_version: int | None = None,
    change: Sequence[pipeline.Call] = (),
) -> Event:
    """Write one fact in the caller's transaction, so it exists if and only if the change does.

    `change` are statements of the change itself: they run first, in the same round trip.

    :raises UnknownEventType: its class is not registered.
    """
    if not registry.is_registered(event.type):
        raise UnknownEventType(event.type)
    row = _event_row(actor, event, resource_id, at, resource_version)
    subscribers = registry.after_names(event.type)
    pipeline.run([*change, _insert_call(row), *(_pending_call(row, name) for name in subscribers)])
    for handler in registry.inside_handlers(event.type):
        handler(row)
    if subscribers:
        jobs.enqueue(RELAY, expires_seconds=5)
    return row


def _event_row(actor: Actor, event: EventType, resource_id: UUID, at: datetime, resource_version: int | None) -> Event:
    return Event(
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


def _insert_call(row: Event) -> pipeline.Call:
    names = [field.attname for field in Event._meta.concrete_fields]
    values = [getattr(row, name) for name in names]
    texts = [
        None if value is None else json.dumps(value) if name == "data" else str(value)
        for name, value in zip(names, values, strict=True)
    ]
    return pipeline.Call(_INSERT, texts)


def _pending_call(row: Event, subscriber: str) -> pipeline.Call:
    return pipeline.Call(_PENDING, [str(uuid7()), str(row.tenant_id), str(row.id), subscriber])
