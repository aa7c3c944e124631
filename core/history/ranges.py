"""Ranges of time and which of them a history should have: months, or weeks for attempts. Pure; knows no database."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


class Step(StrEnum):
    """How long one range is; weeks begin on Monday, all in UTC."""

    MONTH = "month"
    WEEK = "week"


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """From `lower` up to but not including `upper`; `name` is the partition's, "" for one that is not there."""

    lower: datetime
    upper: datetime
    name: str = ""


def start_of(at: datetime, step: Step) -> datetime:
    """Tell when the month or week began in which this moment lies."""
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day.replace(day=1) if step is Step.MONTH else day - timedelta(days=day.weekday())


def next_start(start: datetime, step: Step) -> datetime:
    """Tell when the following one begins."""
    return start_of(start + timedelta(days=32), step) if step is Step.MONTH else start + timedelta(days=7)


def periods(at: datetime, until: datetime, step: Step) -> Iterator[Range]:
    """Yield the ranges from the one of `at` to the one of `until`."""
    lower = start_of(at, step)
    while lower <= until:
        upper = next_start(lower, step)
        yield Range(lower, upper)
        lower = upper


def gaps(ranges: Sequence[Range]) -> list[Range]:
    """List the stretches of time that no range covers: there the default partition takes the rows."""
    found, lower = [], EARLIEST
    for one in sorted(ranges):
        if one.lower > lower:
            found.append(Range(lower, one.lower))
        lower = max(lower, one.upper)
    return [*found, Range(lower, LATEST)]


def missing(ranges: Sequence[Range], *, at: datetime, until: datetime, step: Step) -> list[Range]:
    """List what must be made so that everything from `at` to `until` is covered, cut to what is free."""
    return [
        Range(lower, upper)
        for period in periods(at, until, step)
        for gap in gaps(ranges)
        if (lower := max(period.lower, gap.lower)) < (upper := min(period.upper, gap.upper))
    ]
