"""Quiet hours and digests across zones and changes of the clocks."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suppliers.notifications.quiet_hours import QuietHours, mail_at, next_at

BERLIN, KOLKATA, APIA = "Europe/Berlin", "Asia/Kolkata", "Pacific/Apia"
NIGHT = QuietHours(time(20), time(7), BERLIN)


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "quiet", "due"),
    [
        (utc(2030, 1, 10, 12), NIGHT, utc(2030, 1, 10, 12)),
        (utc(2030, 1, 10, 19), NIGHT, utc(2030, 1, 11, 6)),  # the first minute of the quiet hours
        (utc(2030, 1, 10, 18, 59), NIGHT, utc(2030, 1, 10, 18, 59)),
        (utc(2030, 1, 11, 2), NIGHT, utc(2030, 1, 11, 6)),  # behind midnight
        (utc(2030, 1, 11, 6), NIGHT, utc(2030, 1, 11, 6)),  # the end does not belong to them
        (utc(2030, 7, 10, 19), NIGHT, utc(2030, 7, 11, 5)),  # summer time
        (utc(2030, 1, 10, 8), QuietHours(time(13), time(15), KOLKATA), utc(2030, 1, 10, 9, 30)),
        (utc(2030, 1, 10, 12), QuietHours(time(0), time(6), APIA), utc(2030, 1, 10, 17)),
        # 31 March 2030, clocks in Berlin go from 2:00 to 3:00; 27 October, from 3:00 to 2:00
        (utc(2030, 3, 30, 22), NIGHT, utc(2030, 3, 31, 5)),
        (utc(2030, 10, 26, 20), NIGHT, utc(2030, 10, 27, 6)),
        (
            utc(2030, 3, 31, 0, 30),
            QuietHours(time(1), time(2, 30), BERLIN),
            utc(2030, 3, 31, 1, 30),
        ),  # 2:30 is left out
        (utc(2030, 10, 27, 0, 0), QuietHours(time(1), time(2, 30), BERLIN), utc(2030, 10, 27, 0, 30)),  # the first 2:30
        (utc(2030, 10, 27, 1, 15), QuietHours(time(1), time(2, 30), BERLIN), utc(2030, 10, 27, 1, 30)),  # the second
    ],
)
def test_mail_waits_for_the_end_of_the_quiet_hours(at, quiet, due):
    assert mail_at(at, digest="immediate", quiet=quiet, zone="UTC") == due


@pytest.mark.parametrize(
    ("digest", "quiet", "zone", "at", "due"),
    [
        ("hourly", None, "UTC", utc(2030, 1, 10, 12, 20), utc(2030, 1, 10, 13)),
        ("hourly", None, KOLKATA, utc(2030, 1, 10, 12, 20), utc(2030, 1, 10, 12, 30)),
        ("hourly", NIGHT, "UTC", utc(2030, 1, 10, 18, 20), utc(2030, 1, 11, 6)),  # the hour ends in the quiet ones
        ("daily", None, BERLIN, utc(2030, 1, 10, 12), utc(2030, 1, 11, 7)),
        ("daily", None, BERLIN, utc(2030, 1, 10, 6), utc(2030, 1, 10, 7)),
        ("daily", NIGHT, "UTC", utc(2030, 7, 10, 12), utc(2030, 7, 11, 5)),
        ("daily", None, BERLIN, utc(2030, 3, 30, 12), utc(2030, 3, 31, 6)),  # a day of 23 hours
    ],
)
def test_mail_waits_for_its_digest(digest, quiet, zone, at, due):
    assert mail_at(at, digest=digest, quiet=quiet, zone=zone) == due


ZONES = st.sampled_from([BERLIN, KOLKATA, APIA, "America/New_York", "Australia/Lord_Howe", "UTC", "Africa/Casablanca"])
TIMES = st.times().map(lambda one: one.replace(microsecond=0))
INSTANTS = st.datetimes(datetime(2024, 1, 1), datetime(2034, 1, 1), timezones=st.just(UTC))


@given(INSTANTS, TIMES, TIMES, ZONES, st.sampled_from(["immediate", "hourly", "daily"]))
def test_mail_goes_out_within_two_days_and_never_in_quiet_hours(at, begin, end, zone, digest):
    quiet = QuietHours(begin, end, zone) if begin != end else None
    due = mail_at(at, digest=digest, quiet=quiet, zone=zone)
    assert at <= due <= at + timedelta(days=3)
    assert digest != "immediate" or quiet is None or due == at or not quiet.holds_at(due) or _is_repeated(due, zone)


@given(INSTANTS, TIMES, ZONES)
def test_next_time_shows_on_the_clocks_or_was_left_out(at, wanted, zone):
    found = next_at(wanted, zone, at)
    shown = found.astimezone(ZoneInfo(zone))
    assert at < found <= at + timedelta(days=2)
    assert shown.time() == wanted or datetime.combine(shown.date(), wanted, ZoneInfo(zone)).astimezone(UTC) != found


def _is_repeated(at, zone):
    """Tell whether the clocks go back around an instant: the end of the quiet hours then comes twice."""
    near = [(at + timedelta(hours=step)).astimezone(ZoneInfo(zone)).utcoffset() for step in (-3, 0, 3)]
    return len(set(near)) > 1
