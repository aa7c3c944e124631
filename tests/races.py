"""Real threads that start at the same moment, each with a database connection of its own."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection


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
