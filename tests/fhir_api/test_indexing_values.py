"""What numbers and dates of resources are found by, alone and beside the codes of composites."""

from decimal import Decimal

import pytest

from fhir_api import keys
from fhir_api.dates import span
from fhir_api.entries import OPEN_HIGH
from fhir_api.indexing import index
from fhir_api.keys import code_form, system_code_form
from tests.fhir_api.indexed import FORMS, LOINC, UCUM, more, number, of_observation


def test_quantity_is_found_in_three_forms_of_its_unit():
    value = {"value": Decimal("107.0"), "unit": "mmHg", "system": UCUM, "code": "mm[Hg]"}
    plain, pair = number("Observation", "value-quantity"), number("Observation", "code-value-quantity")
    units = (
        keys.ANY_UNIT,
        keys.unit_form("mmHg"),
        keys.unit_form("mm[Hg]"),
        keys.system_unit_form(UCUM, "mm[Hg]"),
    )

    found = of_observation(valueQuantity=value)

    assert found.quantities == {
        *((keys.quantity_key(plain, unit), 107.0) for unit in units),
        *((keys.quantity_key(pair, unit, form), 107.0) for unit in units for form in FORMS),
    }
    assert found.parameters == {plain, pair}


def test_component_is_found_with_its_own_code_only():
    other = {"coding": [{"system": LOINC, "code": "8462-4"}]}
    pair = number("Observation", "component-code-value-quantity")

    found = of_observation(component=[{"code": other, "valueQuantity": {"value": 60}}])

    assert (keys.quantity_key(pair, keys.ANY_UNIT, code_form("8462-4")), 60.0) in found.quantities
    assert (keys.quantity_key(pair, keys.ANY_UNIT, FORMS[0]), 60.0) not in found.quantities
    assert number("Observation", "code-value-quantity") not in found.parameters
    assert number("Observation", "value-quantity") not in found.parameters


def test_sampled_data_is_found_by_its_lowest_and_highest_sample():
    plain = number("Observation", "value-quantity")
    sampled = {
        "origin": {"value": 100, "unit": "uV"},
        "factor": Decimal("0.5"),
        "data": "2 E -4 U 8.0 L",
        "dimensions": 1,
    }

    found = of_observation(valueSampledData=sampled)

    assert {value for key, value in found.quantities if key == keys.quantity_key(plain, keys.unit_form("uV"))} == {
        98,
        104,
    }
    assert of_observation(valueSampledData={**sampled, "data": "E"}).quantities == set()


def test_range_of_ages_is_found_by_its_ends():
    onset = number("Condition", "onset-age")
    plain = {"resourceType": "Condition"}

    found = more(
        {**plain, "onsetRange": {"low": {"value": 30, "code": "a", "system": UCUM}, "high": {"value": 40}}}, plain
    )

    key = keys.quantity_key(onset, keys.ANY_UNIT)
    assert {value for one, value in found.quantities if one == key} == {30, 40}
    assert more({**plain, "onsetAge": {"value": 52}}, plain).quantities == {(key, 52)}


def test_composites_hold_both_sides_of_one_value():
    concept = number("Observation", "code-value-concept")
    value = {"coding": [{"system": "s", "code": "pos"}], "text": "Positive"}
    text, date = number("Observation", "code-value-string"), number("Observation", "code-value-date")

    found = of_observation(valueCodeableConcept=value)

    seconds = code_form("pos"), system_code_form("s", "pos")
    assert {keys.composite_key(concept, one, other) for one in FORMS for other in seconds} <= found.postings
    assert (keys.string_key(number("Observation", "value-string")), "positive") in found.strings
    assert of_observation(valueString="Höher").strings >= {(keys.string_key(text, form), "hoher") for form in FORMS}
    assert of_observation(valueDateTime="2015").dates >= {(keys.date_key(date, form), *span("2015")) for form in FORMS}
    period = of_observation(valuePeriod={"start": "2015"}).dates
    assert period >= {(keys.date_key(date, form), span("2015")[0], OPEN_HIGH) for form in FORMS}


@pytest.mark.parametrize(
    ("resource", "sort_date"),
    [
        ({"resourceType": "Observation", "effectiveDateTime": "2015-02-07T13:28:17-05:00"}, "2015-02-07T18:28:17"),
        ({"resourceType": "Observation", "effectivePeriod": {"end": "2015"}}, "2016-01-01T00:00:00"),
        ({"resourceType": "Observation", "effectivePeriod": {"end": "9999"}}, None),
        ({"resourceType": "Observation", "effectiveTiming": {"event": ["2016", "2015"]}}, "2015-01-01T00:00:00"),
        ({"resourceType": "Observation", "effectiveInstant": "2015-02-07T13:28:17Z"}, "2015-02-07T13:28:17"),
        ({"resourceType": "Observation", "effectiveTiming": {"code": {}}, "issued": "2015-02-07T13:28:17Z"}, None),
        ({"resourceType": "Encounter", "period": {"start": "2015-02"}}, "2015-02-01T00:00:00"),
        ({"resourceType": "MedicationRequest", "authoredOn": "2015"}, "2015-01-01T00:00:00"),
        (
            {"resourceType": "MedicationDispense", "whenPrepared": "2014", "whenHandedOver": "2015"},
            "2015-01-01T00:00:00",
        ),
        ({"resourceType": "MedicationDispense", "whenPrepared": "2014"}, "2014-01-01T00:00:00"),
        ({"resourceType": "MedicationStatement", "dateAsserted": "2015"}, "2015-01-01T00:00:00"),
        ({"resourceType": "DiagnosticReport", "issued": "2015-02-07T13:28:17.5Z"}, "2015-02-07T13:28:17.500000"),
        ({"resourceType": "Condition", "onsetString": "long ago", "recordedDate": "2015"}, "2015-01-01T00:00:00"),
        ({"resourceType": "Patient", "birthDate": "2015"}, None),
    ],
)
def test_clinical_date_is_the_first_that_is_told(resource, sort_date):
    expected = sort_date and f"{sort_date}{'' if '.' in sort_date else '.000000'}+00:00"

    assert index(resource).sort_date == expected
