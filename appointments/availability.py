"""When a practitioner can be booked: opening hours, cut by working hours, absences and what is booked. Computes only.

Hours that nobody recorded restrict nothing: a location without opening hours is always open, and without a schedule the
location's opening hours alone count. Spans of opening hours named `holiday` count on holidays only, and on these no
other does; working hours go by the day of the week. Source: contract, prescriptions "Appointments".
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from organizations.public import Place

from .local_times import Span, common, local_date, merged, minutes_of, seconds, spans_of, without
from .states import DAYS, HOLIDAY

_DAY_MINUTES = 24 * 60
_ONE = timedelta(days=1)


class Hours(NamedTuple):
    """Local times of some days, in minutes since midnight."""

    days: frozenset[str]
    opens: int
    closes: int


class Source(NamedTuple):
    """One rule that admits times: a zone, the opening hours of the location, and the working hours.

    None stands for hours that nobody recorded, which are all day, every day.
    """

    zone: str
    opening: tuple[Hours, ...] | None
    working: tuple[Hours, ...] | None


def hours_of(entries: Iterable[Mapping[str, Any]]) -> tuple[Hours, ...]:
    """Read opening or working hours as the REST API has them."""
    return tuple(
        Hours(frozenset(entry["days"]), 0, _DAY_MINUTES)
        if entry.get("all_day")
        else Hours(frozenset(entry["days"]), minutes_of(entry["opens"]), minutes_of(entry["closes"]))
        for entry in entries
    )


def absences_of(entries: Iterable[Mapping[str, Any]]) -> list[Span]:
    """Read the absences of a schedule, merged."""
    return merged((_seconds_of(entry["starts_at"]), _seconds_of(entry["ends_at"])) for entry in entries)


def sources(
    location_id: UUID | None, hours: Sequence[Mapping[str, Any]] | None, places: Mapping[UUID | None, Place]
) -> list[Source]:
    """Return the rules for a practitioner at a location, or without one; `hours` None is a practitioner without a schedule.

    At a location the hours count that name it or none. Without one all hours count, each at its own location; those of
    a location that is not active admit nothing. Hours without a location go by the clock of the location that is asked
    for, else of the tenant.
    """
    if hours is None:
        return [_source(places[location_id], None)]
    if location_id is not None:
        here = [entry for entry in hours if entry.get("location_id") in (None, str(location_id))]
        return [_source(places[location_id], hours_of(here))]
    named: dict[UUID | None, list[Mapping[str, Any]]] = {}
    for entry in hours:
        named.setdefault(UUID(text) if (text := entry.get("location_id")) else None, []).append(entry)
    return [_source(places[place], hours_of(some)) for place, some in named.items() if place in places]


def pieces(rules: Iterable[Source], span: Span, holidays: Collection[str]) -> list[Span]:
    """Return the times that the rules admit around a span, in one piece or more for each local date, in order."""
    found: list[Span] = []
    by_day: dict[date, list[Span]] = {}
    for rule in rules:
        day, last = local_date(span[0], rule.zone) - _ONE, local_date(span[1], rule.zone) + _ONE
        while day <= last:
            by_day.setdefault(day, []).extend(_admitted(rule, day, is_holiday=day.isoformat() in holidays))
            day += _ONE
    for day in sorted(by_day):
        found += merged(by_day[day])
    return found


def free(admitted: Iterable[Span], *taken: Span) -> list[Span]:
    """Return the admitted times without those that are taken."""
    return without(merged(admitted), merged(taken))


def holds(times: Iterable[Span], span: Span) -> bool:
    """Tell whether a span lies wholly within one of the times."""
    return any(start <= span[0] and span[1] <= end for start, end in times)


def slots(admitted: Iterable[Span], times: Sequence[Span], within: Span, *, length: int, step: int) -> Iterator[int]:
    """Yield the beginnings of free slots of a length; they lie whole steps after the beginning of an admitted piece.

    All are seconds. A slot may run over into the next piece, if they touch.
    """
    first = 0
    for start, end in admitted:
        while first < len(times) and times[first][1] <= start:
            first += 1
        number = first
        while number < len(times) and times[number][0] < end:
            low = max(start, times[number][0], within[0])
            high = min(times[number][1], within[1]) - length
            yield from range(start + -(-(low - start) // step) * step, min(high, end - 1) + 1, step)
            number += 1


def _source(place: Place, working: tuple[Hours, ...] | None) -> Source:
    return Source(place.time_zone, hours_of(place.opening_hours) or None, working)


def _admitted(rule: Source, day: date, *, is_holiday: bool) -> list[Span]:
    weekday = DAYS[day.weekday()]
    opening = _times(rule.opening, HOLIDAY if is_holiday else weekday, day, rule.zone)
    return common(opening, _times(rule.working, weekday, day, rule.zone)) if opening else []


@lru_cache(maxsize=8192)
def _times(hours: tuple[Hours, ...] | None, name: str, day: date, zone: str) -> list[Span]:
    if hours is None:
        return merged(spans_of(day, 0, _DAY_MINUTES, zone))
    wanted = (one for one in hours if name in one.days)
    return merged(span for one in wanted for span in spans_of(day, one.opens, one.closes, zone))


def _seconds_of(text: str) -> int:
    return seconds(datetime.fromisoformat(text))
