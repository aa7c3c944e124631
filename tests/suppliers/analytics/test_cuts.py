"""The days, hours and quarters that are read for the buckets of a span are those of each bucket, once."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suppliers.analytics.buckets import Period
from suppliers.analytics.cuts import Piece, Run, cut, days_of

QUARTER = timedelta(minutes=15)
DAY = timedelta(days=1)
ZONES = (
    "UTC",
    "Europe/Berlin",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "America/St_Johns",
)
FIRST = datetime(2024, 1, 1, tzinfo=UTC)


@st.composite
def periods(draw: st.DrawFn) -> Period:
    begin = FIRST + QUARTER * draw(st.integers(0, 96 * 800))
    length = draw(st.integers(1, 200) | st.integers(1, 96 * 200))
    interval = draw(st.sampled_from(["day", "week", "month", "quarter"]))
    return Period(begin, begin + QUARTER * length, interval, ZoneInfo(draw(st.sampled_from(ZONES))))


def quarters(begin: datetime, end: datetime) -> list[datetime]:
    return [begin + QUARTER * number for number in range((end - begin) // QUARTER)]


def counted(
    bounds: list[datetime], runs: list[Run], pieces: list[Piece], *, grouped: bool
) -> Counter[tuple[int, datetime]]:
    """Return how often each quarter of an hour is read for each bucket."""
    found: Counter[tuple[int, datetime]] = Counter()
    days = days_of(bounds, grouped=grouped)
    for run in runs:
        for number in range((run.last - run.first) // DAY + 1):
            start = run.first + number * DAY
            place = sum(one <= start for one in days)
            found.update((place, at) for at in quarters(start, start + DAY))
    for piece in pieces:
        for at in quarters(piece.begin, piece.end):
            found[piece.place, at] += piece.sign
    return found


@pytest.mark.parametrize("grouped", [False, True])
@given(period=periods())
def test_each_bucket_reads_its_own_quarters_once(period: Period, grouped: bool) -> None:
    bounds = [*period.bounds, period.end]
    runs, pieces = cut(bounds, grouped=grouped)
    found = counted(bounds, runs, pieces, grouped=grouped)
    expected = {(place, at) for place, pair in enumerate(pairwise(bounds), 1) for at in quarters(*pair)}
    assert {one: times for one, times in found.items() if times and one[0]} == dict.fromkeys(expected, 1)
    # What was before: from the midnight up to which days are read to the begin of the first bucket.
    midnight = days_of(bounds, grouped=grouped)[0].replace(hour=0, minute=0)
    before = sum(times * (QUARTER / timedelta(hours=1)) for (place, _), times in found.items() if not place)
    assert timedelta(hours=before) == bounds[0] - midnight
    for piece in pieces:
        assert piece.span == "quarter" or all(one.minute == 0 for one in piece[1:3])


def test_year_of_whole_days_is_few_runs() -> None:
    """One run for each time of day at which the days begin: pieces are read at the ends only, whatever the zone."""
    for name, most in (("UTC", 1), ("Asia/Kolkata", 1), ("Europe/Berlin", 3), ("Australia/Lord_Howe", 3)):
        zone = ZoneInfo(name)
        begin, end = (
            datetime.combine(day, datetime.min.time(), zone).astimezone(UTC)
            for day in (date(2025, 1, 1), date(2026, 1, 1))
        )
        period = Period(begin, end, "day", zone)
        runs, pieces = cut([*period.bounds, period.end], grouped=False)
        assert len(runs) <= most
        assert len([one for one in pieces if one.place]) <= 2 * (most - 1)
