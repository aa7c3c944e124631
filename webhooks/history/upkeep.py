"""One run of the history's upkeep: ranges made ahead, old ones dropped. The task and the command both call it."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import connections

from core.history.partitions import ALIAS, count_strays, make_ahead, turn

from . import retention
from .partitions import HISTORIES, TURN
from .retention import Held


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run did, and what it found amiss."""

    made: list[str]
    dropped: list[str]
    held: list[Held]
    settled: int
    hours: int
    strays: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        """The run as a JSON object."""
        return asdict(self)


def keep_history(*, at: datetime) -> Kept:
    """Make partitions ahead and drop old ones; it is safe to run at any time and as often as wanted.

    :raises Busy: another run is under way, or a lock was held all the time.
    :raises ImproperlyConfigured: the settings make no sense; nothing was touched.
    """
    chosen = retention.policy()
    try:
        with turn(TURN):
            made = [name for history in HISTORIES for name in make_ahead(history, at=at)]
            gone = retention.drop_old(chosen, at=at)
            strays = {one.table: count for one in HISTORIES if (count := count_strays(one.table))}
    finally:
        connections[ALIAS].close()
    return Kept(made, gone.partitions, gone.held, gone.settled, gone.hours, strays)
