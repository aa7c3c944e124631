"""The watermark of feeds: the time up to which a feed is complete, that of the oldest write still open.

A row's time is taken before its commit. A client that asks for changes since the newest row it has seen would miss a
write that began before that row and committed after it. So each write first marks its start for every tenant whose rows
it writes, by a shared advisory lock, which blocks no other write and ends with the transaction. A feed ends at the
oldest mark of its tenant. Source: contract, conventions.md "Stability".

Where the service sets the time of the rows, `mark_call` marks the write, and `settled` returns the end of the feed.
Where the database sets it, `MARK` marks the write within its own statement, and `SETTLED` is the end of a list that is
read in one trip. `settle_call` keeps the end for the statements behind it in the same trip, which compare with `END`:
each statement of a trip sees what was committed before it began, and the marks were read before that.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from core import clock
from core.db import BOUND_TENANT, needs_transaction
from core.pipeline import Call, Rows, Statement
from core.pipeline import run as run_calls

_ZERO: Final = datetime(2020, 1, 1, tzinfo=UTC)
_BITS: Final = 40  # of 64 in a key: milliseconds since `_ZERO`, until 2054; above them the last bits of the tenant's id
_TENANT: Final = (1 << 23) - 1
_TIME: Final = (1 << _BITS) - 1
_LONGEST: Final = timedelta(hours=1)  # older times come from unrelated advisory locks whose keys look alike

# The marks of all tenants in this database, except those of the reading transaction.
_MARKS: Final = """(SELECT (l.classid::bigint << 32) | l.objid::bigint AS key FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.pid <> pg_backend_pid()
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""

_MARK: Final = Statement.of("SELECT pg_advisory_xact_lock_shared($1::bigint)")
_OLDEST: Final = Statement.of(
    f"SELECT min(key & {_TIME}) FROM {_MARKS} held WHERE key BETWEEN $1::bigint AND $2::bigint"
)

# The end for the rest of the transaction. The instant of the asking itself belongs to the feed: who marks later is later.
_SETTLE: Final = Statement.of(
    "SELECT set_config('feed.end', least($3::timestamptz + interval '1 microsecond',"
    f" min(timestamptz '{_ZERO.isoformat()}' + (key & {_TIME}) * interval '1 millisecond'))::text, true)"
    f" FROM {_MARKS} held WHERE key BETWEEN $1::bigint AND $2::bigint"
)
END: Final = "(SELECT NULLIF(current_setting('feed.end', true), '')::timestamptz)"  # unknown: no row is before it


def _tenant_sql(tenant: str) -> str:
    """Return SQL for the tenant's part of a key; `tenant` is an expression of the tenant's id."""
    return f"((('x' || right({tenant}::text, 6))::bit(24)::bigint & {_TENANT}) << {_BITS})"


def _time_sql(at: str) -> str:
    """Return SQL for the time's part of a key; `at` is an expression of the time."""
    return f"floor((extract(epoch FROM {at}) - {int(_ZERO.timestamp())}) * 1000)::bigint"


# A sub-select for the FROM of a statement that writes; `{tenant}` is the expression of the tenant's id.
MARK: Final = f"(SELECT pg_advisory_xact_lock_shared({_tenant_sql('{tenant}')} | {_time_sql('clock_timestamp()')}))"

# The last two seconds are left out too: a statement sees the rows committed before it began, but reads the marks later.
SETTLED: Final = f"""(SELECT least(now() - interval '2 seconds',
    min(timestamptz '{_ZERO.isoformat()}' + (key & {_TIME}) * interval '1 millisecond'))
  FROM {_MARKS} held WHERE key BETWEEN {_tenant_sql(BOUND_TENANT)} | {_time_sql(f"now() - interval '{_LONGEST.seconds} seconds'")}
    AND {_tenant_sql(BOUND_TENANT)} | {_time_sql("clock_timestamp()")})"""


def mark_call(tenant_id: UUID) -> Call:
    """Return the statement that marks the start of a write; the time of the write is to be read afterwards."""
    return Call(_MARK, [str(_key(tenant_id, clock.now()))])


def settle_call(tenant_id: UUID) -> Call:
    """Return the statement that keeps the end of the feed as `END`, to be sent in front of the one that reads the feed."""
    now = clock.now()
    return Call(_SETTLE, [str(_key(tenant_id, now - _LONGEST)), str(_key(tenant_id, now)), now.isoformat()])


@needs_transaction
def begin(tenant_id: UUID) -> datetime:
    """Mark the start of a write in its own trip, and return the time of the write."""
    run_calls([mark_call(tenant_id)])
    return clock.now()


@needs_transaction
def begin_batch(tenant_id: UUID, at: datetime) -> datetime:
    """As `begin`, of one batch of a job whose instant is `at`: the time of the rows of this batch, never before `at`."""
    return max(at, begin(tenant_id))


def settled(tenant_id: UUID, run: Callable[[Sequence[Call]], Sequence[Rows]] = run_calls) -> datetime:
    """Return the time before which no row of the tenant can appear any more; to be read before the feed itself."""
    now = clock.now()
    (rows,) = run([Call(_OLDEST, [str(_key(tenant_id, now - _LONGEST)), str(_key(tenant_id, now))])])
    oldest = rows.value()
    return now if oldest is None else _ZERO + timedelta(milliseconds=int(oldest))


def _key(tenant_id: UUID, at: datetime) -> int:
    return (tenant_id.int & _TENANT) << _BITS | (at - _ZERO) // timedelta(milliseconds=1)
