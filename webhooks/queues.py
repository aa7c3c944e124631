"""The dispatcher's four statements: fan out, claim, finish, set aside. PostgreSQL is the truth; whoever dies, a lease ends.

They run on a connection of their own, outside Django, under the narrow role `hp_dispatcher`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from django.db import connections
from psycopg.types.json import Jsonb

from core.row_security import DISPATCHER

from . import states, wanted

APPLICATION_NAME = "webhooks_dispatch"
_FOREIGN_PARAMETERS = frozenset({"cursor_factory", "context", "prepare_threshold"})
_LOOK_AHEAD = 4
_SUSPENDED_SECONDS = 30

_ROLE = "SELECT set_config('role', %s, true)"

# One statement moves a batch from the queue of new events to one delivery and one due row for each endpoint that wants it.
_FAN_OUT = f"""
WITH fresh AS (
  DELETE FROM webhooks_event_new WHERE id = ANY(ARRAY(
    SELECT id FROM webhooks_event_new ORDER BY created_at, id LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
  RETURNING id, created_at, tenant_id, type, resource_id),
made AS (
  INSERT INTO webhooks_delivery (id, created_at, tenant_id, event_id, event_type, endpoint_id, state, next_attempt_at)
  SELECT {wanted.DELIVERY_ID.format(event="fresh.id", endpoint="endpoint.id")},
         fresh.created_at, fresh.tenant_id, fresh.id, fresh.type, endpoint.id, %(pending)s, now()
  FROM fresh JOIN webhooks_endpoint endpoint
    ON endpoint.tenant_id = fresh.tenant_id AND endpoint.active AND endpoint.id <> fresh.resource_id
  WHERE {wanted.MATCHES.format(patterns="endpoint.events", type="fresh.type")}
  ON CONFLICT DO NOTHING
  RETURNING id, created_at, tenant_id, event_id, endpoint_id),
queued AS (
  INSERT INTO webhooks_delivery_due (delivery_id, created_at, tenant_id, event_id, endpoint_id, due_at)
  SELECT id, created_at, tenant_id, event_id, endpoint_id, now() FROM made)
SELECT count(*) FROM fresh
"""

# Looks a little ahead without locks, keeps each endpoint within its share, then locks only what it takes.
_CLAIM = """
WITH busy AS (SELECT * FROM unnest(%(endpoints)s::uuid[], %(counts)s::int[]) AS b (endpoint_id, inflight)),
near AS (
  SELECT delivery_id, endpoint_id, due_at FROM webhooks_delivery_due
  WHERE due_at <= now() AND endpoint_id <> ALL(%(full)s::uuid[]) ORDER BY due_at LIMIT %(window)s),
placed AS (
  SELECT delivery_id, COALESCE(inflight, 0) + row_number() OVER (PARTITION BY endpoint_id ORDER BY due_at) AS place
  FROM near LEFT JOIN busy USING (endpoint_id)),
chosen AS (
  SELECT delivery_id FROM webhooks_delivery_due due JOIN placed USING (delivery_id)
  WHERE place <= %(share)s AND due.due_at <= now() ORDER BY due.due_at LIMIT %(limit)s FOR UPDATE OF due SKIP LOCKED),
taken AS (
  UPDATE webhooks_delivery_due due
  SET due_at = now() + %(lease_seconds)s * interval '1 second', lease = %(lease)s, claims = claims + 1
  FROM chosen WHERE due.delivery_id = chosen.delivery_id RETURNING due.*)
SELECT taken.delivery_id, taken.created_at, taken.tenant_id, taken.event_id, taken.endpoint_id, taken.attempts,
       taken.claims, event.body
FROM taken JOIN webhooks_event event ON event.created_at = taken.created_at AND event.id = taken.event_id
"""

_TARGETS = """
SELECT endpoint.id, endpoint.url, endpoint.active, tenant.status = 'active',
       array_agg(secret.id ORDER BY secret.created_at DESC) FILTER (WHERE secret.id IS NOT NULL),
       array_agg(secret.kind ORDER BY secret.created_at DESC) FILTER (WHERE secret.id IS NOT NULL),
       array_agg(secret.sealed_key ORDER BY secret.created_at DESC) FILTER (WHERE secret.id IS NOT NULL)
FROM webhooks_endpoint endpoint
JOIN organizations_tenant tenant ON tenant.id = endpoint.tenant_id
LEFT JOIN webhooks_secret secret ON secret.tenant_id = endpoint.tenant_id AND secret.endpoint_id = endpoint.id
  AND (secret.expires_at IS NULL OR secret.expires_at > now())
WHERE endpoint.id = ANY(%(endpoints)s) GROUP BY endpoint.id, tenant.status
"""

# The lease fences: a worker that comes back after its lease ended adds its attempt to the history and nothing else.
# An attempt may conflict with itself: its statement is repeated when the connection broke before the answer came.
_FINISH = """
WITH result AS (SELECT * FROM unnest(
    %(attempt_id)s::uuid[], %(at)s::timestamptz[], %(delivery_id)s::uuid[], %(created_at)s::timestamptz[],
    %(tenant_id)s::uuid[], %(endpoint_id)s::uuid[], %(number)s::smallint[], %(status)s::smallint[], %(error)s::text[],
    %(duration_ms)s::int[], %(excerpt)s::text[], %(headers)s::jsonb[], %(state)s::text[], %(delay_seconds)s::float8[])
  AS r (attempt_id, at, delivery_id, created_at, tenant_id, endpoint_id, number, status, error, duration_ms, excerpt,
        headers, state, delay_seconds)),
own AS (
  SELECT result.* FROM result JOIN webhooks_delivery_due due USING (delivery_id)
  WHERE due.lease = %(lease)s ORDER BY delivery_id FOR UPDATE OF due),
kept AS (
  INSERT INTO webhooks_attempt (id, created_at, tenant_id, delivery_id, endpoint_id, number, status, error, duration_ms,
                                response_excerpt, response_headers, lease)
  SELECT attempt_id, at, tenant_id, delivery_id, endpoint_id, number, status, error, duration_ms, excerpt, headers,
         %(lease)s FROM result ON CONFLICT DO NOTHING),
ended AS (DELETE FROM webhooks_delivery_due due USING own
  WHERE due.delivery_id = own.delivery_id AND own.delay_seconds IS NULL),
postponed AS (
  UPDATE webhooks_delivery_due due
  SET due_at = now() + own.delay_seconds * interval '1 second', attempts = own.number, claims = own.number, lease = NULL
  FROM own WHERE due.delivery_id = own.delivery_id AND own.delay_seconds IS NOT NULL)
UPDATE webhooks_delivery delivery
SET state = own.state, attempts = own.number, last_status = own.status,
    next_attempt_at = now() + own.delay_seconds * interval '1 second',
    done_at = CASE WHEN own.delay_seconds IS NULL THEN now() END
FROM own WHERE delivery.created_at = own.created_at AND delivery.id = own.delivery_id
"""

_SILENCE = """
WITH gone AS (
  UPDATE webhooks_endpoint SET active = false, disabled_reason = 'gone', disabled_at = now(), updated_at = now(),
         version = version + 1 WHERE id = ANY(%(endpoints)s) AND active RETURNING id)
DELETE FROM webhooks_delivery_due due USING gone WHERE due.endpoint_id = gone.id AND due.lease IS NULL
"""

# The share lock makes this wait for a re-activation that is under way; if that wins, the rows stay and run again.
_FREEZE = """
WITH silent AS (
  SELECT id FROM webhooks_endpoint WHERE id = ANY(%(endpoints)s) AND NOT active ORDER BY id FOR SHARE),
frozen AS (
  DELETE FROM webhooks_delivery_due due USING silent
  WHERE due.endpoint_id = silent.id AND due.lease = %(lease)s AND due.delivery_id = ANY(%(deliveries)s)
  RETURNING delivery_id)
UPDATE webhooks_delivery_due SET due_at = now(), lease = NULL, claims = claims - 1
WHERE lease = %(lease)s AND delivery_id = ANY(%(deliveries)s) AND delivery_id NOT IN (SELECT delivery_id FROM frozen)
"""

_PAUSE = f"""
UPDATE webhooks_delivery_due SET due_at = now() + interval '{_SUSPENDED_SECONDS} seconds', lease = NULL, claims = claims - 1
WHERE lease = %(lease)s AND delivery_id = ANY(%(deliveries)s)
"""


@dataclass(frozen=True, slots=True)
class Work:
    """A claimed delivery with the bytes to send."""

    delivery_id: UUID
    created_at: datetime
    tenant_id: UUID
    event_id: UUID
    endpoint_id: UUID
    attempts: int
    claims: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Target:
    """An endpoint as it stands at the moment of sending; keys are (id, kind, still sealed), newest first."""

    id: UUID
    url: str
    active: bool
    tenant_active: bool
    sealed_keys: tuple[tuple[UUID, str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attempt as it is written down; `delay_seconds` None ends the delivery. Names are the statement's parameters."""

    attempt_id: UUID
    at: datetime
    delivery_id: UUID
    created_at: datetime
    tenant_id: UUID
    endpoint_id: UUID
    number: int
    status: int | None
    error: str
    duration_ms: int
    excerpt: str
    headers: Jsonb
    state: str
    delay_seconds: float | None


@dataclass(frozen=True, slots=True)
class Share:
    """How much one claim may take: rows in all, rows of one endpoint, and for how long."""

    limit: int
    per_endpoint: int
    lease_seconds: float


class Queues:
    """The statements over one connection that is opened when first needed and again after it broke."""

    def __init__(self, *, lease: UUID) -> None:
        self._lease = lease
        self._connection: psycopg.AsyncConnection[Any] | None = None

    async def close(self) -> None:
        """Give the connection back to the server."""
        if self._connection is not None:
            await self._connection.close()

    async def fan_out(self, *, limit: int) -> int:
        """Queue one batch of new events for the endpoints that want them; tell how many events it was."""
        rows = await self._run(_FAN_OUT, {"limit": limit, "pending": states.PENDING})
        return int(rows[0][0])

    async def claim(self, share: Share, inflight: Mapping[UUID, int]) -> list[Work]:
        """Take due deliveries, oldest first, no endpoint beyond its share; other workers' rows are passed over."""
        parameters = {
            "endpoints": list(inflight),
            "counts": list(inflight.values()),
            "full": [endpoint for endpoint, count in inflight.items() if count >= share.per_endpoint],
            "window": share.limit * _LOOK_AHEAD,
            "limit": share.limit,
            "share": share.per_endpoint,
            "lease": self._lease,
            "lease_seconds": share.lease_seconds,
        }
        return [Work(*row) for row in await self._run(_CLAIM, parameters)]

    async def targets(self, endpoints: Sequence[UUID]) -> dict[UUID, Target]:
        """Read the endpoints of claimed deliveries, with their live keys."""
        rows = await self._run(_TARGETS, {"endpoints": list(endpoints)})
        return {
            row[0]: Target(row[0], row[1], row[2], row[3], tuple(zip(*(found or () for found in row[4:]), strict=True)))
            for row in rows
        }

    async def finish(self, outcomes: Sequence[Outcome]) -> None:
        """Write attempts down and move on every delivery whose lease is still ours."""
        columns = {column.name: [getattr(outcome, column.name) for outcome in outcomes] for column in fields(Outcome)}
        await self._run(_FINISH, columns | {"lease": self._lease})

    async def silence(self, endpoints: Sequence[UUID]) -> None:
        """Disable endpoints whose receiver said 410 Gone. Source: Standard Webhooks 1.0.0, "Best practices"."""
        await self._run(_SILENCE, {"endpoints": list(endpoints)})

    async def freeze(self, work: Sequence[Work]) -> None:
        """Take deliveries of disabled endpoints out of the queue; re-activation puts them back."""
        parameters = {"endpoints": list({item.endpoint_id for item in work}), "lease": self._lease}
        await self._run(_FREEZE, parameters | {"deliveries": [item.delivery_id for item in work]})

    async def pause(self, work: Sequence[Work]) -> None:
        """Look again later at deliveries of suspended tenants, without counting an attempt."""
        await self._run(_PAUSE, {"deliveries": [item.delivery_id for item in work], "lease": self._lease})

    async def _run(self, statement: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run one statement in a transaction under the dispatcher's role, in one round trip.

        :raises psycopg.OperationalError: the server is away; the next call connects anew.
        """
        connection = await self._open()
        async with connection.pipeline(), connection.transaction():
            await connection.execute(_ROLE, [DISPATCHER])
            cursor = await connection.execute(statement.encode(), parameters)
        return await cursor.fetchall() if cursor.description else []

    async def _open(self) -> psycopg.AsyncConnection[Any]:
        if self._connection is None or self._connection.closed:
            found = connections["default"].get_connection_params()
            parameters = {name: value for name, value in found.items() if name not in _FOREIGN_PARAMETERS}
            parameters |= {"autocommit": True, "application_name": APPLICATION_NAME}
            self._connection = await psycopg.AsyncConnection.connect(**parameters)
        return self._connection
