"""Broken resources: each is refused with one issue that names the element exactly."""

import pytest

from fhir_api.validation import validate

from .broken import URL, VALUES
from .broken_references import REFERENCES
from .resources import patient

CASES = VALUES | REFERENCES


@pytest.mark.parametrize("name", CASES)
def test_broken_resource_is_refused_with_one_issue_at_its_element(name):
    resource, expression, code = CASES[name]

    issues = validate(resource)

    assert [(issue.expression, issue.code, issue.severity) for issue in issues] == [(expression, code, "error")]
    assert issues[0].diagnostics.endswith(".")


def test_each_of_several_faults_has_its_issue():
    resource = patient(gender="x", active="yes", name=[{"given": [1, "a", 2]}], contact=[{"gender": "male"}], foo=1)

    assert sorted(issue.expression for issue in validate(resource)) == [
        "Patient.active",
        "Patient.contact[0]",
        "Patient.foo",
        "Patient.gender",
        "Patient.name[0].given[0]",
        "Patient.name[0].given[2]",
    ]


def test_issues_of_a_resource_are_bounded():
    assert len(validate(patient(name=[{"given": [1] * 10_000}]))) == 100


def test_resource_nested_without_measure_is_refused():
    inner = {"url": URL, "valueString": "a"}
    for _ in range(300):
        inner = {"url": URL, "extension": [inner]}

    issues = validate({"resourceType": "Patient", "extension": [inner]})

    assert [(issue.expression, issue.code) for issue in issues] == [("Patient.extension", "structure")]


def test_codes_are_told_when_they_are_few():
    assert validate(patient(gender="x"))[0].diagnostics == "The code must be female, male, other or unknown."
    money = patient(extension=[{"url": URL, "valueMoney": {"currency": "EURO"}}])
    assert validate(money)[0].diagnostics == "The code is not in the value set that this element requires."
