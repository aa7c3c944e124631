"""What the app does when facts are recorded: store them for their audience, in the same transaction, and ring the doorbell."""

import time
from collections.abc import Sequence
from functools import lru_cache
from uuid import UUID

import orjson
from django.db import transaction

from core import jobs, pipeline, watermark
from core.ids import uuid7, uuid7_text
from ledger import public as ledger

from . import bodies, envelope

DISPATCH = "webhooks.dispatch"
_QUIET_SECONDS = 0.4
_MARK = watermark.MARK.format(tenant="$2::uuid")

# Sequence number, body and queue row in one statement: the number is part of the bytes that are signed. The time is read
# once the number is drawn, so that both say the same of a resource's order.
_STORE = f"""
WITH place AS (
  INSERT INTO webhooks_resource_sequence AS s (id, tenant_id, resource_id, last)
  SELECT $3::uuid, $2::uuid, $1::uuid, 1 FROM {_MARK} writing WHERE true
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
# The same for many facts; their resources draw numbers in the order of their keys, so that writers never wait for one another
# in a circle. Of several facts of one resource, `nth` of `facts` in their order, each has its own number.
_STORE_MANY = f"""
WITH given AS (
  SELECT one.*, row_number() OVER (PARTITION BY one.resource_id ORDER BY one.number) AS nth,
         count(*) OVER (PARTITION BY one.resource_id) AS facts FROM json_to_recordset($1::json) AS one
    (number int, place uuid, id uuid, resource_id uuid, type text, resource_type text, before text, after text)),
place AS (
  INSERT INTO webhooks_resource_sequence AS s (id, tenant_id, resource_id, last)
  SELECT given.place, $2::uuid, given.resource_id, given.facts FROM given, {_MARK} writing WHERE given.nth = 1
  ORDER BY given.resource_id
  ON CONFLICT (tenant_id, resource_id) DO UPDATE SET last = s.last + EXCLUDED.last RETURNING resource_id, last),
numbered AS (
  SELECT given.*, place.last - given.facts + given.nth AS sequence FROM given JOIN place USING (resource_id)
  ORDER BY given.number),
stored AS (
  INSERT INTO webhooks_event
    (id, created_at, tenant_id, type, resource_type, resource_id, sequence, api_version, request_id, body)
  SELECT id, clock_timestamp(), $2::uuid, type, resource_type, resource_id, sequence, $3::text, $4::text,
         convert_to(before || lpad(sequence::text, {envelope.SEQUENCE_DIGITS}, '0') || after, 'UTF8') FROM numbered
  RETURNING id, created_at, tenant_id, type, resource_id)
INSERT INTO webhooks_event_new (id, created_at, tenant_id, type, resource_id)
SELECT id, created_at, tenant_id, type, resource_id FROM stored RETURNING 1
"""
_THIN_MANY = pipeline.Statement.of(_STORE_MANY)
# For a fact that goes to no endpoint: the log keeps it, and the fan-out never sees it.
_MUTED = pipeline.Statement.of(f"{_STORE.partition('WHOLE')[0]} SELECT id FROM stored")
_THIN = pipeline.Statement.of(_STORE.replace("WHOLE", ""))


class _Doorbell:
    """Rings the dispatcher at most every 400 ms: one that was rung stays awake for longer than that."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def ring(self) -> None:
        now = time.monotonic()
        if now >= self._quiet_until:
            self._quiet_until = now + _QUIET_SECONDS
            jobs.enqueue(DISPATCH, expires_seconds=jobs.RING_SECONDS)


_doorbell = _Doorbell()


def subscribe() -> None:
    """Have the ledger tell this app of every fact."""
    ledger.subscribe(store)


def store(facts: Sequence[ledger.Fact]) -> list[pipeline.Call]:
    """What writes facts into their tenant's event log and the fan-out's queue; a rollback takes both along."""
    transaction.on_commit(_doorbell.ring, robust=True)
    if len(facts) == 1 or any(ledger.representation_of(fact.type) or ledger.is_muted(fact) for fact in facts):
        return [_one(fact) for fact in facts]
    return [_many(facts)]


def _one(fact: ledger.Fact) -> pipeline.Call:
    event_id, before, after = _written(fact)
    texts = (event_id, fact.type, fact.resource_type)
    parameters = [str(fact.resource_id), str(fact.tenant_id), uuid7_text(), *map(str, texts)]
    parameters += [envelope.API_VERSION, fact.request_id, before, after]
    found = ledger.representation_of(fact.type)
    if ledger.is_muted(fact):
        return pipeline.Call(_MUTED, parameters)
    if found is None:
        return pipeline.Call(_THIN, parameters)
    previous = fact.data.get("previous")
    tail = "" if previous is None else ',"previous":' + orjson.dumps(previous).decode()
    return pipeline.Call(_full(found.sql), [*parameters, tail])


def _many(facts: Sequence[ledger.Fact]) -> pipeline.Call:
    """One statement for thin facts; the facts of one trip share tenant and request."""
    given = []
    for number, fact in enumerate(facts):
        event_id, before, after = _written(fact)
        one = {
            "number": number,
            "place": uuid7_text(),
            "id": event_id,
            "resource_id": fact.resource_id,
            "type": fact.type,
        }
        given.append(one | {"resource_type": fact.resource_type, "before": before, "after": after})
    first = facts[0]
    shared = [str(first.tenant_id), envelope.API_VERSION, first.request_id]
    return pipeline.Call(_THIN_MANY, [orjson.dumps(given), *shared])


def _written(fact: ledger.Fact) -> tuple[UUID, str, str]:
    """A new event's id, and its envelope before and after the sequence number."""
    message = envelope.Message(
        id=uuid7(),
        type=fact.type,
        tenant_id=fact.tenant_id,
        at=fact.occurred_at,
        request_id=fact.request_id,
        thing=envelope.Thing(fact.resource_type, fact.resource_id, fact.resource_version, ledger.href_of(fact.type)),
        payload=fact.data,
    )
    return message.id, *envelope.split(message)


@lru_cache(maxsize=256)
def _full(representation: str) -> pipeline.Statement:
    return pipeline.Statement.of(_STORE.replace("WHOLE", bodies.whole(representation)))
