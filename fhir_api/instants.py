"""Times in the queries of FHIR: an instant, or the span that a shortened date covers. Source: R4 datatypes.html#dateTime."""

import re
from calendar import isleap, monthrange
from datetime import UTC, datetime, timedelta

from core.errors import Malformed

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")
_DATE_TIME = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_SPACE_ZONE = re.compile(r" (\d\d:\d\d)$")


class InvalidTime(Malformed):
    """A time in the query is not of its form, or not in the calendar."""

    code = "invalid_time"
    title = "A time in the query is malformed."


def read_instant(text: str, *, name: str) -> datetime:
    """Read an instant with its zone.

    :raises InvalidTime: it is none.
    """
    return _instant(text, name, "is an instant: 2026-01-31T12:30:00Z.")


def _instant(text: str, name: str, form: str) -> datetime:
    text = _repaired(text)
    if not _INSTANT.fullmatch(text):
        raise InvalidTime(f"{name} {form}", issue_type="value")
    try:
        return datetime.fromisoformat(_micro(text)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _beyond(name) from None


def read_span(text: str, *, name: str) -> tuple[datetime, datetime]:
    """Read a date of any precision, or an instant, as the time from its begin until before its end; without a zone, UTC.

    :raises InvalidTime: it is none.
    """
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        low = _instant(text, name, "is a date, as 2026, 2026-01 or 2026-01-31, or an instant: 2026-01-31T12:30:00Z.")
        return _span(low, timedelta(milliseconds=1) if "." in text else timedelta(seconds=1), name)
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    try:
        low = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        raise _beyond(name) from None
    days = 1 if match[3] else monthrange(year, month)[1] if match[2] else 366 if isleap(year) else 365
    return _span(low, timedelta(days=days), name)


def _span(low: datetime, length: timedelta, name: str) -> tuple[datetime, datetime]:
    try:
        return low, low + length
    except OverflowError:
        raise _beyond(name) from None


def _beyond(name: str) -> InvalidTime:
    return InvalidTime(f"{name} is not in the calendar.", issue_type="value")


def _repaired(text: str) -> str:
    """An unescaped plus sign of a zone is a space in a query."""
    return _SPACE_ZONE.sub(r"+\1", text)


def _micro(text: str) -> str:
    """The same with at most six decimals, which is what Python reads."""
    return re.sub(r"(\.\d{6})\d+", r"\1", text)
