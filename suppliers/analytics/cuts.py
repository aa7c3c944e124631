"""What is read of the sums of roll-ups for the buckets of a span of time.

A bucket is read as whole days of sums. Of all together a day of sums begins at each half hour, so nearly every zone has days of its
own; of a group it begins at midnight of UTC. What the days leave of a bucket, or have too much of it, is taken to it or off it in
hours, and in quarters of an hour up to the nearest hour.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from core.arrays import array_literal, moments, numbers
from core.clock import rfc3339

from .acceptances import ODD_SLOTS
from .buckets import KEPT, Period

_ORIGIN: Final = datetime(2000, 1, 1, tzinfo=UTC)
_HALF_HOUR: Final = timedelta(minutes=30)
_HOUR: Final = timedelta(hours=1)
_QUARTER: Final = timedelta(minutes=15)
_DAY: Final = timedelta(days=1)


class Run(NamedTuple):
    """Days of sums that follow one another, by the begins of the first and the last; `slot` is their half hour of the day."""

    slot: int
    first: datetime
    last: datetime


class Piece(NamedTuple):
    """A span whose hours or quarters are added to the bucket `place`, or taken off it; place 0 is all that was before."""

    span: str
    begin: datetime
    end: datetime
    place: int
    sign: int


class Ending(NamedTuple):
    """Local dates that follow one another, and so many seconds behind their midnight of UTC each of them ends."""

    seconds: int
    first: date
    last: date


class Cut(NamedTuple):
    """All that is read for the buckets of a span."""

    runs: tuple[Run, ...]
    pieces: tuple[Piece, ...]


class Parameters(NamedTuple):
    """What statements of sums take as parameters, each as text; the names are those by which the statements name them.

    `edges` are the bounds of the buckets, `day_edges` those of their days of sums, `first_midnight` is the one of UTC before the
    first day; `run_…` and `piece_…` are the columns of a cut. Lines due have local dates: `days` are the first ones of the
    buckets, `end_…` the columns of when all of them end. Medians are kept by days: `median_…` are the columns of their runs, and
    `rest_places` the buckets that are no such day.
    """

    edges: str
    day_edges: str
    first_midnight: str
    run_slots: str
    run_firsts: str
    run_lasts: str
    piece_spans: str
    piece_begins: str
    piece_ends: str
    piece_places: str
    piece_signs: str
    days: str
    end_seconds: str
    end_firsts: str
    end_lasts: str
    median_slots: str
    median_firsts: str
    median_lasts: str
    rest_places: str


def _before(at: datetime, step: timedelta) -> datetime:
    return at - (at - _ORIGIN) % step


def _nearest(at: datetime, step: timedelta) -> datetime:
    return _before(at + step / 2, step)


def _moved(span: str, start: datetime, stop: datetime, place: int, sign: int) -> Iterator[Piece]:
    """Yield what a bucket gets whose bound moves from one instant to another one."""
    if start < stop:
        yield Piece(span, start, stop, place, sign)
    elif stop < start:
        yield Piece(span, stop, start, place, -sign)


def _at_bounds(bounds: Iterable[datetime], days: Iterable[datetime], *, grouped: bool) -> Iterator[Piece]:
    """Yield what lies between bounds and their days; it is added to the bucket that ends there and taken off the next one."""
    for place, (bound, day) in enumerate(zip(bounds, days, strict=True)):
        hour = _nearest(bound, _HOUR) if grouped else day
        for one, sign in ((place, 1), (place + 1, -1)):
            yield from _moved("hour", day, hour, one, sign)
            yield from _moved("quarter", hour, bound, one, sign)


def _rest(start: datetime, stop: datetime, place: int) -> Iterator[Piece]:
    """Yield what lies between the end of a bucket's days and its own."""
    if start != stop:
        yield from _moved("hour", _nearest(start, _HOUR), _nearest(stop, _HOUR), place, 1)
        yield from _moved("quarter", _nearest(start, _HOUR), start, place, -1)
        yield from _moved("quarter", _nearest(stop, _HOUR), stop, place, 1)


def days_of(bounds: Iterable[datetime], *, grouped: bool) -> list[datetime]:
    """Return the begin of a day of sums that is nearest to each bound."""
    return [_nearest(one, _DAY if grouped else _HALF_HOUR) for one in bounds]


def cut(bounds: list[datetime], *, grouped: bool) -> Cut:
    """Return what is read for the buckets between bounds, each of which begins a quarter of an hour.

    A day belongs to the bucket in whose days it begins. What was before the first bucket are the days of UTC up to the midnight
    before its first day, and the pieces of place 0.
    """
    days = days_of(bounds, grouped=grouped)
    runs = list[Run]()
    pieces = [*_at_bounds(bounds, days, grouped=grouped), *_rest(_before(days[0], _DAY), days[0], 0)]
    for place, (day, following) in enumerate(pairwise(days), 1):
        count = (following - day + _DAY / 2) // _DAY
        pieces += _rest(day + count * _DAY, following, place)
        if count and runs and runs[-1].last + _DAY == day:
            runs[-1] = runs[-1]._replace(last=day + (count - 1) * _DAY)
        elif count:
            runs.append(Run((day - _before(day, _DAY)) // _HALF_HOUR, day, day + (count - 1) * _DAY))
    return Cut(tuple(runs), tuple(one for one in pieces if one.place < len(bounds)))


def endings(period: Period) -> list[Ending]:
    """Return when the local days of a span end."""
    found, day = list[Ending](), period.begin.astimezone(period.zone).date()
    for end in period.day_ends:
        midnight = datetime(day.year, day.month, day.day, tzinfo=UTC) + _DAY
        seconds = round((end - midnight).total_seconds())
        if found and found[-1].seconds == seconds:
            found[-1] = found[-1]._replace(last=day)
        else:
            found.append(Ending(seconds, day, day))
        day += _DAY
    return found


def median_days(bounds: list[datetime]) -> tuple[list[Run], list[int]]:
    """Return the buckets that are days of which medians are kept, and the places of the others; a slot is a quarter of an hour."""
    runs, rest = list[Run](), list[int]()
    for place, (start, stop) in enumerate(pairwise(bounds), 1):
        slot = (start - _before(start, _DAY)) // _QUARTER
        if stop - start != _DAY or (slot % 2 and slot not in ODD_SLOTS):
            rest.append(place)
        elif runs and runs[-1].last + _DAY == start:
            runs[-1] = runs[-1]._replace(last=start)
        else:
            runs.append(Run(slot, start, start))
    return runs, rest


@lru_cache(maxsize=KEPT)
def parameters_of(period: Period, *, grouped: bool) -> Parameters:
    """Return the parameters of statements of sums over a span."""
    bounds = [*period.bounds, period.end]
    days = days_of(bounds, grouped=grouped)
    runs, pieces = cut(bounds, grouped=grouped)
    ends = endings(period)
    medians, rest = median_days(bounds)
    return Parameters(
        edges=moments(bounds),
        day_edges=moments(days),
        first_midnight=_before(days[0], _DAY).isoformat(),
        run_slots=numbers(one.slot for one in runs),
        run_firsts=moments(one.first for one in runs),
        run_lasts=moments(one.last for one in runs),
        piece_spans=array_literal(one.span for one in pieces),
        piece_begins=moments(one.begin for one in pieces),
        piece_ends=moments(one.end for one in pieces),
        piece_places=numbers(one.place for one in pieces),
        piece_signs=numbers(one.sign for one in pieces),
        days=moments(period.days),
        end_seconds=numbers(one.seconds for one in ends),
        end_firsts=moments(one.first for one in ends),
        end_lasts=moments(one.last for one in ends),
        median_slots=numbers(one.slot for one in medians),
        median_firsts=moments(one.first for one in medians),
        median_lasts=moments(one.last for one in medians),
        rest_places=numbers(rest),
    )


@lru_cache(maxsize=KEPT)
def starts_of(period: Period) -> tuple[str, ...]:
    """Return when the buckets begin, as the answer writes it."""
    return tuple(rfc3339(start) for _, start in period.intervals)
