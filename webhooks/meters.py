"""What a dispatcher counts while it works, handed to the database now and then: it may die, and nobody can scrape it."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from . import states, stats
from .queues import Outcome, Work

CLAIMS = "claims"
FINISHES = "finishes"
LEASES_LOST = "leases_lost"
DELIVERIES = "deliveries"
ATTEMPTS = "attempts"
LATENCY = "latency"
LATENCY_SUM_MS = "latency_sum_ms"
EVERY_SECONDS = 1.0


class Meters:
    """Figures since they were last handed over, under the names of `webhooks_meter`."""

    def __init__(self) -> None:
        self._since: Counter[str] = Counter()

    def claimed(self, works: Sequence[Work]) -> None:
        """Note a claim; work that was claimed before and never finished had lost its lease."""
        self._since[CLAIMS] += len(works)
        if lost := sum(work.claims - work.attempts > 1 for work in works):
            self._since[LEASES_LOST] += lost

    def finished(self, outcomes: Iterable[Outcome]) -> None:
        """Note what came of attempts."""
        for outcome in outcomes:
            self._since[FINISHES] += 1
            self._since[f"{ATTEMPTS}.{result_class(outcome)}"] += 1
            self._since[f"{LATENCY}.{bisect_right(stats.BOUNDS_MS, outcome.duration_ms)}"] += 1
            self._since[LATENCY_SUM_MS] += outcome.duration_ms
            if outcome.state in (states.DELIVERED, states.FAILED):
                self._since[f"{DELIVERIES}.{outcome.state}"] += 1

    def take(self) -> dict[str, int]:
        """Hand everything over and start anew."""
        found, self._since = dict(self._since), Counter()
        return found

    def put_back(self, figures: dict[str, int]) -> None:
        """Keep figures that could not be written."""
        self._since.update(figures)


def result_class(outcome: Outcome) -> str:
    """Name the kind of answer: `2xx` to `5xx`, or the error's word, of which there are few."""
    return f"{outcome.status // 100}xx" if outcome.status is not None else outcome.error or "none"
