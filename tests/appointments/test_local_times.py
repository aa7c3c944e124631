"""Local times as instants, held against zoneinfo second by second, in zones with gaps, doubled hours and a missing day."""

import itertools
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appointments.local_times import common, instant, merged, occurrences, seconds, spans_of, without

pytestmark = pytest.mark.untraced

ZONES = ("Africa/Cairo", "America/New_York", "Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe", "Asia/Kathmandu")
# Days at which the clocks of these zones are set, and one that Apia left out.
DAYS = {
    "Africa/Cairo": [date(2026, 4, 24), date(2026, 10, 29), date(2026, 10, 30)],
    "America/New_York": [date(2026, 3, 8), date(2026, 11, 1)],
    "Europe/Berlin": [date(2026, 3, 29), date(2026, 10, 25)],
    "Pacific/Apia": [date(2011, 12, 29), date(2011, 12, 30), date(2011, 12, 31), date(2011, 9, 24)],
    "Australia/Lord_Howe": [date(2026, 4, 5), date(2026, 10, 4)],
    "Asia/Kathmandu": [date(2026, 1, 1)],
}
TURNS = [(zone, day) for zone, days in DAYS.items() for day in days]


def minutes_by_zoneinfo(day, opens, closes, zone):
    """Every minute at which a clock of the zone shows the date and a time in the span, found by looking at each."""
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=30)
    found = set()
    for number in range(84 * 60):
        moment = start + timedelta(minutes=number)
        local = moment.astimezone(ZoneInfo(zone))
        if local.date() == day and opens <= local.hour * 60 + local.minute < closes:
            found.add(seconds(moment))
    return found


def minutes_of(spans):
    return {number for start, end in spans for number in range(start, end, 60)}


@pytest.mark.parametrize(("zone", "day"), TURNS, ids=str)
@pytest.mark.parametrize(("opens", "closes"), [(0, 1440), (0, 150), (90, 180), (150, 600), (480, 1080), (1410, 1440)])
def test_a_span_of_local_time_is_what_the_clock_shows(zone, day, opens, closes):
    assert minutes_of(spans_of(day, opens, closes, zone)) == minutes_by_zoneinfo(day, opens, closes, zone)


@given(
    zone=st.sampled_from(ZONES),
    day=st.dates(date(2005, 1, 1), date(2037, 12, 1)),
    ends=st.lists(st.integers(0, 1440), min_size=2, max_size=2, unique=True).map(sorted),
)
def test_any_day_in_any_zone_is_what_the_clock_shows(zone, day, ends):
    assert minutes_of(spans_of(day, *ends, zone)) == minutes_by_zoneinfo(day, *ends, zone)


def test_a_gap_does_not_exist_and_a_doubled_hour_exists_twice():
    gap = spans_of(date(2026, 3, 29), 60, 240, "Europe/Berlin")
    assert sum(end - start for start, end in gap) == 2 * 3600
    doubled = spans_of(date(2026, 10, 25), 60, 240, "Europe/Berlin")
    assert sum(end - start for start, end in doubled) == 4 * 3600
    inside = spans_of(date(2026, 10, 25), 120, 150, "Europe/Berlin")
    assert [(instant(start).isoformat(), end - start) for start, end in inside] == [
        ("2026-10-25T00:00:00+00:00", 1800),
        ("2026-10-25T01:00:00+00:00", 1800),
    ]
    assert spans_of(date(2026, 3, 29), 120, 180, "Europe/Berlin") == []
    assert spans_of(date(2011, 12, 30), 0, 1440, "Pacific/Apia") == []


def series(first, zone, **more):
    return list(occurrences(first, zone=zone, **more))


@pytest.mark.parametrize("zone", ["Africa/Cairo", "America/New_York", "Europe/Berlin", "Pacific/Apia"])
def test_a_series_keeps_its_local_time_over_a_year(zone):
    first = datetime(2026, 1, 5, 9, 30, tzinfo=ZoneInfo(zone))
    found = series(first.astimezone(UTC), zone, every=1, unit="week", count=52)
    local = [moment.astimezone(ZoneInfo(zone)) for moment in found]
    assert {(one.hour, one.minute, one.weekday()) for one in local} == {(9, 30, 0)}
    assert [(later.date() - one.date()).days for one, later in itertools.pairwise(local)] == [7] * 51
    assert len({one.utcoffset() for one in local}) == (1 if zone == "Pacific/Apia" else 2)


def test_a_series_by_the_month_keeps_the_day_of_its_first():
    first = datetime(2027, 10, 31, 10, tzinfo=ZoneInfo("Europe/Berlin"))
    found = series(first, "Europe/Berlin", every=1, unit="month", count=6)
    local = [moment.astimezone(ZoneInfo("Europe/Berlin")) for moment in found]
    assert [one.date().isoformat() for one in local] == [
        "2027-10-31", "2027-11-30", "2027-12-31", "2028-01-31", "2028-02-29", "2028-03-31",
    ]  # fmt: skip
    assert {one.hour for one in local} == {10}


def test_a_series_that_meets_a_gap_is_moved_behind_it_and_takes_the_first_of_two():
    gap = series(
        datetime(2026, 3, 22, 2, 30, tzinfo=ZoneInfo("Europe/Berlin")), "Europe/Berlin", every=1, unit="week", count=3
    )
    assert [moment.astimezone(ZoneInfo("Europe/Berlin")).strftime("%H:%M") for moment in gap] == [
        "02:30",
        "03:30",
        "02:30",
    ]
    first = datetime(2026, 10, 18, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    doubled = series(first, "Europe/Berlin", every=1, unit="week", count=2)
    assert doubled[1] == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


SPANS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda one: (one[0], one[0] + one[1])), max_size=6
).map(merged)


def points(spans):
    return {number for start, end in spans for number in range(start, end)}


@given(SPANS, SPANS)
def test_spans_are_joined_and_cut_as_sets_are(some, others):
    assert points(common(some, others)) == points(some) & points(others)
    assert points(without(some, others)) == points(some) - points(others)
    assert points(merged([*some, *others])) == points(some) | points(others)
    for found in (common(some, others), without(some, others), merged([*some, *others])):
        assert found == sorted(found)
        assert all(start < end for start, end in found)
