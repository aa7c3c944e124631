"""Dates of occurrences, and the first instants of local dates, held against the calendar and against zoneinfo itself."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prescriptions.lifecycle.expiry import start_of
from prescriptions.recurring.dates import LAST, Rhythm, changed, drafts_from, first_from, occurrence

ZONES = [
    "Africa/Cairo", "America/New_York", "Europe/Berlin", "Pacific/Apia", "America/St_Johns", "America/Sao_Paulo",
    "Asia/Beirut", "Pacific/Kwajalein", "Asia/Kathmandu", "Atlantic/Azores", "America/Havana", "Asia/Gaza",
]  # fmt: skip


def dates(start, every, unit, count):
    rhythm = Rhythm.starting(date.fromisoformat(start), every, unit)
    return [occurrence(rhythm, index).isoformat() for index in range(count)]


@pytest.mark.parametrize(
    ("start", "every", "unit", "expected"),
    [
        ("2025-12-31", 1, "month", ["2025-12-31", "2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]),
        ("2024-01-31", 1, "month", ["2024-01-31", "2024-02-29", "2024-03-31"]),
        ("2024-02-29", 12, "month", ["2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]),
        ("2096-02-29", 48, "month", ["2096-02-29", "2100-02-28", "2104-02-29"]),
        ("2026-11-30", 3, "month", ["2026-11-30", "2027-02-28", "2027-05-30"]),
        ("2026-02-27", 1, "day", ["2026-02-27", "2026-02-28", "2026-03-01"]),
        ("2026-12-20", 2, "week", ["2026-12-20", "2027-01-03", "2027-01-17"]),
    ],
)
def test_occurrences_keep_their_anchor(start, every, unit, expected):
    assert dates(start, every, unit, len(expected)) == expected


def test_occurrences_end_with_the_calendar():
    assert occurrence(Rhythm.starting(LAST, 1, "day"), 1) is None
    assert occurrence(Rhythm.starting(LAST, 1, "month"), 1) is None
    assert occurrence(Rhythm.starting(LAST, 365, "month"), 1_000_000) is None
    assert occurrence(Rhythm.starting(date(2026, 1, 1), 365, "week"), 10**12) is None


@given(
    st.dates(date(1990, 1, 1), date(2190, 1, 1)),
    st.integers(1, 40),
    st.sampled_from(["day", "week", "month"]),
    st.integers(0, 50),
    st.integers(-2000, 20_000),
)
def test_first_from_is_the_first_that_is_not_before(start, every, unit, index, offset):
    rhythm, day = Rhythm.starting(start, every, unit), start + timedelta(days=offset)
    found = first_from(rhythm, day, index)
    due = occurrence(rhythm, found)
    assert found >= index
    assert due is None or due >= day
    assert found == index or occurrence(rhythm, found - 1) < day


@given(
    st.dates(date(1990, 1, 1), date(2190, 1, 1)),
    st.integers(1, 24),
    st.sampled_from(["day", "week", "month"]),
    st.data(),
)
def test_occurrences_rise(start, every, unit, data):
    rhythm, index = Rhythm.starting(start, every, unit), data.draw(st.integers(0, 60))
    assert occurrence(rhythm, index) < occurrence(rhythm, index + 1)


def test_other_interval_counts_from_the_next_occurrence():
    monthly = Rhythm.starting(date(2026, 1, 31), 1, "month")
    rarer = changed(monthly, 3, 2, "month")
    assert [occurrence(rarer, n) for n in (3, 4, 5)] == [date(2026, 4, 30), date(2026, 6, 30), date(2026, 8, 31)]
    weekly = changed(monthly, 3, 1, "week")
    assert [occurrence(weekly, n) for n in (3, 4)] == [date(2026, 4, 30), date(2026, 5, 7)]
    again = changed(weekly, 4, 1, "month")
    assert [occurrence(again, n) for n in (4, 5)] == [date(2026, 5, 7), date(2026, 6, 7)]


# -- the first instant of a local date ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "day", "expected"),
    [
        ("Africa/Cairo", date(2024, 4, 26), "2024-04-25T22:00:00"),  # midnight is left out: the day begins at 1:00
        ("Africa/Cairo", date(2024, 10, 31), "2024-10-30T21:00:00"),
        ("Africa/Cairo", date(2024, 11, 1), "2024-10-31T22:00:00"),  # at 24:00 the clocks show 23:00 again
        ("America/New_York", date(2026, 3, 8), "2026-03-08T05:00:00"),
        ("America/New_York", date(2026, 3, 9), "2026-03-09T04:00:00"),
        ("America/New_York", date(2026, 11, 2), "2026-11-02T05:00:00"),
        ("Europe/Berlin", date(2026, 3, 29), "2026-03-28T23:00:00"),
        ("Europe/Berlin", date(2026, 3, 30), "2026-03-29T22:00:00"),
        ("Pacific/Apia", date(2011, 12, 29), "2011-12-29T10:00:00"),
        ("Pacific/Apia", date(2011, 12, 30), "2011-12-30T10:00:00"),  # there was no such day
        ("Pacific/Apia", date(2011, 12, 31), "2011-12-30T10:00:00"),
        ("Pacific/Apia", date(2012, 1, 1), "2011-12-31T10:00:00"),
        ("America/Sao_Paulo", date(2018, 11, 4), "2018-11-04T03:00:00"),
        ("America/St_Johns", date(2010, 11, 7), "2010-11-07T02:30:00"),  # a minute of it, then the day before once more
    ],
)
def test_first_instants(zone, day, expected):
    assert start_of(day, ZoneInfo(zone)) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize("name", ZONES)
def test_first_instants_of_every_day_of_many_years(name):
    zone, day = ZoneInfo(name), date(1985, 1, 1)
    last = start_of(day - timedelta(days=1), zone)
    while day < date(2040, 1, 1):
        found = start_of(day, zone)
        assert found.astimezone(zone).date() >= day, day
        assert (found - timedelta(seconds=1)).astimezone(zone).date() < day, day
        assert last <= found <= last + timedelta(hours=49), day
        last, day = found, day + timedelta(days=1)


@given(st.sampled_from(sorted(available_timezones())), st.dates(date(1950, 1, 1), date(2199, 12, 31)))
def test_first_instants_of_any_zone(name, day):
    zone = ZoneInfo(name)
    found = start_of(day, zone)
    assert found.microsecond == 0
    assert found.astimezone(zone).date() >= day
    assert (found - timedelta(seconds=1)).astimezone(zone).date() < day


def test_draft_is_made_on_the_local_date_before():
    zone = ZoneInfo("Africa/Cairo")
    assert drafts_from(date(2024, 4, 29), 3, zone) == datetime(2024, 4, 25, 22, tzinfo=UTC)
    assert drafts_from(date(2012, 1, 2), 3, ZoneInfo("Pacific/Apia")) == datetime(2011, 12, 30, 10, tzinfo=UTC)
