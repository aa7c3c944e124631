"""Local times as instants: what a time on the wall of a place means, also where clocks are set forward or back.

Instants are whole seconds since 1970 here, so that spans are compared and cut as numbers.
"""

from calendar import monthrange
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

Span = tuple[int, int]  # from the first instant up to the second, which does not belong to it

DAY: Final = 86_400
_STEP: Final = 3 * 3_600  # no zone sets its clocks twice within three hours
_FURTHEST: Final = 26 * 3_600  # clocks of the world differ from UTC by less, also around a day that is left out


class _Stretch(NamedTuple):
    """A span in which a zone keeps one offset from UTC, in seconds."""

    start: int
    end: int
    offset: int


def seconds(at: datetime) -> int:
    """Return an instant as seconds; parts of a second are cut off."""
    return int(at.timestamp())


def instant(number: int) -> datetime:
    """Return seconds as an instant in UTC."""
    return datetime.fromtimestamp(number, UTC)


def local_date(number: int, zone: str) -> date:
    """Return the local date of an instant."""
    return datetime.fromtimestamp(number, ZoneInfo(zone)).date()


def minutes_of(clock: str) -> int:
    """Return the minutes since midnight of a local time, `08:30` or `24:00`."""
    return int(clock[:2]) * 60 + int(clock[3:])


def spans_of(day: date, opens: int, closes: int, zone: str) -> list[Span]:
    """Return the instants of a day at which a place's clock shows a time from `opens` up to `closes`, in minutes.

    What a gap leaves out does not exist; an hour that is shown twice counts twice. Both make more than one span, or none.
    """
    midnight = (day - date(1970, 1, 1)).days * DAY
    first, last = midnight + opens * 60, midnight + closes * 60
    found = []
    for stretch in _stretches(
        zone, (midnight - _FURTHEST) // DAY * DAY, (midnight + DAY + _FURTHEST) // DAY * DAY + DAY
    ):
        start, end = max(first - stretch.offset, stretch.start), min(last - stretch.offset, stretch.end)
        if start < end:
            found.append((start, end))
    return found


def occurrences(first: datetime, *, every: int, unit: str, count: int, zone: str) -> Iterator[datetime]:
    """Yield the beginnings of a series at the same local time, in UTC; the first is the given instant itself.

    Months keep the day of the first: of the 31st the last day of a shorter month. A time that a gap leaves out is
    taken as long after midnight as if there were no gap; of a time that occurs twice the first is taken.
    Source: RFC 5545, 3.3.5 and 3.3.10.
    """
    local = first.astimezone(ZoneInfo(zone))
    yield first
    for number in range(1, count):
        day = _later(local.date(), number * every, unit)
        moment = datetime.combine(day, local.time().replace(fold=0), ZoneInfo(zone))
        yield moment.astimezone(UTC)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the same instants as spans in order that neither overlap nor touch."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            if end > found[-1][1]:
                found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def common(some: list[Span], others: list[Span]) -> list[Span]:
    """Return the instants that are in both; each list is merged, and so is what is returned."""
    found, one, other = [], 0, 0
    while one < len(some) and other < len(others):
        start, end = max(some[one][0], others[other][0]), min(some[one][1], others[other][1])
        if start < end:
            found.append((start, end))
        if some[one][1] < others[other][1]:
            one += 1
        else:
            other += 1
    return found


def without(some: list[Span], taken: list[Span]) -> list[Span]:
    """Return the instants of `some` that are not taken; each list is merged, and so is what is returned."""
    found, number = [], 0
    for start, end in some:
        while number < len(taken) and taken[number][1] <= start:
            number += 1
        rest, here = start, number
        while here < len(taken) and taken[here][0] < end:
            if taken[here][0] > rest:
                found.append((rest, taken[here][0]))
            rest = max(rest, taken[here][1])
            here += 1
        if rest < end:
            found.append((rest, end))
    return found


def _later(day: date, by: int, unit: str) -> date:
    if unit == "week":
        return day + timedelta(weeks=by)
    year, month = divmod(day.year * 12 + day.month - 1 + by, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


@lru_cache(maxsize=4096)
def _stretches(zone: str, start: int, end: int) -> tuple[_Stretch, ...]:
    """Cut a span where the zone's offset changes."""
    found, begun, offset = [], start, _offset(zone, start)
    for reached in range(start, end, _STEP):
        then = min(reached + _STEP, end)
        if _offset(zone, then) != offset:
            changed = _change(zone, reached, then, offset)
            found.append(_Stretch(begun, changed, offset))
            begun, offset = changed, _offset(zone, then)
    return (*found, _Stretch(begun, end, offset))


def _change(zone: str, before: int, after: int, offset: int) -> int:
    """Find the first second of another offset, between one that has the given offset and one that has not."""
    while after - before > 1:
        middle = (before + after) // 2
        if _offset(zone, middle) == offset:
            before = middle
        else:
            after = middle
    return after


def _offset(zone: str, number: int) -> int:
    shift = datetime.fromtimestamp(number, ZoneInfo(zone)).utcoffset() or timedelta(0)
    return shift.days * DAY + shift.seconds
