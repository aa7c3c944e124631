"""Broken official examples of the further types over HTTP: 422 with the element, and nothing is kept."""

from itertools import groupby

import pytest

from fhir_api.resources import written
from tests.fhir_api.clients import prescriber
from tests.fhir_api.validation.breaking import WAYS, cases

REQUEST = {"resourceType": "MedicationRequest", "status": "active", "intent": "order", "subject": {"display": "Eva"}}


@pytest.fixture(scope="module")
def client():
    return prescriber()


def told(answer):
    return [
        (one["expression"][0], one["code"], one["details"]["coding"][0]["code"] if "details" in one else "")
        for one in answer.json()["issue"]
    ]


def a_few(way):
    """One case of each type and rule."""
    found = sorted(cases(way), key=lambda case: (case.resource["resourceType"], case.rule, case.name))
    return [next(group) for _, group in groupby(found, key=lambda case: (case.resource["resourceType"], case.rule))]


@pytest.mark.parametrize("way", WAYS)
def test_broken_example_is_422_with_its_expression_and_not_kept(client, way):
    for case in a_few(way):
        path = f"/{case.resource['resourceType']}/broken"

        answer = client.put(path, written({**case.resource, "id": "broken"}))

        assert answer.status_code == 422, case.name
        assert (case.expression, case.code) in [found[:2] for found in told(answer)], case.name
        assert client.get(path).status_code == 404


def test_contained_medication_with_an_unknown_element_and_a_code_of_text_is_422(client):
    medication = {"resourceType": "Medication", "id": "m", "code": "aspirin", "foo": 1}
    order = {**REQUEST, "contained": [medication], "medicationReference": {"reference": "#m"}}
    before = client.get("/MedicationRequest?_summary=count").json()["total"]

    answer = client.post("/MedicationRequest", order)

    assert answer.status_code == 422
    assert sorted(found[:2] for found in told(answer)) == [
        ("MedicationRequest.contained[0].code", "structure"),
        ("MedicationRequest.contained[0].foo", "structure"),
    ]
    assert client.get("/MedicationRequest?_summary=count").json()["total"] == before
    medication = {"resourceType": "Medication", "id": "m", "code": {"text": "aspirin"}}
    order["contained"] = [medication]
    assert client.made(order)["contained"] == [medication]
