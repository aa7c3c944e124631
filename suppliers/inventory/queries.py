"""Reads of the inventory."""

from core.pipeline import Call, Statement
from organizations.public import reach

WITHIN = reach("location_id", below=True)  # what a membership that is limited to places sees and moves

_NEEDED = Statement.of("SELECT set_config('stock.needed_date', $1, true)")


def needed_call(needed_date: str) -> Call:
    """Return the statement that settles, until the transaction ends, for which date availability is read; "" is today."""
    return Call(_NEEDED, [needed_date])
