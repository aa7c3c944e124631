"""What a feed may show: nothing as new as a write that is still open.

A row bears a time from before its commit. Who asks again for what changed since the newest row he has seen would miss what
was begun before that one and committed after it. So each write first marks its begin for every tenant whose rows it writes, by
a lock that holds nobody up and ends with the transaction, and what a feed answers ends at the oldest mark of its tenant.
Source: contract, conventions.md "Stability".

Rows whose time is the service's are marked by `mark_call`, and `settled` tells how far a feed of them goes. Rows whose time
is the database's are marked within the statement that writes them, by `MARK`; `SETTLED` is the end of a list that reads in one
trip.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from core import clock
from core.db import needs_transaction
from core.pipeline import Call, Rows, Statement
from core.pipeline import run as run_calls
from core.row_security import BOUND

_ZERO: Final = datetime(2020, 1, 1, tzinfo=UTC)
_BITS: Final = 40  # of a key of 64: milliseconds since then, until 2054; above them the end of the tenant's id
_TENANT: Final = (1 << 23) - 1
_TIME: Final = (1 << _BITS) - 1
_LONGEST: Final = timedelta(hours=1)  # a key of other make that looks like ours tells some other time

# The marks of all tenants in this database, except those of the asking transaction.
_MARKS: Final = """(SELECT (l.classid::bigint << 32) | l.objid::bigint AS key FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.pid <> pg_backend_pid()
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""

_MARK: Final = Statement.of("SELECT pg_advisory_xact_lock_shared($1::bigint)")
_OLDEST: Final = Statement.of(
    f"SELECT min(key & {_TIME}) FROM {_MARKS} held WHERE key BETWEEN $1::bigint AND $2::bigint"
)


def _tenant_sql(tenant: str) -> str:
    """The part of a key that is the tenant's, for an expression of its id."""
    return f"((('x' || right({tenant}::text, 6))::bit(24)::bigint & {_TENANT}) << {_BITS})"


def _time_sql(at: str) -> str:
    """The part of a key that is a time, for an expression of it."""
    return f"floor((extract(epoch FROM {at}) - {int(_ZERO.timestamp())}) * 1000)::bigint"


# A sub-select for the FROM of a statement that writes; `{tenant}` is the expression of the tenant's id.
MARK: Final = f"(SELECT pg_advisory_xact_lock_shared({_tenant_sql('{tenant}')} | {_time_sql('clock_timestamp()')}))"

# The last two seconds are left out too: a statement sees the rows of its beginning, and the marks of a little later.
SETTLED: Final = f"""(SELECT least(now() - interval '2 seconds',
    min(timestamptz '{_ZERO.isoformat()}' + (key & {_TIME}) * interval '1 millisecond'))
  FROM {_MARKS} held WHERE key BETWEEN {_tenant_sql(BOUND)} | {_time_sql(f"now() - interval '{_LONGEST.seconds} seconds'")}
    AND {_tenant_sql(BOUND)} | {_time_sql("clock_timestamp()")})"""


def mark_call(tenant_id: UUID) -> Call:
    """The statement that marks the begin of a write; whoever sends it reads the write's time afterwards."""
    return Call(_MARK, [str(_key(tenant_id, clock.now()))])


@needs_transaction
def begin(tenant_id: UUID) -> datetime:
    """Mark the begin of a write in a trip of its own, and read its time."""
    run_calls([mark_call(tenant_id)])
    return clock.now()


def settled(tenant_id: UUID, run: Callable[[Sequence[Call]], Sequence[Rows]] = run_calls) -> datetime:
    """The time before which nothing of the tenant can appear any more; asked in a trip of its own, before what it bounds."""
    now = clock.now()
    (rows,) = run([Call(_OLDEST, [str(_key(tenant_id, now - _LONGEST)), str(_key(tenant_id, now))])])
    oldest = rows.value()
    return now if oldest is None else _ZERO + timedelta(milliseconds=int(oldest))


def _key(tenant_id: UUID, at: datetime) -> int:
    return (tenant_id.int & _TENANT) << _BITS | (at - _ZERO) // timedelta(milliseconds=1)
