"""Beginning again after a deadlock of two transactions, of which PostgreSQL ends one."""

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

import psycopg
from django.db import DatabaseError

ATTEMPTS: Final = 4
_PAUSE_SECONDS: Final = 0.05
_AGAIN: Final = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)

Result = TypeVar("Result")


def begun_again(work: Callable[[], Result]) -> Result:
    """Do a work that opens its own transaction, and once more if it lost to another one, at most `ATTEMPTS` times.

    :raises django.db.DatabaseError: it lost every time, or failed for another reason.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return work()
        except DatabaseError as error:
            if attempt == ATTEMPTS or not isinstance(error.__cause__, _AGAIN):
                raise
        time.sleep(random.uniform(0, _PAUSE_SECONDS * 2**attempt))
    raise AssertionError("unreachable")
