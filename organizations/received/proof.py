"""Proof of the received copies: each is computed anew from its owner's rows and compared with what is stored.

A batch is read in one snapshot, so writers go on meanwhile and are never mistaken for a fault.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby, islice
from uuid import UUID

from django.db import connection, transaction

from core.db import bind_call
from core.invariants import Breach
from core.pipeline import Call, Rows, run

from .copies import CLOSED, Copy, compute_call, copies_of, stored_calls
from .kinds import ReceivedKind, received_kinds

RULE = "received copies"
BATCH = 200
_FIRST = UUID(int=0)


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield the copies of the tenant's documents that differ or are missing, and its copies without a document.

    Copies of or in a closed tenant are compared no more.
    """
    for kind in received_kinds():
        yield from _of_owner(kind, tenant_id)
        yield from _of_reader(kind, tenant_id)


def _of_owner(kind: ReceivedKind, owner_id: UUID) -> Iterator[Breach]:
    after: UUID | None = _FIRST
    while after is not None:
        with _snapshot():
            _, rows = run([bind_call(owner_id), Call(kind.walked, [str(owner_id), str(after), str(BATCH)])])
            keys = [UUID((rows.value(n) or b"").decode()) for n in range(len(rows))]
            found = [*_compared([copy for copy in computed(kind, owner_id, keys) if not copy.is_closed])]
        yield from found
        after = keys[-1] if len(keys) == BATCH else None


def _compared(copies: list[Copy]) -> Iterator[Breach]:
    calls = [stored_calls(copy) for copy in copies]
    rows = iter(run([call for some in calls for call in some]) if calls else ())
    for copy, some in zip(copies, calls, strict=True):
        _, stored, *lines = islice(rows, len(some))
        if what := _fault(copy, stored, lines):
            yield Breach(RULE, copy.tenant_id, copy.kind.copy._meta.db_table, copy.id, what)


def _fault(copy: Copy, stored: Rows, lines: list[Rows]) -> str:
    """Say what is wrong with a stored copy; "" for nothing."""
    if not len(stored):
        return "the copy is missing"
    names = _different(copy, stored.row()) + ["the index of lines"] * any(map(len, lines))
    return f"differs in {', '.join(names)}" if names else ""


def _different(copy: Copy, stored: list[bytes | None]) -> list[str]:
    pairs = zip(copy.kind.values, copy.values, stored, strict=True)
    return [name for name, wanted, found in pairs if wanted != found]


def _of_reader(kind: ReceivedKind, reader_id: UUID) -> Iterator[Breach]:
    after: UUID | None = _FIRST
    while after is not None:
        with _snapshot():
            pairs, after = held(kind, reader_id, after, BATCH)
            strays = [
                key
                for owner_id, keys in by_owner(pairs)
                for key in set(keys)
                - {copy.id for copy in computed(kind, owner_id, keys) if copy.tenant_id == reader_id}
            ]
        for key in strays:
            yield Breach(RULE, reader_id, kind.copy._meta.db_table, key, "no document of the owner stands behind it")


def computed(kind: ReceivedKind, owner_id: UUID, keys: Iterable[UUID]) -> list[Copy]:
    """Compute the copies of some documents of one owner, who stays bound."""
    calls = [compute_call(kind, owner_id, key) for key in keys]
    return [copy for rows in run([bind_call(owner_id), *calls])[1:] for copy in copies_of(kind, rows)]


def held(kind: ReceivedKind, reader_id: UUID, after: UUID, most: int) -> tuple[list[tuple[UUID, UUID]], UUID | None]:
    """Read owners and ids of a tenant's copies after one of them, and the id to go on after, or None at the end.

    Copies whose owner is closed are left out.
    """
    _, rows = run([bind_call(reader_id), Call(kind.held, [str(reader_id), str(after), str(most)])])
    found = [[(value or b"").decode() for value in rows.row(number)] for number in range(len(rows))]
    pairs = [(UUID(owner), UUID(key)) for owner, key, status in found if status != CLOSED]
    return pairs, UUID(found[-1][1]) if len(found) == most else None


def by_owner(pairs: Iterable[tuple[UUID, UUID]]) -> Iterator[tuple[UUID, list[UUID]]]:
    """Group owners and ids by owner; the ids are in their order."""
    for owner_id, group in groupby(sorted(pairs), key=lambda pair: pair[0]):
        yield owner_id, [key for _, key in group]


@contextmanager
def _snapshot() -> Iterator[None]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
