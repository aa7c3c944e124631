"""Buckets of a time series: they begin at the start of local days, whatever the clock does. Source: contract, supply-invoice.md 6."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import accumulate
from typing import Final
from zoneinfo import ZoneInfo

_QUARTER: Final = timedelta(minutes=15)
_DAY: Final = timedelta(days=1)
_MICROSECOND: Final = timedelta(microseconds=1)
_COVERED: Final = timedelta(days=28)
KEPT: Final = 128  # spans of which a process keeps the buckets: whoever looks at figures asks for many of the same span


def start_of(day: date, zone: ZoneInfo) -> datetime:
    """Return the instant at which a local day begins; where the clock skips midnight, the one that it skips to."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def quarter_of(at: datetime) -> datetime:
    """Return the begin of the quarter of an hour, in UTC."""
    at = at.astimezone(UTC)
    return at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0)


def _month(day: date, months: int) -> date:
    """Return the first day of a month that is so many months later."""
    number = day.year * 12 + day.month - 1 + months
    return date(number // 12, number % 12 + 1, 1)


def months_before(day: date, months: int) -> date:
    """Return the first day of the month that is so many months before that of a day."""
    return _month(day, -months)


def _first(day: date, interval: str) -> date:
    """Return the first day of the interval that a day lies in."""
    if interval == "week":
        return day - timedelta(days=day.weekday())
    if interval == "month":
        return day.replace(day=1)
    return _month(day, -((day.month - 1) % 3)) if interval == "quarter" else day


_NEXT: Final[dict[str, Callable[[date], date]]] = {
    "day": lambda one: one + _DAY,
    "week": lambda one: one + timedelta(days=7),
    "month": lambda one: _month(one, 1),
    "quarter": lambda one: _month(one, 3),
}


@dataclass(frozen=True)
class Period:
    """A span of time in a zone, and what it is cut into; `begin` and `end` begin a quarter of an hour, `end` is not part of it."""

    begin: datetime
    end: datetime
    interval: str
    zone: ZoneInfo

    @property
    def intervals(self) -> tuple[tuple[date, datetime], ...]:
        """The first local days of the intervals and when they begin, the one that holds the begin of the span at first."""
        return _intervals(self)

    @property
    def bounds(self) -> list[datetime]:
        """The begins of the buckets, cut to the span."""
        return [self.begin, *(start for _, start in self.intervals[1:])]

    @property
    def ends(self) -> list[datetime]:
        """The ends of the buckets, cut to the span."""
        return [*(start for _, start in self.intervals[1:]), self.end]

    @property
    def days(self) -> list[date]:
        """The first local day of each bucket that is part of the span; whoever asks for a part of a day asks for its date."""
        return [self.begin.astimezone(self.zone).date(), *(day for day, _ in self.intervals[1:])]

    @property
    def last_day(self) -> date:
        """The last local day of the span."""
        return (self.end - _MICROSECOND).astimezone(self.zone).date()

    @property
    def day_ends(self) -> list[datetime]:
        """The ends of all local days from the first to the last one of the span."""
        first = self.begin.astimezone(self.zone).date()
        return [start_of(first + number * _DAY, self.zone) for number in range(1, (self.last_day - first).days + 2)]

    @property
    def last_days(self) -> list[date]:
        """The last local day of each bucket."""
        return [(one - _MICROSECOND).astimezone(self.zone).date() for one in self.ends]

    def last_days_at(self, at: datetime) -> list[date]:
        """Return the last local day of each bucket, today for one that is not over."""
        today = at.astimezone(self.zone).date()
        return [min(one, today) for one in self.last_days]

    def since(self, at: datetime) -> list[datetime]:
        """Return where the 28 local days before the end of each bucket begin, or before now for one that is not over."""
        ends = [min(one, at).astimezone(self.zone).replace(tzinfo=None) for one in self.ends]
        found = [(one - _COVERED).replace(tzinfo=self.zone).astimezone(UTC) for one in ends]
        return [*accumulate(found, max)]  # an hour of the wall that comes twice does not lead back

    def before(self) -> "Period":
        """Return the span of the same length before this one: as many months, if it is whole months, else as many days."""
        first, last = (one.astimezone(self.zone).replace(tzinfo=None) for one in (self.begin, self.end))
        if first.day == last.day == 1 and first.time() == last.time() == datetime.min.time():
            months = (last.year - first.year) * 12 + last.month - first.month
            return self._from(start_of(_month(first.date(), -months), self.zone))
        return self._from((first - (last - first)).replace(tzinfo=self.zone).astimezone(UTC))

    def _from(self, begin: datetime) -> "Period":
        return Period(quarter_of(begin), self.begin, self.interval, self.zone)


@lru_cache(maxsize=KEPT)
def _intervals(period: Period) -> tuple[tuple[date, datetime], ...]:
    day, following = _first(period.begin.astimezone(period.zone).date(), period.interval), _NEXT[period.interval]
    found = [(day, start_of(day, period.zone))]
    while (start := start_of(day := following(day), period.zone)) < period.end:
        found.append((day, start))
    return tuple(found)


def local_length(period: Period) -> timedelta:
    """Return how long a span is by the clock on the wall."""
    first, last = (one.astimezone(period.zone).replace(tzinfo=None) for one in (period.begin, period.end))
    return last - first
