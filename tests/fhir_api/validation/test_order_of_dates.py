"""The order of dates that are only partly known, at the edges of the calendar too."""

import pytest

from fhir_api.validation import validate
from fhir_api.validation.dates import is_certainly_after

from .resources import observation


@pytest.mark.parametrize(
    ("first", "second", "after"),
    [
        ("0001-01-01", "2015-01-01T00:00:00Z", False),
        ("9999-12-31", "2015-01-01T00:00:00Z", True),
        ("2015-01-01T00:00:00Z", "9999-12-31", False),
        ("2015-01-01T00:00:00Z", "0001-01-01", True),
        ("9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", True),
        ("2015-01-02", "2015-01-01T09:59:59Z", True),
        ("2015-01-02", "2015-01-01T10:00:00Z", False),
        ("2015-01-03T12:00:00Z", "2015-01-02", True),
        ("2015-01-03T11:59:59Z", "2015-01-02", False),
    ],
)
def test_day_is_after_a_moment_only_if_it_is_everywhere_on_earth(first, second, after):
    assert is_certainly_after(first, second) is after


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_dispense_on_the_first_or_last_day_there_is_has_an_answer(day):
    dispense = {
        "resourceType": "MedicationDispense",
        "status": "completed",
        "medicationCodeableConcept": {"text": "x"},
        "whenPrepared": "2015-01-01T00:00:00Z",
        "whenHandedOver": day,
    }

    assert len(validate(dispense)) == (day == "0001-01-01")


@pytest.mark.parametrize(
    ("start", "end", "is_accepted"),
    [
        ("2012", "2012", True),
        ("2012", "2012-01", True),
        ("2012-12-31", "2012", True),
        ("2012-01", "2012-01-01", True),
        ("2012-02", "2012-01-31", False),
        ("2013", "2012-12", False),
        ("2013", "2012-12-31", False),
        ("2012-01-15", "2012-01-15T00:00:00Z", True),
        ("2012-01-15T23:59:59Z", "2012-01", True),
        ("2012-01-15T23:59:59Z", "2012", True),
        ("2013", "2012-01-31T23:30:00Z", False),
        ("2013", "2012-12-31T09:59:59Z", False),
        ("2013", "2012-12-31T10:00:00Z", True),
        ("2012-02", "2012-01-01T00:00:00Z", False),
        ("2012-02", "2012-01-31T10:00:00Z", True),
        ("2012-02-01T11:59:59Z", "2012-01", True),
        ("2012-02-01T12:00:00Z", "2012-01", False),
        ("2012-03-01T12:00:00Z", "2012-02", False),
        ("2012-03-01T11:59:59Z", "2012-02", True),
        ("2013-01-01T11:59:59Z", "2012", True),
        ("2013-01-01T12:00:00Z", "2012", False),
        ("2012-01-15T10:00:00.5Z", "2012-01-15T10:00:00.50Z", True),
        ("2012-01-15T10:00:00.51Z", "2012-01-15T10:00:00.5Z", False),
        ("0001", "9999-12-31T23:59:59-12:00", True),
        ("9999-12-31T23:59:59-12:00", "9999", True),
        ("9999-12-31T23:59:59Z", "9998", False),
    ],
)
def test_period_whose_dates_are_known_in_part_is_refused_only_if_it_certainly_ends_before_it_starts(
    start, end, is_accepted
):
    issues = validate(observation(effectivePeriod={"start": start, "end": end}))

    assert [issue.details for issue in issues] == ([] if is_accepted else ["per-1"])
