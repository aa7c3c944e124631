"""Time. Faces read the clock once and hand it down as `at`; everything below takes it as a value."""

from datetime import UTC, datetime
from functools import lru_cache


def now() -> datetime:
    """This instant, aware, in UTC."""
    return datetime.now(UTC)


@lru_cache(maxsize=64)  # facts of one request are of one moment
def rfc3339(at: datetime) -> str:
    """Write an instant as the platform does: UTC, `Z`, three decimals. Source: contract, conventions "Dates"."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
