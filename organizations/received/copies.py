"""Computing received copies from their owner's rows, and writing them in the tenants that read them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from core.arrays import array_literal
from core.db import bind_call
from core.pipeline import Call, Rows
from core.watermark import mark_call

from .kinds import ReceivedKind

CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Copy:
    """One received copy as it should be; the values are texts, in the order of the kind's columns."""

    kind: ReceivedKind
    id: UUID
    tenant_id: UUID
    values: tuple[bytes | None, ...]
    apart: bytes | None
    is_closed: bool

    @property
    def lines(self) -> bytes | None:
        """The lines as JSON."""
        return self.apart if self.kind.lines_apart else self.values[-1]

    def calls(self, at: datetime) -> list[Call]:
        """Return the statements that write the copy and its index, for a transaction bound to its tenant."""
        index = self.kind.index.write_calls(self.tenant_id, self.id, self.lines) if self.kind.index else []
        return [Call(self.kind.written, [*self.values, at.isoformat()]), *index]


def compute_call(kind: ReceivedKind, owner_id: UUID, document_id: UUID) -> Call:
    """Return the statement that computes the copies of a document, for a transaction bound to its owner."""
    return Call(kind.computed, [str(document_id), str(owner_id)])


def compute_calls(owner_id: UUID, touched: Iterable[tuple[ReceivedKind, UUID]]) -> list[tuple[ReceivedKind, Call]]:
    """Return the statements that compute the copies of several documents, one for each type."""
    wanted: dict[ReceivedKind, list[UUID]] = {}
    for kind, key in touched:
        wanted.setdefault(kind, []).append(key)
    return [(kind, _compute_call(kind, owner_id, keys)) for kind, keys in wanted.items()]


def _compute_call(kind: ReceivedKind, owner_id: UUID, keys: list[UUID]) -> Call:
    if len(keys) == 1:
        return compute_call(kind, owner_id, keys[0])
    return Call(kind.computed_all, [array_literal(keys), str(owner_id)])


def copies_of(kind: ReceivedKind, found: Rows) -> Iterator[Copy]:
    """Yield the copies that `compute_call` answered."""
    for number in range(len(found)):
        *values, apart, status = found.row(number)
        key, tenant_id = (UUID((value or b"").decode()) for value in values[:2])
        yield Copy(kind, key, tenant_id, tuple(values), apart, (status or b"").decode() == CLOSED)


def write_calls(copies: Iterable[Copy], at: datetime) -> list[Call]:
    """Return the statements that write copies, each bound to its tenant, in one order for all writers.

    The tenant of a copy is known only after the write has read its instant: each copy is marked before it is written, and
    bears the time at which it is, see `ReceivedKind.written`. A copy in a closed tenant is not written: its rows are gone for good.
    """
    open_copies = [copy for copy in copies if not copy.is_closed]
    ordered = sorted(open_copies, key=lambda copy: (copy.tenant_id, copy.kind.copy._meta.db_table, copy.id))
    calls: list[Call] = []
    for tenant_id, group in groupby(ordered, key=lambda copy: copy.tenant_id):
        calls += [bind_call(tenant_id), mark_call(tenant_id)]
        for kind, alike in groupby(group, key=lambda copy: copy.kind):
            calls += _calls_of(kind, list(alike), at)
    return calls


def _calls_of(kind: ReceivedKind, copies: Sequence[Copy], at: datetime) -> list[Call]:
    """Return the statements that write copies of one type in one tenant."""
    if len(copies) == 1 or kind.index:
        return [call for copy in copies for call in copy.calls(at)]
    columns = zip(*(copy.values for copy in copies), strict=True)
    texts = [array_literal(None if value is None else value.decode() for value in column) for column in columns]
    return [Call(kind.written_all, [*texts, array_literal([at.isoformat()] * len(copies))])]


def stored_calls(copy: Copy) -> list[Call]:
    """Return the binding of a copy's tenant, what is stored of the copy, and whether the index of its lines differs."""
    index = copy.kind.index
    lines = [index.differing_call(copy.tenant_id, copy.id, copy.lines)] if index else []
    return [bind_call(copy.tenant_id), Call(copy.kind.stored, [str(copy.id), str(copy.tenant_id)]), *lines]
