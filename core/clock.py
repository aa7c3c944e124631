"""The clock. Views, commands and tasks read it once and pass the instant down as `at`."""

from datetime import UTC, datetime
from functools import lru_cache


def now() -> datetime:
    """Return the current instant, timezone-aware, in UTC."""
    return datetime.now(UTC)


@lru_cache(maxsize=64)  # the facts of one request share one instant
def rfc3339(at: datetime) -> str:
    """Write an instant in UTC with `Z` and milliseconds. Source: contract, conventions "Dates"; RFC 3339."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
