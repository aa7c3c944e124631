"""What a feed may show: nothing as new as a write that is still open.

A version bears a time from before its commit. Who asks again for what changed since the newest version he has seen would miss
what was begun before that one and committed after it. So each write first marks its begin, by a lock that holds nobody up and
ends with the transaction, and what a feed answers ends at the oldest mark. Source: contract, conventions.md "Stability".
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from core import clock
from core.db import needs_transaction
from core.pipeline import Call, Rows, Statement
from core.pipeline import run as run_calls

_ZERO: Final = datetime(2020, 1, 1, tzinfo=UTC)
_BITS: Final = 40  # of a key of 64: milliseconds since then, until 2054; above them the end of the tenant's id
_TENANT: Final = (1 << 23) - 1
_LONGEST: Final = timedelta(hours=1)  # a key of other make that looks like ours tells some other time

_MARK: Final = Statement.of("SELECT pg_advisory_xact_lock_shared($1::bigint)")
_OLDEST: Final = Statement.of(
    f"""SELECT min(key & ((1::bigint << {_BITS}) - 1)) FROM (
  SELECT (l.classid::bigint << 32) | l.objid::bigint AS key FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.pid <> pg_backend_pid()
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS held
WHERE key BETWEEN $1::bigint AND $2::bigint"""
)


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
