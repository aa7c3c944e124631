"""The clock. Views, commands and tasks read it once and pass the instant down as `at`."""

import re
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def now() -> datetime:
    """Return the current instant, timezone-aware, in UTC."""
    return datetime.now(UTC)


@lru_cache(maxsize=64)  # the facts of one request share one instant
def rfc3339(at: datetime) -> str:
    """Write an instant in UTC with `Z` and milliseconds. Source: contract, conventions "Dates"; RFC 3339."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def day_of(text: str) -> date | None:
    """Read a day as YYYY-MM-DD; None for anything else, such as the other forms of ISO 8601 that Python reads.

    Source: contract, conventions "Dates".
    """
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None
