"""The statement that carries a replay one batch further: what it queues and how far it came are written together."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from core.named_rows import fetch
from webhooks import states, wanted
from webhooks.models import Endpoint, Replay

_FIRST = UUID(int=0)

# What a batch looks at. The failed are found among the endpoint's deliveries, the missing among the tenant's events.
_DELIVERIES = """
  SELECT created_at, id, event_id FROM webhooks_delivery
  WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND created_at >= %(since)s AND created_at < %(until)s
    AND (created_at, id) > (%(cursor_at)s, %(cursor_id)s) ORDER BY created_at, id LIMIT %(limit)s"""
_EVENTS = """
  SELECT created_at, id, id AS event_id FROM webhooks_event
  WHERE tenant_id = %(tenant)s AND created_at >= %(since)s AND created_at < %(until)s
    AND (created_at, id) > (%(cursor_at)s, %(cursor_id)s) ORDER BY created_at, id LIMIT %(limit)s"""

# An event that the fan-out has not come to is not missing: it will queue it. Rows are locked in the order of their keys.
_BATCH = f"""
WITH page AS ({{page}}),
chosen AS (
  SELECT e.created_at, e.id, e.type, e.resource_id, e.sequence
  FROM page JOIN webhooks_event e ON e.tenant_id = %(tenant)s AND e.created_at = page.created_at AND e.id = page.event_id
  WHERE e.resource_id <> %(endpoint)s
    AND (%(types)s::text[] = '{{{{}}}}' OR {wanted.MATCHES.format(patterns="%(types)s::text[]", type="e.type")})),
ended AS (
  SELECT d.created_at, d.id FROM chosen JOIN webhooks_delivery d
    ON d.tenant_id = %(tenant)s AND d.event_id = chosen.id AND d.endpoint_id = %(endpoint)s
    AND d.created_at = chosen.created_at
  WHERE d.state = ANY(%(again)s) ORDER BY d.id FOR UPDATE OF d),
resumed AS (
  UPDATE webhooks_delivery d
  SET state = '{states.RETRYING}', attempts_before = d.attempts, next_attempt_at = now(), done_at = NULL
  FROM ended
  WHERE d.tenant_id = %(tenant)s AND d.created_at = ended.created_at AND d.id = ended.id AND d.state = ANY(%(again)s)
  RETURNING d.id, d.created_at, d.event_id, d.attempts),
made AS (
  INSERT INTO webhooks_delivery (id, created_at, tenant_id, event_id, event_type, endpoint_id, state, next_attempt_at)
  SELECT {wanted.DELIVERY_ID.format(event="chosen.id", endpoint="%(endpoint)s::uuid")}, chosen.created_at, %(tenant)s,
         chosen.id, chosen.type, %(endpoint)s, '{states.PENDING}', now()
  FROM chosen WHERE %(missing)s AND {wanted.MATCHES.format(patterns="%(patterns)s::text[]", type="chosen.type")}
    AND NOT EXISTS (SELECT 1 FROM webhooks_event_new n WHERE n.tenant_id = %(tenant)s AND n.id = chosen.id)
  ON CONFLICT DO NOTHING RETURNING id, created_at, event_id, attempts),
due AS (
  INSERT INTO webhooks_delivery_due (delivery_id, created_at, tenant_id, event_id, endpoint_id, due_at, attempts,
                                     attempts_before, claims, trigger, resource_id, sequence)
  SELECT found.id, found.created_at, %(tenant)s, found.event_id, %(endpoint)s, now(), found.attempts, found.attempts,
         found.attempts, '{states.MANUAL}', chosen.resource_id, chosen.sequence
  FROM (TABLE resumed UNION ALL TABLE made) found JOIN chosen ON chosen.id = found.event_id
  ON CONFLICT (delivery_id, tenant_id) DO NOTHING RETURNING 1)
SELECT (SELECT count(*) FROM page) AS examined, (SELECT count(*) FROM due) AS queued, last.created_at AS cursor_at,
       last.id AS cursor_id
FROM (SELECT 1) one LEFT JOIN (SELECT created_at, id FROM page ORDER BY created_at DESC, id DESC LIMIT 1) last ON true
"""
_OF_DELIVERIES, _OF_EVENTS = _BATCH.format(page=_DELIVERIES), _BATCH.format(page=_EVENTS)
_AGAIN = {
    states.FAILED: [states.FAILED],
    "missing": [],
    "all": [states.FAILED, states.DELIVERED],
}


@dataclass(frozen=True, slots=True)
class Batch:
    """What one batch did, and where the next begins (None where it saw nothing)."""

    examined: int
    queued: int
    cursor_at: datetime | None
    cursor_id: UUID | None


def queue_batch(replay: Replay, endpoint: Endpoint, *, limit: int) -> Batch:
    """Queue what the replay wants of the next rows of the past."""
    parameters: dict[str, Any] = {
        "tenant": replay.tenant_id,
        "endpoint": endpoint.id,
        "patterns": endpoint.events,
        "since": replay.since,
        "until": replay.until,
        "types": replay.types,
        "cursor_at": replay.cursor_at or replay.since,
        "cursor_id": replay.cursor_id or _FIRST,
        "again": _AGAIN[replay.only],
        "missing": replay.only != states.FAILED,
        "limit": limit,
    }
    (batch,) = fetch(Batch, _OF_DELIVERIES if replay.only == states.FAILED else _OF_EVENTS, parameters)
    return batch
