"""Dates of FHIR as spans."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fhir_api.dates import period, span, timing
from fhir_api.entries import OPEN_HIGH, OPEN_LOW

YEARS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29))
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def utc(text):
    return f"{text}.000000+00:00" if "." not in text else f"{text}+00:00"


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("2015", "2015-01-01T00:00:00", "2016-01-01T00:00:00"),
        ("2015-12", "2015-12-01T00:00:00", "2016-01-01T00:00:00"),
        ("2016-02", "2016-02-01T00:00:00", "2016-03-01T00:00:00"),
        ("2016-02-29", "2016-02-29T00:00:00", "2016-03-01T00:00:00"),
        ("2015-02-07T13:28Z", "2015-02-07T13:28:00", "2015-02-07T13:29:00"),
        ("2015-02-07T13:28:17", "2015-02-07T13:28:17", "2015-02-07T13:28:18"),
        ("2015-02-07T13:28:17-05:00", "2015-02-07T18:28:17", "2015-02-07T18:28:18"),
        ("2015-02-07T00:28:17+14:00", "2015-02-06T10:28:17", "2015-02-06T10:28:18"),
        ("2015-02-07T13:28:17.5Z", "2015-02-07T13:28:17.500000", "2015-02-07T13:28:17.501000"),
        ("2015-02-07T13:28:17.239+02:00", "2015-02-07T11:28:17.239000", "2015-02-07T11:28:17.240000"),
        ("2015-02-07T13:28:17.123456789Z", "2015-02-07T13:28:17.123456", "2015-02-07T13:28:17.123457"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00", "2017-01-01T00:00:01"),
    ],
)
def test_date_means_the_whole_of_what_it_tells(text, low, high):
    assert span(text) == (utc(low), utc(high))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9999", (utc("9999-01-01T00:00:00"), OPEN_HIGH)),
        ("9999-12", (utc("9999-12-01T00:00:00"), OPEN_HIGH)),
        ("9999-12-31", (utc("9999-12-31T00:00:00"), OPEN_HIGH)),
        ("9999-12-31T23:59:59Z", (utc("9999-12-31T23:59:59"), OPEN_HIGH)),
        ("9999-12-31T23:00:00-12:00", (utc("9999-12-31T23:59:59.999999"), OPEN_HIGH)),
        ("0001", (utc("0001-01-01T00:00:00"), utc("0002-01-01T00:00:00"))),
        ("0001-01-01T00:00:00+14:00", (utc("0001-01-01T00:00:00"), utc("0001-01-01T00:00:01"))),
    ],
)
def test_date_at_the_edge_of_the_calendar_is_clamped(text, expected):
    assert span(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "15", "20150", "2015-1", "2015-13", "2015-00", "2015-02-30", "2015-02-29", "0000", "23 May", "２０１５",
        "2015-02-07T24:00:00Z", "2015-02-07T13:60:00Z", "2015-02-07T13:28:61Z", "2015-02-07T13", "2015-02-07Z",
        "2015-02-07T13:28:17+15:00", "2015-02-07T13:28:17+01:60", "2015-02-07 13:28:17Z", "2015-02-07T13:28:17Z\n",
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused(text):
    with pytest.raises(ValueError):
        span(text)


@given(YEARS, ZONES, st.sampled_from(["seconds", "milliseconds", "microseconds"]))
def test_span_begins_at_the_instant_and_lasts_as_long_as_its_digits(at, zone, digits):
    text = at.replace(tzinfo=zone).isoformat(timespec=digits)
    if len(text) > len("2015-02-07T13:28:17.123456+00:00"):
        return  # a zone with seconds is no form of FHIR
    length = {"seconds": 1_000_000, "milliseconds": 1_000, "microseconds": 1}[digits]

    low, high = map(datetime.fromisoformat, span(text))

    assert low == datetime.fromisoformat(text)
    assert high - low == timedelta(microseconds=length)


@given(st.dates(), st.sampled_from(["%Y", "%Y-%m", "%Y-%m-%d"]))
def test_partial_date_contains_the_day_and_nothing_of_another(day, form):
    text = day.isoformat()[: {"%Y": 4, "%Y-%m": 7, "%Y-%m-%d": 10}[form]]
    low, high = span(text)

    inside = span(day.isoformat())

    assert low <= inside[0] < inside[1] <= high
    assert datetime.fromisoformat(low).strftime(form) == day.strftime(form)
    if high != OPEN_HIGH:
        last = datetime.fromisoformat(high) - timedelta(microseconds=1)
        assert last.strftime(form) == day.strftime(form)


@given(st.lists(YEARS.map(lambda at: at.replace(tzinfo=UTC, microsecond=0)), min_size=2, max_size=2))
def test_spans_sort_as_their_times_do(moments):
    first, second = moments

    spans = [span(at.isoformat()) for at in (first, second)]

    assert (spans[0][0] < spans[1][0]) == (first < second)
    assert OPEN_LOW < spans[0][0] < OPEN_HIGH


def test_period_without_an_end_is_open():
    low, high = span("2015-02")

    assert period({"start": "2015-02", "end": "2015-02"}) == (low, high)
    assert period({"start": "2015-02"}) == (low, OPEN_HIGH)
    assert period({"end": "2015-02"}) == (OPEN_LOW, high)
    assert period({"_start": {"extension": []}}) is None


def test_timing_reaches_from_its_first_to_its_last():
    events = {"event": ["2015-02-03", None, "2014-05-01T10:00:00Z"]}
    bounds = {"repeat": {"boundsPeriod": {"start": "2015"}}}

    assert timing(events) == (utc("2014-05-01T10:00:00"), utc("2015-02-04T00:00:00"))
    assert timing(bounds) == (utc("2015-01-01T00:00:00"), OPEN_HIGH)
    assert timing({**events, **bounds}) == (utc("2014-05-01T10:00:00"), OPEN_HIGH)
    assert timing({"repeat": {"frequency": 2, "boundsDuration": {"value": 3}}}) is None
    assert timing({"code": {"text": "BID"}}) is None
