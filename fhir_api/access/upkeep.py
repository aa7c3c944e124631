"""The access log over time: months are made ahead and dropped when the law no longer asks for them."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from core.history.partitions import ALIAS, History, ask, count_strays, make_ahead, read_ranges, turn
from core.history.ranges import Step

SHORTEST_DAYS, LONGEST_DAYS = 365, 36_500
HISTORIES: Final = (History("fhir_api_accesspatient", Step.MONTH), History("fhir_api_accessrecord", Step.MONTH))
TURN: Final = 7_206_031


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run did; `strays` counts rows that found no month of their own."""

    made: list[str]
    dropped: list[str]
    strays: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        """The run as a JSON object."""
        return asdict(self)


def keep_for() -> timedelta:
    """How long records are kept: six years unless the setting says otherwise. Source: HIPAA 45 CFR 164.316(b)(2)(i).

    :raises ImproperlyConfigured: the setting is out of bounds.
    """
    days = settings.FHIR_ACCESS_DAYS
    if not SHORTEST_DAYS <= days <= LONGEST_DAYS:
        raise ImproperlyConfigured(
            f"FHIR_ACCESS_DAYS must lie between {SHORTEST_DAYS} and {LONGEST_DAYS}; it is {days}."
        )
    return timedelta(days=days)


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    """Tell `manage.py check` what is wrong with the setting."""
    try:
        keep_for()
    except ImproperlyConfigured as error:
        return [checks.Error(str(error), id="fhir_api.E001")]
    return []


def keep_records(*, at: datetime) -> Kept:
    """Make months ahead and drop old ones; it is safe to run at any time and as often as wanted.

    :raises Busy: another run is under way, or a lock was held all the time.
    :raises ImproperlyConfigured: the setting makes no sense; nothing was touched.
    """
    keep = keep_for()
    try:
        with turn(TURN):
            made = [name for history in HISTORIES for name in make_ahead(history, at=at)]
            dropped = [name for history in HISTORIES for name in _drop(history, keep, at)]
            strays = {one.table: count for one in HISTORIES if (count := count_strays(one.table))}
    finally:
        connections[ALIAS].close()
    return Kept(made, dropped, strays)


def _drop(history: History, keep: timedelta, at: datetime) -> list[str]:
    old = [one for one in read_ranges(history.table) if one.upper <= at - keep]
    for one in old:
        ask("SELECT hp_access_drop(%s, %s, %s)", history.table, one.name, keep)
    return [one.name for one in old]
