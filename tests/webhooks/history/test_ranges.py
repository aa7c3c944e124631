"""Months and weeks in UTC, the gaps between ranges, and what is missing."""

from datetime import UTC, datetime, timedelta

import pytest

from core.history.ranges import EARLIEST, LATEST, Range, Step, gaps, missing, next_start, start_of


def day(month, number, year=2026):
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("step", "at", "start", "after"),
    [
        (Step.MONTH, datetime(2026, 12, 31, 23, 59, tzinfo=UTC), day(12, 1), day(1, 1, 2027)),
        (Step.MONTH, day(2, 1), day(2, 1), day(3, 1)),
        (Step.WEEK, datetime(2026, 11, 21, 8, 0, tzinfo=UTC), day(11, 16), day(11, 23)),
        (Step.WEEK, day(11, 16), day(11, 16), day(11, 23)),
    ],
)
def test_period_begins_and_ends_at_midnight_in_utc(step, at, start, after):
    assert start_of(at, step) == start
    assert next_start(start, step) == after


def test_start_counts_in_utc_whatever_the_zone():
    late = datetime.fromisoformat("2026-12-01T01:00:00+02:00")

    assert start_of(late, Step.MONTH) == day(11, 1)


def test_gaps_are_what_no_range_covers():
    ranges = [Range(day(3, 1), day(4, 1)), Range(day(1, 1), day(2, 1)), Range(day(4, 1), day(5, 1))]

    assert gaps(ranges) == [Range(EARLIEST, day(1, 1)), Range(day(2, 1), day(3, 1)), Range(day(5, 1), LATEST)]
    assert gaps([]) == [Range(EARLIEST, LATEST)]


def test_missing_is_cut_to_what_is_free():
    ranges = [Range(EARLIEST, day(11, 10)), Range(day(12, 5), day(12, 9))]

    found = missing(ranges, at=day(11, 21), until=day(12, 20), step=Step.MONTH)

    assert found == [Range(day(11, 10), day(12, 1)), Range(day(12, 1), day(12, 5)), Range(day(12, 9), day(1, 1, 2027))]


def test_nothing_is_missing_twice():
    at = day(11, 21)
    made = missing([], at=at, until=at + timedelta(days=62), step=Step.WEEK)

    assert missing(made, at=at, until=at + timedelta(days=62), step=Step.WEEK) == []
    assert made[0].lower <= at < made[0].upper
    assert made[-1].upper > at + timedelta(days=62)
