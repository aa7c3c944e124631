"""Days of the real calendar, and the order of dates that are only partly known. Source: R4 datatypes.html#dateTime."""

from calendar import isleap, monthrange
from datetime import UTC, datetime, timedelta
from typing import Final

_DAY: Final = len("2026-01-01")
_EARLIEST, _LATEST = timedelta(hours=14), timedelta(hours=12)  # how far a day begins and ends from UTC's
_SHORTEST_MONTH: Final = "28"


def is_real(text: str) -> bool:
    """Whether the day of a date, dateTime or instant of valid form is in the calendar."""
    day = text[8:10]
    return day <= _SHORTEST_MONTH or int(day) <= monthrange(int(text[:4]), int(text[5:7]))[1]


def is_certainly_after(first: str, second: str) -> bool:
    """Whether the first is after the second, however their unknown parts are filled. Both are of valid form and real.

    What FHIRPath cannot order is not: 2012 and 2012-01, either way. A date without a zone may be of any.
    Source: R4 constraint per-1; FHIRPath, section on comparison.
    """
    if len(first) > _DAY and len(second) > _DAY:
        return _moment(first) > _moment(second)
    if len(first) <= _DAY and len(second) <= _DAY:
        known = min(len(first), len(second))
        return first[:known] > second[:known]
    if len(first) > _DAY:
        return _moment(first) - _midnight(second) >= _length(second) + _LATEST
    return _midnight(first) - _moment(second) > _EARLIEST


def _length(text: str) -> timedelta:
    """How long a year, month or day is."""
    if len(text) == _DAY:
        return timedelta(days=1)
    year, month = int(text[:4]), int(text[5:7] or 0)
    return timedelta(days=monthrange(year, month)[1] if month else 365 + isleap(year))


def _moment(text: str) -> datetime:
    # FHIR knows the leap second, Python does not.
    return datetime.fromisoformat(text[:17] + text[17:19].replace("60", "59") + text[19:])


def _midnight(text: str) -> datetime:
    """The beginning of a year, month or day."""
    return datetime.fromisoformat(text + "0001-01-01"[len(text) :]).replace(tzinfo=UTC)


__all__ = ["is_certainly_after", "is_real"]
