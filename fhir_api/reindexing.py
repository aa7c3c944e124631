"""Making the entries of stored resources again, after the search parameters or the forms of keys have changed.

A change compares what a resource was found by with what it is found by now, both by the definitions of today; what was
stored before a parameter came is therefore never caught up by itself.
"""

from dataclasses import dataclass
from uuid import UUID

from core import arrays
from core.db import needs_transaction
from core.pipeline import Call, Statement, run

from .statements import HOLD_NEXT, INDEX_AGAIN
from .store import columns, index_of_body, numbered

_HOLD, _INDEX = Statement.of(HOLD_NEXT), Statement.of(INDEX_AGAIN)


@dataclass(frozen=True, slots=True)
class Step:
    """How many resources were looked at, and the number of the last; 0 and 0 where there was none left."""

    count: int
    last: int


@needs_transaction
def reindex(tenant_id: UUID, *, after: int, size: int = 500) -> Step:
    """Add what is missing of the next resources after a number; versions, times and bodies stay.

    What a resource is no longer found by stays, too: a number is never given again, so no search asks for it.
    """
    (rows,) = run([Call(_HOLD, [str(tenant_id), str(after), str(size)])])
    if not len(rows):
        return Step(0, 0)
    found = [(int(rows.value(n, 0) or 0), index_of_body(rows.value(n, 1) or b"")) for n in range(len(rows))]
    owners = arrays.numbers(owner for owner, _ in found)
    parameters = arrays.array_literal(numbered(entries) for _, entries in found)
    run([Call(_INDEX, [str(tenant_id), owners, parameters, *columns(found)])])
    return Step(len(found), found[-1][0])
