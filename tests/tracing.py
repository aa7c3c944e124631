"""Coverage is not measured while a test marked `untraced` runs: being traced makes its Python take about twice the time.

Nor is it while fixtures are set up, tenants and members are made by `factories`, or the rules of `tests/architecture` are held.

What is measured can only become less by that, never more than what ran.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def untraced() -> Iterator[None]:
    """Stop all measuring of this process, and go on with it afterwards; in threads beside the main one nothing is stopped."""
    if threading.current_thread() is not threading.main_thread():  # the main one would not be measured again
        yield
        return
    try:
        from coverage import Coverage
    except ImportError:  # `pytest` without pytest-cov
        yield
        return
    stopped = []
    # A worker of pytest-xdist has two; the one below goes on when the upper stops.
    while measuring := Coverage.current():
        measuring.stop()
        stopped.append(measuring)
    try:
        yield
    finally:
        for measuring in reversed(stopped):
            measuring.start()
