"""What is shown of the front's threads: who waits, who holds one, whose work was ended; by family, never by tenant."""

import threading
import time
from collections import Counter as Count
from collections.abc import Callable
from functools import lru_cache

from prometheus_client import Counter, Gauge

from api.url_areas import area_of
from core.budgets import Budget

SHOW_SECONDS = 1.0

_Paths = Callable[[], list[str]]

_waiting = Gauge("hp_http_waiting", "Requests that wait for a thread.", ["family"], multiprocess_mode="livesum")
_held = Gauge("hp_http_threads_held", "Threads that answer a request.", ["family"], multiprocess_mode="livesum")
_ended = Counter(
    "hp_http_ended", "Requests ended because their time was used up or their client has gone.", ["family", "why"]
)


def show(waiting: _Paths, held: _Paths) -> None:
    """Keep the gauges up to date until the process ends."""
    threading.Thread(target=_keep, args=(waiting, held), name="occupancy", daemon=True).start()


def count_ended(budget: Budget) -> None:
    """Count a request whose work was ended."""
    _ended.labels(_family(budget.path), budget.ended or "").inc()


def _keep(waiting: _Paths, held: _Paths) -> None:
    shown: set[str] = set()
    while True:
        time.sleep(SHOW_SECONDS)
        waits, holds = Count(map(_family, waiting())), Count(map(_family, held()))
        shown |= {*waits, *holds}
        for family in shown:
            _waiting.labels(family).set(waits[family])
            _held.labels(family).set(holds[family])


@lru_cache(maxsize=1024)
def _family(path: str) -> str:
    """Return the family of an address, as the rate limits know it, or its area where it has none."""
    from api.routing import find  # imports DRF, which reads settings that need the apps; the front sets them up

    match = find(path)
    family: str = getattr(getattr(match.func, "cls", None), "family", "") if match else ""
    return family or area_of(path).name
