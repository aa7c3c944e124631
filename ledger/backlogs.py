"""The backlog of the relay, for monitoring."""

from dataclasses import dataclass

from core.db import role_context
from core.named_rows import fetch
from core.row_security import DISPATCHER

# The age counts from the time a row was due, by the database's clock; a row to be retried counts once it is due again.
_BACKLOG = (
    "SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(due_at)), 0)::float8 AS oldest_seconds"
    " FROM ledger_pending WHERE due_at <= clock_timestamp()"
)


@dataclass(frozen=True, slots=True)
class Backlog:
    """The number of due, unhandled rows of all tenants, and the age of the oldest in seconds."""

    count: int
    oldest_seconds: float


def backlog() -> Backlog:
    """Read the relay's backlog; an index on the due time keeps the query cheap."""
    with role_context(DISPATCHER):
        (found,) = fetch(Backlog, _BACKLOG)
    return found
