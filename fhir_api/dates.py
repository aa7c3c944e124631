"""Dates and times of FHIR as spans: from the first instant they may mean until before the first they may not.

Source: R4 search.html#date, datatypes.html#dateTime. What names no zone is in UTC.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from .entries import OPEN_HIGH, OPEN_LOW

Span = tuple[str, str]

_FORM: Final = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})"
    r"(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?)?)?"
)
_DAY, _MINUTE, _SECOND = timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1)
_MILLISECOND, _MICROSECOND, _NONE = timedelta(milliseconds=1), timedelta(microseconds=1), timedelta()
_WIDEST_ZONE: Final = timedelta(hours=14)
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)


@lru_cache(maxsize=8192)
def span(text: str) -> Span:
    """The span of a date, dateTime or instant as two texts in UTC, written so that they sort as the times do.

    A fraction of a second up to milliseconds means that millisecond, a finer one that microsecond; a time without
    seconds (in searches) that minute; a leap second the one after. An end after the year 9999 is open.

    :raises ValueError: no such form, day or time.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError("neither a date nor a time")
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    if month is None:
        return _written(datetime(int(year), 1, 1, tzinfo=UTC)), _written(_later(int(year) + 1, 1))
    if day is None:
        following = (int(year), int(month) + 1) if month != "12" else (int(year) + 1, 1)
        return _written(datetime(int(year), int(month), 1, tzinfo=UTC)), _written(_later(*following))
    start = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), tzinfo=UTC)
    if hour is None:
        return _moved(start, _NONE, _DAY)
    ahead = int(second or 0) * _SECOND + int((fraction or "")[:6].ljust(6, "0")) * _MICROSECOND - _offset(zone)
    if int(second or 0) > 60:  # 60 is a leap second
        raise ValueError("no such second")
    return _moved(start, ahead, _precision(second, fraction))


def period(value: dict[str, Any]) -> Span | None:
    """The span of a Period; a side that is not told is open. None where neither is."""
    start, end = value.get("start"), value.get("end")
    if start is None and end is None:
        return None
    return OPEN_LOW if start is None else span(start)[0], OPEN_HIGH if end is None else span(end)[1]


def timing(value: dict[str, Any]) -> Span | None:
    """The outer limits of a Timing's events and bounds; None where it tells no date. Source: R4 search.html#date."""
    found = [span(event) for event in value.get("event") or () if event is not None]
    bounds = period((value.get("repeat") or {}).get("boundsPeriod") or {})
    if bounds:
        found.append(bounds)
    if not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)


def _precision(second: str | None, fraction: str | None) -> timedelta:
    if second is None:
        return _MINUTE
    if fraction is None:
        return _SECOND
    return _MILLISECOND if len(fraction) <= len("123") else _MICROSECOND


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return _NONE
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:]))
    if offset > _WIDEST_ZONE or zone[4:] > "59":
        raise ValueError("no such zone")
    return -offset if zone[0] == "-" else offset


def _later(year: int, month: int) -> datetime | None:
    return datetime(year, month, 1, tzinfo=UTC) if year <= _LAST.year else None


def _moved(start: datetime, ahead: timedelta, length: timedelta) -> Span:
    """The span that begins so far after `start`, within the calendar's years; an end beyond them is open."""
    try:
        low = start + ahead
    except OverflowError:
        low = _LAST if ahead > _NONE else _FIRST
    return _written(low), _written(low + length if low <= _LAST - length else None)


def _written(at: datetime | None) -> str:
    return OPEN_HIGH if at is None else at.isoformat(timespec="microseconds")
