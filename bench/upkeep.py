"""PostgreSQL's own upkeep in a benchmark: it is done between the rounds, so that none of it falls into a measurement by chance."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import sql

from devtools.environment import Backends

HOW: Final = "PostgreSQL's upkeep of its tables is done between the rounds."
# As autovacuum chooses them by its own settings.
_DUE: Final = """
SELECT relid::regclass::text FROM pg_stat_user_tables
WHERE n_dead_tup > 50 + 0.2 * n_live_tup OR n_ins_since_vacuum > 1000 + 0.2 * n_live_tup
   OR n_mod_since_analyze > 50 + 0.1 * n_live_tup
"""


@contextmanager
def put_off(backends: Backends) -> Iterator[None]:
    """Let PostgreSQL begin no upkeep by itself until the block ends."""
    with backends.administration().connect() as connection:
        connection.execute("ALTER SYSTEM SET autovacuum = off")
        connection.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            connection.execute("ALTER SYSTEM RESET autovacuum")
            connection.execute("SELECT pg_reload_conf()")


def keep_up(connection: "psycopg.Connection[Any]") -> None:
    """Vacuum and analyze what is due in a database."""
    for (table,) in connection.execute(_DUE).fetchall():
        connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.SQL(table)))
