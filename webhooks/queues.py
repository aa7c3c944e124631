"""The dispatcher's statements at work: fan out, claim, finish, freeze. PostgreSQL is the truth; whoever dies, a lease ends.

They run on a connection of their own, outside Django, under the narrow role `hp_dispatcher`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import psycopg
from django.db import connections
from psycopg.rows import dict_row
from psycopg.types.json import Json

from core.lanes import Lane, Walk
from core.row_security import DISPATCHER

from . import statements

APPLICATION_NAME = "webhooks_dispatch"
_FOREIGN_PARAMETERS = frozenset({"cursor_factory", "context", "prepare_threshold"})
_LOOK_AHEAD = 2
_HOPS = 256
_MOST_FRONTS = 8
_NOWHERE = UUID(int=0)

# A process that is stopped halfway through sending a trip would hold its locks for ever: between the statements of a pipeline
# no other timeout runs. Source: PostgreSQL 17, transaction_timeout.
_KNOWS_TRANSACTION_TIMEOUT = 170_000
_BOUND = b"SET transaction_timeout = '20s'"

# What a crash of the server may take back is then done again: a claim or a fan-out, never an outcome.
_BIND = "SELECT hp_bind('', %s, '', ''), set_config('synchronous_commit', %s, true)"


class Fanned(NamedTuple):
    """How many events a fan-out took, and whether there is probably more."""

    events: int
    more: bool


@dataclass(frozen=True, slots=True)
class Work:
    """A claimed delivery with the bytes to send."""

    delivery_id: UUID
    created_at: datetime
    tenant_id: UUID
    event_id: UUID
    endpoint_id: UUID
    attempts: int
    attempts_before: int
    claims: int
    trigger: str
    body: bytes | None  # None: the event's bytes were expunged


@dataclass(frozen=True, slots=True)
class Target:
    """An endpoint as it stands at the moment of sending; keys are (id, kind, still sealed), newest first."""

    tenant_id: UUID
    id: UUID
    url: str
    active: bool  # and so is its tenant
    sealed_keys: tuple[tuple[UUID, str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attempt as it is written down; `delay_seconds` None ends the delivery. Names are those of the statement.

    `asked` False is an attempt that never reached for the receiver, so that its health is not judged by it.
    """

    attempt_id: UUID
    at: datetime
    delivery_id: UUID
    created_at: datetime
    tenant_id: UUID
    endpoint_id: UUID
    number: int
    attempts_before: int
    status: int | None
    error: str
    duration_ms: int
    excerpt: str
    headers: dict[str, str]
    timings: dict[str, int]
    remote_ip: str | None
    trigger: str
    state: str
    delay_seconds: float | None
    pause_seconds: float | None
    asked: bool


@dataclass(frozen=True, slots=True)
class Share:
    """How much one claim may take: rows in all, those kept for first tries, and for how long."""

    limit: int
    first: int
    lease_seconds: float


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim brought: work, and endpoints with work that are disabled, each with its tenant."""

    work: list[Work]
    inactive: dict[UUID, UUID]


_WORK = tuple(one.name for one in fields(Work))


def _work(row: Mapping[str, Any]) -> Work:
    return Work(**{name: row[name] for name in _WORK})


def _target(row: Mapping[str, Any]) -> Target:
    keys = zip(row["secret_ids"] or (), row["kinds"] or (), row["sealed_keys"] or (), strict=True)
    return Target(row["tenant_id"], row["id"], row["url"], row["active"], tuple(keys))


def _given(rows: Mapping[UUID, UUID]) -> dict[str, list[UUID]]:
    ids = sorted(rows)
    return {"ids": ids, "tenants": [rows[one] for one in ids]}


class Queues:
    """The statements over one connection that is opened when first needed and again after it broke.

    Rows are named by their ids, each with its tenant.
    """

    def __init__(self, *, lease: UUID) -> None:
        self._lease = lease
        self._connection: psycopg.AsyncConnection[Any] | None = None
        self._walk = Walk()
        self._after: dict[Lane, UUID] = {}

    async def close(self) -> None:
        """Give the connection back to the server; the next statement opens another one."""
        if self._connection is not None:
            await self._connection.close()

    async def fan_out(self, lane: Lane, *, limit: int) -> Fanned:
        """Queue one batch of a lane's new events for the endpoints that want them, a share of it for each tenant."""
        parameters = {"limit": limit, **self._walk.parameters(lane)}
        (row,) = await self._run([lane.sql(statements.FAN_OUT)], parameters, durable=False)
        self._walk.went(lane, row["after"])
        return Fanned(row["events"], more=row["is_full"] or row["after"] is not None)

    async def claim(self, lane: Lane, share: Share) -> Claim:
        """Take due deliveries of a lane, as many of each endpoint as it may have in flight over all dispatchers.

        The front of the queue is that of all lanes; where they are several, more of it is read.
        """
        parameters = {
            "after": self._after.get(lane, _NOWHERE),
            "hops": _HOPS * min(lane.of, _MOST_FRONTS),
            "window": share.limit * _LOOK_AHEAD * min(lane.of, _MOST_FRONTS),
            "limit": share.limit,
            "first_share": share.first,
            "lease": self._lease,
            "lease_seconds": share.lease_seconds,
            **lane.parameters,
        }
        rows = await self._run([statements.CLAIM_TURN, lane.sql(statements.CLAIM)], parameters, durable=False)
        first = rows[0]
        self._after[lane] = first["after"] or _NOWHERE
        inactive = dict(zip(first["inactive"] or (), first["inactive_tenants"] or (), strict=True))
        return Claim([_work(row) for row in rows if row["delivery_id"] is not None], inactive)

    async def targets(self, endpoints: Mapping[UUID, UUID]) -> dict[UUID, Target]:
        """Read the endpoints of claimed deliveries, with their live keys."""
        rows = await self._run([statements.TARGETS], _given(endpoints))
        return {row["id"]: _target(row) for row in rows}

    async def finish(self, outcomes: Sequence[Outcome]) -> None:
        """Write attempts down, judge the endpoints, and move on every delivery whose lease is still ours."""
        written = Json(outcomes, dumps=orjson.dumps)
        await self._run([statements.FINISH], {"outcomes": written, "lease": self._lease})

    async def freeze(self, endpoints: Mapping[UUID, UUID]) -> None:
        """Take deliveries of disabled endpoints out of the queue; re-activation puts them back."""
        await self._run([statements.FREEZE], _given(endpoints))

    async def release(self, work: Sequence[Work]) -> None:
        """Put back what was claimed and not sent, without counting an attempt."""
        parameters = {**_given({item.delivery_id: item.tenant_id for item in work}), "lease": self._lease}
        await self._run([statements.RELEASE], parameters, durable=False)

    async def use_keys(self, secrets: Mapping[UUID, UUID]) -> None:
        """Note that keys signed something."""
        await self._run([statements.USE_KEYS], _given(secrets), durable=False)

    async def count(self, figures: Mapping[str, int]) -> None:
        """Add to the figures that monitoring reads."""
        parameters = {"names": list(figures), "values": list(figures.values())}
        await self._run([statements.METER], parameters, durable=False, role="none")

    async def _run(
        self,
        wanted: Sequence[str],
        parameters: Mapping[str, Any],
        *,
        durable: bool = True,
        role: str = DISPATCHER,
    ) -> list[dict[str, Any]]:
        """Run statements in a transaction under a narrow role, in one round trip; return what the last one found.

        :raises psycopg.OperationalError: the server is away; the next call connects anew.
        """
        connection = await self._open()
        async with connection.pipeline(), connection.transaction():
            await connection.execute(_BIND, [role, "on" if durable else "off"])
            for statement in wanted:
                cursor = connection.cursor(row_factory=dict_row)
                await cursor.execute(statement.encode(), parameters, prepare=True)
        return await cursor.fetchall() if cursor.description else []

    async def _open(self) -> psycopg.AsyncConnection[Any]:
        """A session as the service's own: planned once, by the indexes, for an empty queue and a full one."""
        if self._connection is None or self._connection.closed:
            found = connections["default"].get_connection_params()
            parameters = {name: value for name, value in found.items() if name not in _FOREIGN_PARAMETERS}
            parameters |= {"autocommit": True, "application_name": APPLICATION_NAME}
            self._connection = await psycopg.AsyncConnection.connect(**parameters)
            if self._connection.info.server_version >= _KNOWS_TRANSACTION_TIMEOUT:
                await self._connection.execute(_BOUND)
            await self._connection.execute(statements.ALIVE.encode(), {"lease": self._lease})
        return self._connection
