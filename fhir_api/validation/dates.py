"""Days of the real calendar, and the order of dates that are only partly known. Source: R4 datatypes.html#dateTime."""

from calendar import monthrange
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
    """Whether the first is after the second, however their unknown parts are filled. Both are of valid form and real."""
    if len(first) > _DAY and len(second) > _DAY:
        return _moment(first) > _moment(second)
    known = min(len(first), len(second), _DAY)
    if len(first) <= _DAY and len(second) <= _DAY:
        return first[:known] > second[:known]
    if known < _DAY:  # a month or a year beside a moment: only what lies beyond a day's doubt is certain
        return first[:known] > second[:known] and not _is_on_the_edge(first if len(first) > _DAY else second)
    if len(first) > _DAY:
        return _moment(first) - _midnight(second) >= timedelta(days=1) + _LATEST
    return _midnight(first) - _moment(second) > _EARLIEST


def _is_on_the_edge(text: str) -> bool:
    """Whether a moment lies so near the end of its month that its zone decides the month."""
    return not "02" < text[8:10] < _SHORTEST_MONTH


def _moment(text: str) -> datetime:
    # FHIR knows the leap second, Python does not.
    return datetime.fromisoformat(text[:17] + text[17:19].replace("60", "59") + text[19:])


def _midnight(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


__all__ = ["is_certainly_after", "is_real"]
