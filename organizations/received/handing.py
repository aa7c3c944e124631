"""Handing many documents of one owner over at once, which were known to nobody else before."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from core.arrays import array_literal
from core.db import bind_call, needs_transaction
from core.pipeline import Call, run

from .copies import compute_calls, copies_of, write_calls
from .kinds import ReceivedKind

BATCH: Final = 200


@needs_transaction
def hand_over(
    owner_id: UUID, reader_id: UUID, kind: ReceivedKind, documents: Mapping[UUID, datetime], at: datetime
) -> int:
    """Write the copies of locked documents in the tenant that reads them now; return how many there are.

    `documents` are ids with the time that each copy says it was handed over at. Nobody is told. The owner is bound
    afterwards.
    """
    written, ordered = 0, sorted(documents)
    for first in range(0, len(ordered), BATCH):
        keys = ordered[first : first + BATCH]
        wanted = compute_calls(owner_id, [(kind, key) for key in keys])
        _, *found = run([bind_call(owner_id), *(call for _, call in wanted)])
        copies = [one for rows in found for one in copies_of(kind, rows) if one.tenant_id == reader_id]
        ids = [one.id for one in copies]
        times = [documents[key].isoformat() for key in ids]
        dated = Call(kind.dated, [str(reader_id), array_literal(ids), array_literal(times)])
        run([*write_calls(copies, at), bind_call(reader_id), dated, bind_call(owner_id)])
        written += len(copies)
    return written
