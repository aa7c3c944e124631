"""What the app does when a fact is recorded: store it for its audience, in the same transaction, and ring the doorbell."""

import time
from functools import lru_cache

import orjson
from django.db import transaction

from core import jobs, pipeline
from core.ids import uuid7, uuid7_text
from ledger import public as ledger

from . import bodies, envelope, horizon

DISPATCH = "webhooks.dispatch"
_QUIET_SECONDS = 0.4
_EXPIRES_SECONDS = 5

# Sequence number, body and queue row in one statement: the number is part of the bytes that are signed. The time is read
# once the number is drawn, so that both say the same of a resource's order.
_STORE = f"""
WITH place AS (
  INSERT INTO webhooks_resource_sequence AS s (id, tenant_id, resource_id, last)
  SELECT $3::uuid, $2::uuid, $1::uuid, 1 FROM ({horizon.ENTER}) writing WHERE true
  ON CONFLICT (tenant_id, resource_id) DO UPDATE SET last = s.last + 1 RETURNING last),
stored AS (
  INSERT INTO webhooks_event
    (id, created_at, tenant_id, type, resource_type, resource_id, sequence, api_version, request_id, body)
  SELECT $4::uuid, clock_timestamp(), $2::uuid, $5::text, $6::text, $1::uuid, last, $7::text, $8::text,
         convert_to($9::text || lpad(last::text, {envelope.SEQUENCE_DIGITS}, '0') || $10::text, 'UTF8') FROM place
  RETURNING id, created_at, tenant_id, type, resource_id, api_version, body)WHOLE
INSERT INTO webhooks_event_new (id, created_at, tenant_id, type, resource_id)
SELECT id, created_at, tenant_id, type, resource_id FROM stored RETURNING id
"""
_THIN = pipeline.Statement.of(_STORE.replace("WHOLE", ""))


class _Doorbell:
    """Rings the dispatcher at most every 400 ms: one that was rung stays awake for longer than that."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def ring(self) -> None:
        now = time.monotonic()
        if now >= self._quiet_until:
            self._quiet_until = now + _QUIET_SECONDS
            jobs.enqueue(DISPATCH, expires_seconds=_EXPIRES_SECONDS)


_doorbell = _Doorbell()


def subscribe() -> None:
    """Have the ledger tell this app of every fact."""
    ledger.subscribe(store)


def store(fact: ledger.Fact) -> list[pipeline.Call]:
    """What writes a fact into its tenant's event log and the fan-out's queue; a rollback takes both along."""
    message = envelope.Message(
        id=uuid7(),
        type=fact.type,
        tenant_id=fact.tenant_id,
        at=fact.occurred_at,
        request_id=fact.request_id,
        thing=envelope.Thing(fact.resource_type, fact.resource_id, fact.resource_version, ledger.href_of(fact.type)),
        payload=fact.data,
    )
    before, after = envelope.split(message)
    texts = (message.id, fact.type, fact.resource_type)
    parameters = [str(fact.resource_id), str(fact.tenant_id), uuid7_text(), *map(str, texts)]
    parameters += [envelope.API_VERSION, fact.request_id, before, after]
    transaction.on_commit(_doorbell.ring, robust=True)
    found = ledger.representation_of(fact.type)
    if found is None:
        return [pipeline.Call(_THIN, parameters)]
    previous = fact.data.get("previous")
    tail = "" if previous is None else ',"previous":' + orjson.dumps(previous).decode()
    return [pipeline.Call(_full(found.sql), [*parameters, tail])]


@lru_cache(maxsize=256)
def _full(representation: str) -> pipeline.Statement:
    return pipeline.Statement.of(_STORE.replace("WHOLE", bodies.whole(representation)))
