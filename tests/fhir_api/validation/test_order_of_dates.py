"""The order of dates that are only partly known, at the edges of the calendar too."""

import pytest

from fhir_api.validation import validate
from fhir_api.validation.dates import is_certainly_after


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
