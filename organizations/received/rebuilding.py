"""Rewriting the copies that a tenant holds, after a change of what they show."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from core.db import bind_call
from core.model_rows import lock_call
from core.pipeline import run

from .copies import write_calls
from .kinds import ReceivedKind, received_kinds
from .proof import by_owner, computed, held

BATCH = 200
_FIRST = UUID(int=0)


class Rebuilt(NamedTuple):
    """How many copies of one type were read, and how many of them were rewritten because they differed."""

    table: str
    read: int
    rewritten: int


def rebuild(tenant_id: UUID, now: Callable[[], datetime], *, after: UUID = _FIRST) -> list[Rebuilt]:
    """Rewrite the copies that a tenant holds, in batches that each commit; `now` reads the clock for each of them.

    Copies whose owner is closed stay as they are. A run that was stopped can simply be started again: what is equal is
    not written. `after` skips the copies up to this id.
    """
    return [_rebuilt(kind, tenant_id, now, after) for kind in received_kinds()]


def _rebuilt(kind: ReceivedKind, tenant_id: UUID, now: Callable[[], datetime], start: UUID) -> Rebuilt:
    read = rewritten = 0
    after: UUID | None = start
    while after is not None:
        with transaction.atomic():
            pairs, after = held(kind, tenant_id, after, BATCH)
        read += len(pairs)
        for owner_id, keys in by_owner(pairs):
            rewritten += _rewrite(kind, tenant_id, owner_id, keys, now())
    return Rebuilt(kind.copy._meta.db_table, read, rewritten)


def _rewrite(kind: ReceivedKind, tenant_id: UUID, owner_id: UUID, keys: list[UUID], at: datetime) -> int:
    """Lock the documents of one owner in the order of their ids, and write their copies in one tenant.

    Documents that nobody may change need no lock, and none can be taken.
    """
    locked = [] if kind.document.security.append_only else keys
    with transaction.atomic():
        run([bind_call(owner_id), *(lock_call(kind.document, owner_id, key) for key in locked)])
        copies = [copy for copy in computed(kind, owner_id, keys) if copy.tenant_id == tenant_id]
        calls = write_calls(copies, at)
        found = zip(calls, run(calls), strict=True) if calls else ()
        return sum(len(rows) for call, rows in found if call.statement is kind.written)
