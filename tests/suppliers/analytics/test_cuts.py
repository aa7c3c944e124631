"""The days, hours and quarters that are read for the buckets of a span are those of each bucket, once."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suppliers.analytics.buckets import Period
from suppliers.analytics.cuts import Cut, Parameters, cut, days_of, endings, parameters_of

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


def counted(bounds: list[datetime], made: Cut, *, grouped: bool) -> Counter[tuple[int, datetime]]:
    """Return how often each quarter of an hour is read for each bucket."""
    found: Counter[tuple[int, datetime]] = Counter()
    days = days_of(bounds, grouped=grouped)
    for run in made.runs:
        for number in range((run.last - run.first) // DAY + 1):
            start = run.first + number * DAY
            place = sum(one <= start for one in days)
            found.update((place, at) for at in quarters(start, start + DAY))
    for piece in made.pieces:
        for at in quarters(piece.begin, piece.end):
            found[piece.place, at] += piece.sign
    return found


@pytest.mark.parametrize("grouped", [False, True])
@given(period=periods())
def test_each_bucket_reads_its_own_quarters_once(period: Period, grouped: bool) -> None:
    bounds = [*period.bounds, period.end]
    made = cut(bounds, grouped=grouped)
    found = counted(bounds, made, grouped=grouped)
    expected = {(place, at) for place, pair in enumerate(pairwise(bounds), 1) for at in quarters(*pair)}
    assert {one: times for one, times in found.items() if times and one[0]} == dict.fromkeys(expected, 1)
    # What was before: from the midnight up to which days are read to the begin of the first bucket.
    midnight = days_of(bounds, grouped=grouped)[0].replace(hour=0, minute=0)
    before = sum(times * (QUARTER / timedelta(hours=1)) for (place, _), times in found.items() if not place)
    assert timedelta(hours=before) == bounds[0] - midnight
    for piece in made.pieces:
        assert piece.span == "quarter" or all(one.minute == 0 for one in piece[1:3])


@given(period=periods())
def test_each_local_day_ends_once(period: Period) -> None:
    found = [
        datetime(day.year, day.month, day.day, tzinfo=UTC) + DAY + timedelta(seconds=one.seconds)
        for one in endings(period)
        for day in (one.first + number * DAY for number in range((one.last - one.first).days + 1))
    ]
    assert found == period.day_ends
    assert endings(period)[0].first == period.begin.astimezone(period.zone).date()


def test_parameters_are_written_once_for_a_span() -> None:
    zone = ZoneInfo("Europe/Berlin")
    begin, end = (datetime(2026, 3, day, tzinfo=zone).astimezone(UTC) for day in (28, 30))
    assert parameters_of(Period(begin, end, "day", zone), grouped=False) == Parameters(
        edges="{2026-03-27T23:00:00+00:00,2026-03-28T23:00:00+00:00,2026-03-29T22:00:00+00:00}",
        day_edges="{2026-03-27T23:00:00+00:00,2026-03-28T23:00:00+00:00,2026-03-29T22:00:00+00:00}",
        first_midnight="2026-03-27T00:00:00+00:00",
        run_slots="{46}",
        run_firsts="{2026-03-27T23:00:00+00:00}",
        run_lasts="{2026-03-28T23:00:00+00:00}",
        piece_spans='{"hour","hour"}',  # the hours before the first day, and the one that the clock skips
        piece_begins="{2026-03-27T00:00:00+00:00,2026-03-29T22:00:00+00:00}",
        piece_ends="{2026-03-27T23:00:00+00:00,2026-03-29T23:00:00+00:00}",
        piece_places="{0,2}",
        piece_signs="{1,-1}",
        days="{2026-03-28,2026-03-29}",
        end_seconds="{-3600,-7200}",
        end_firsts="{2026-03-28,2026-03-29}",
        end_lasts="{2026-03-28,2026-03-29}",
        median_slots="{92}",
        median_firsts="{2026-03-27T23:00:00+00:00}",
        median_lasts="{2026-03-27T23:00:00+00:00}",
        rest_places="{2}",
    )
    again = Period(begin, end, "day", zone)
    assert parameters_of(again, grouped=False) is parameters_of(again, grouped=False)


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
