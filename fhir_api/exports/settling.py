"""When everything of a time is there: who began to write before it may commit after it.

A version bears the time at which its request was worked on, and appears with the commit. So an export waits a little, for
clocks that go after ours, then for the end of all transactions of the service that are open at that moment.
"""

from datetime import timedelta
from typing import Final

from django.db import connection

from core.db import needs_transaction

CLOCKS: Final = timedelta(seconds=2)

# Each transaction holds the lock of its own virtual id from its begin to its end. Source: PostgreSQL, "pg_locks".
_OPEN: Final = """
SELECT l.virtualtransaction FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'virtualxid' AND l.granted AND l.pid <> pg_backend_pid()
  AND a.datname = current_database() AND a.usename = session_user
"""


@needs_transaction
def open_transactions() -> set[str]:
    """The transactions of the service in this database that are open now, except this one."""
    with connection.cursor() as cursor:
        cursor.execute(_OPEN)
        return {name for (name,) in cursor.fetchall()}
