"""What FHIR allows is accepted: the official examples but a few, whole Synthea patients, the corners of the primitive types."""

from decimal import Decimal

import pytest

from fhir_api.validation import validate

from .resources import examples, observation, patient, synthea

_DOSE = "dosageInstruction[0].doseAndRate[0].dose.ofType(Quantity).code"
# Official examples that break R4: a performer of a type that the element's definition does not allow, and doses in
# "drop", "mcg", "ea" and "mEq", which are no codes of UCUM.
WRONG_EXAMPLES = {
    ("MedicationRequest", "medrx0301"): "MedicationRequest.dispenseRequest.performer.reference",
    ("Observation", "clinical-gender"): "Observation.performer[0].reference",
    **{
        (name, f"meddisp{number}" if name == "MedicationDispense" else f"medrx{number}"): f"{name}.{_DOSE}"
        for name, numbers in (
            ("MedicationDispense", ("0309", "0318", "0324", "0327", "0329")),
            ("MedicationRequest", ("0304", "0314", "0322", "0326", "0328", "0335")),
        )
        for number in numbers
    },
}
FURTHER_FAULTS = {
    ("MedicationRequest", "medrx0322"): ["MedicationRequest.contained[0].ingredient[0].strength.numerator.code"]
}
URL = "http://example.org/extension"


def test_official_examples_are_accepted_but_those_that_break_r4():
    refused = {
        (one["resourceType"], one["id"]): [issue.expression for issue in issues]
        for one in examples()
        if (issues := validate(one))
    }

    assert refused == {name: [expression, *FURTHER_FAULTS.get(name, ())] for name, expression in WRONG_EXAMPLES.items()}


def test_synthea_resources_are_accepted_once_their_conditional_references_are_resolved():
    resources = synthea()

    assert len(resources) > 2000
    assert [issue for one in resources for issue in validate(one)] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("valueBoolean", value) for value in (True, False)),
        *(("valueInteger", value) for value in (0, 12, -300, 2147483647, -2147483648)),
        *(("valueUnsignedInt", value) for value in (0, 1, 2147483647)),
        *(("valuePositiveInt", value) for value in (1, 2147483647)),
        *(
            ("valueDecimal", value)
            for value in (0, 12, 2147483648, Decimal("1.10"), Decimal("-62E3"), Decimal("1.5e-3"), Decimal("-0.0"))
        ),
        *(
            ("valueDateTime", value)
            for value in (
                "0001",
                "1973-06",
                "2000-02-29",
                "2024-02-29",
                "2015-02-07T13:28:17-05:00",
                "2015-02-07T13:28:17+14:00",
                "2017-01-01T00:00:00.000000000Z",
                "2016-12-31T23:59:60Z",
                "9999-12-31T23:59:59.999-14:00",
            )
        ),
        *(("valueDate", value) for value in ("0001", "2018", "1973-06", "2024-02-29")),
        *(("valueTime", value) for value in ("00:00:00", "13:37:12.132", "12:00:60")),
        *(("valueInstant", value) for value in ("2015-02-07T13:28:17.239+02:00", "2017-01-01T00:00:60Z")),
        *(("valueUrl", value) for value in ("mailto:a@example.com", "http://example.com:1337/hello?name=joe")),
        ("valueUri", "tel:+1234567890"),
        *(
            ("valueUri", value)
            for value in ("u", "ur", "urn:", "urn:oid", "urn:isbn:1", "urn:uu:1", "unit", "#a", "a/b")
        ),
        *(("valueUri", value) for value in ("urn:oid:2.16.840", "urn:uuid:C757873D-EC9A-4326-A141-556F43239520")),
        ("valueCanonical", "urn:oid:1.2.3"),
        ("valueId", "a.b.c.d-e"),
        ("valueOid", "urn:oid:1.2.3.4.5"),
        ("valueUuid", "urn:uuid:c757873d-ec9a-4326-a141-556f43239520"),
        *(("valueString", value) for value in ("text", "text \n text", "e\u0301", "😀", " padded ")),
        ("valueCode", "text text"),
        *(("valueBase64Binary", value) for value in ("TWFu", "SGVsbG8gV29ybGQ=", "QUJDREVGRw==", "TWFu\nTWFu")),
        ("valueMarkdown", "\nCode block\n"),
        ("valueCanonical", "http://example.org/fhir/ValueSet/valueset-example|1.2.3#definition"),
    ],
)
def test_19_value_of_a_primitive_type_is_accepted(name, value):
    assert validate(patient(extension=[{"url": URL, name: value}])) == []


@pytest.mark.parametrize(
    "names",
    [
        {"given": ["a"], "_given": [{"id": "test"}]},
        {"given": ["a"], "_given": [{"id": "test"}, None]},
        {"given": ["a"], "_given": [None, None]},
        {"given": [None, "b"], "_given": [{"extension": [{"url": URL, "valueString": "x"}]}, None]},
        {"given": ["a"], "_given": [None, {"extension": [{"url": URL, "valueString": "x"}]}]},
        {"_given": [{"extension": [{"url": URL, "valueString": "x"}]}]},
    ],
)
def test_20_values_and_their_siblings_are_aligned(names):
    assert validate(patient(name=[names])) == []


def test_20_extension_may_stand_for_a_required_value():
    absent = {
        "extension": [{"url": "http://hl7.org/fhir/StructureDefinition/data-absent-reason", "valueCode": "unknown"}]
    }
    resource = observation(_status=absent, _valueDateTime=absent)
    del resource["status"]

    assert validate(resource) == []


def test_contained_resource_of_another_type_is_accepted():
    substance = {"resourceType": "Substance", "id": "m1", "code": {"text": "what is given"}, "whatever": [1, "2"]}

    assert (
        validate(
            {
                "resourceType": "MedicationRequest",
                "status": "active",
                "intent": "order",
                "subject": {"reference": "Patient/1"},
                "medicationCodeableConcept": {"text": "a"},
                "supportingInformation": [{"reference": "#m1"}],
                "contained": [substance],
            }
        )
        == []
    )


def test_contained_resource_may_refer_to_its_container():
    contained = {"resourceType": "Observation", "status": "final", "code": {"text": "a"}, "subject": {"reference": "#"}}

    assert validate(patient(contained=[contained])) == []


def test_contained_target_of_an_allowed_type_is_accepted():
    for contained in (patient(id="p"), {"resourceType": "Device", "id": "p"}):
        assert validate(observation(contained=[contained], subject={"reference": "#p"})) == []


def test_contained_resource_may_be_named_by_uris_and_by_what_is_not_known():
    contained = {"resourceType": "Organization", "id": "o", "name": "a"}
    by_uri = {"extension": [{"url": URL, "valueCanonical": "#o"}]}
    unknown = {"resourceType": "Library", "id": "l", "whatever": ["#o"]}
    by_unknown = {"contained": [contained, unknown], "extension": [{"url": URL, "valueReference": {"reference": "#l"}}]}

    assert validate(patient(contained=[contained], **by_uri)) == []
    assert validate(patient(**by_unknown)) == []


def test_url_of_an_extension_inside_another_may_be_relative():
    inner = {"url": "ombCategory", "valueCoding": {"code": "2106-3"}}

    assert validate(patient(extension=[{"url": URL, "extension": [inner, {"url": "a", "extension": [inner]}]}])) == []


def test_contained_resource_has_ids_of_its_own():
    contained = patient(id="a", name=[{"id": "b", "family": "Roe"}])
    resource = observation(id="a", code={"id": "b", "text": "c"}, contained=[contained], subject={"reference": "#a"})

    assert validate(resource) == []


@pytest.mark.parametrize(
    "subject",
    [
        {"reference": "Patient/1/_history/2", "type": "Patient"},
        {"reference": "https://example.org/fhir/Patient/1"},
        {"reference": "https://example.org/records?id=Organization/1"},
        {"reference": "urn:uuid:C757873D-ec9a-4326-a141-556f43239520", "type": "Group"},
        {"reference": "urn:oid:1.2.3"},
        {"identifier": {"value": "a"}, "type": "http://hl7.org/fhir/StructureDefinition/Patient"},
        {"display": "someone"},
        {"extension": [{"url": URL, "valueCode": "masked"}]},
    ],
)
def test_33_reference_of_each_form_is_accepted(subject):
    assert validate(observation(subject=subject)) == []


@pytest.mark.parametrize(
    "content_type", ["image/png", "text/plain; charset=utf-8", "application/fhir+json", 'text/plain;format="a b"']
)
def test_content_type_of_each_form_is_accepted(content_type):
    assert validate(patient(photo=[{"contentType": content_type}])) == []
