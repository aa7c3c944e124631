"""When a failed delivery is tried again: 5 s growing fourfold to 12 h, spread by a fifth, 13 attempts in 67.6 h."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_SECONDS = 12 * 3600
RETRIES = 12
DEFAULT: tuple[int, ...] = tuple(min(5 * 4**step, LONGEST_SECONDS) for step in range(RETRIES))
SPREAD = 0.2
SHORTEST_SECONDS = 1.0
HEEDED_STATUSES = frozenset({429, 503})
GONE = 410

# The circuit of an endpoint: so many failures in a row open it for 30 s, each failed probe for twice as long, up to 10 min.
CIRCUIT_FAILURES = 10
CIRCUIT_SECONDS = 30
CIRCUIT_LONGEST_SECONDS = 600


def next_delay_seconds(
    attempts: int,
    *,
    schedule: Sequence[float] = DEFAULT,
    retry_after_seconds: float | None = None,
    source: random.Random | None = None,
) -> float | None:
    """Tell how long to wait after the `attempts`-th failed attempt; None when none is left.

    The wait is the schedule's step, spread evenly by ±20 %, never under a second; a receiver's Retry-After may
    lengthen it up to 12 h, never shorten it.
    """
    if attempts > len(schedule):
        return None
    spread = (source or random).uniform(1 - SPREAD, 1 + SPREAD)  # jitter, not a secret
    delay = max(schedule[attempts - 1] * spread, SHORTEST_SECONDS)
    if retry_after_seconds is None:
        return delay
    return max(delay, min(retry_after_seconds, LONGEST_SECONDS))


def retry_after_seconds(status: int, header: str | None, *, at: datetime) -> float | None:
    """Read Retry-After, in seconds or as a date; None where it does not count or makes no sense.

    Source: RFC 9110 section 10.2.3.
    """
    if status not in HEEDED_STATUSES or not header:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((aware - at).total_seconds(), 0.0)


def pause_seconds(wanted: float | None, *, schedule: Sequence[float] = DEFAULT) -> float | None:
    """Tell for how long a whole endpoint rests that answered with Retry-After: at least the first step, at most 12 h."""
    if wanted is None:
        return None
    return max(schedule[0] if schedule else SHORTEST_SECONDS, min(wanted, LONGEST_SECONDS))
