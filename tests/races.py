"""Real threads that start at the same moment, each with a database connection of its own."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

# Of `pg_stat_activity` a transaction would see again what it saw first.
_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"


def race(*works: Callable[[], Any]) -> list[Any]:
    """Run all at once; return what each returned, or the exception it raised, in their order."""
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        connection.ensure_connection()
        barrier.wait(timeout=30)
        try:
            return work()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def await_waiter(seconds: float = 3.0) -> None:
    """Wait until somebody waits for a lock that this thread's connection holds; a writer gives up after 4.5 s."""
    until = time.monotonic() + seconds
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_WAITING)
            if cursor.fetchone()[0]:
                return
            assert time.monotonic() < until
            time.sleep(0.01)
