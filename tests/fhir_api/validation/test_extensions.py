"""Values of the extensions of HL7 that R4's search parameters name."""

import pytest

from fhir_api.validation import validate
from fhir_api.validation.definitions import extensions

from .resources import observation, patient

HL7 = "http://hl7.org/fhir/StructureDefinition/"
MAIDEN, GENE = f"{HL7}patient-mothersMaidenName", f"{HL7}observation-geneticsGene"
ASSERTED, ASSESSED = f"{HL7}condition-assertedDate", f"{HL7}DiagnosticReport-geneticsAssessedCondition"


def extended(url, **value):
    return patient(extension=[{"url": url, **value}])


@pytest.mark.parametrize(
    ("url", "value"),
    [
        (MAIDEN, {"valueBoolean": True}),
        (MAIDEN, {"valueHumanName": {"family": "Roe"}}),
        (MAIDEN, {"_valueCode": {"extension": [{"url": "a:b", "valueCode": "x"}]}}),
        (GENE, {"valueQuantity": {"value": 1}}),
        (GENE, {"valueDateTime": "2026"}),
        (ASSERTED, {"valueString": "2026"}),
        (ASSESSED, {"valueString": "Condition/1"}),
    ],
)
def test_value_that_its_search_parameter_cannot_find_is_refused(url, value):
    issues = validate(extended(url, **value))

    assert [(issue.code, issue.expression.startswith("Patient.extension[0].value")) for issue in issues] == [
        ("value", True)
    ]


@pytest.mark.parametrize(
    ("url", "value"),
    [
        (MAIDEN, {"valueString": "Roe"}),
        (MAIDEN, {"_valueString": {"extension": [{"url": "a:b", "valueCode": "x"}]}}),
        (GENE, {"valueCodeableConcept": {"text": "a"}}),
        (GENE, {"extension": [{"url": "a", "valueBoolean": True}]}),
        (ASSERTED, {"valueDateTime": "2026"}),
        (ASSESSED, {"valueReference": {"display": "a"}}),
        (f"{HL7}patient-birthPlace", {"valueBoolean": True}),
    ],
)
def test_value_of_a_type_that_is_found_and_of_an_extension_that_is_not_known_is_accepted(url, value):
    assert validate(extended(url, **value)) == []


def test_extension_of_an_element_is_judged_too():
    resource = observation(code={"text": "a", "extension": [{"url": GENE, "valueInteger": 1}]})

    assert [issue.expression for issue in validate(resource)] == ["Observation.code.extension[0].value.ofType(integer)"]


def test_table_names_the_extensions_of_the_search_parameters():
    assert len(extensions()) == 8
    assert all(url.startswith("http://hl7.org/fhir/") for url in extensions())
