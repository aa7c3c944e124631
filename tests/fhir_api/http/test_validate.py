"""`$validate` on the system, a type and an instance, with the resource bare or in Parameters."""

import pytest

from tests.fhir_api.clients import Fhir, code_of, patient, prescriber


@pytest.fixture(scope="module")
def client():
    return prescriber()


def parameters(resource, **more):
    parts = [{"name": "resource", "resource": resource}, *({"name": name, **value} for name, value in more.items())]
    return {"resourceType": "Parameters", "parameter": parts}


@pytest.mark.parametrize("path", ["/$validate", "/Patient/$validate", "/Patient/p-1/$validate"])
@pytest.mark.parametrize("wrap", [lambda one: one, parameters])
def test_valid_resource_is_said_to_be_so_and_not_kept(client, path, wrap):
    answer = client.post(path, wrap(patient(id="p-1")))
    assert answer.status_code == 200, answer.content
    assert [issue["severity"] for issue in answer.json()["issue"]] == ["information"]
    assert client.get("/Patient/p-1").status_code == 404


@pytest.mark.parametrize("wrap", [lambda one: one, parameters])
@pytest.mark.parametrize(("name", "value"), [("gender", "mann"), ("birthDate", "2023-02-30")])
def test_broken_rule_is_told_by_the_path_of_the_resource(client, wrap, name, value):
    answer = client.post("/Patient/$validate", wrap(patient(**{name: value})))
    assert answer.status_code == 200
    (issue,) = answer.json()["issue"]
    assert (issue["severity"], issue["expression"]) == ("error", [f"Patient.{name}"])


def test_other_id_than_the_urls_is_an_issue(client):
    answer = client.post("/Patient/p-1/$validate", patient(id="p-2"))
    assert (answer.status_code, answer.json()["issue"][0]["expression"]) == (200, ["Patient.id"])


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/Patient/$validate", {"resourceType": "Location"}, 400, "wrong_resource_type"),
        ("/$validate", {"resourceType": "Device"}, 404, "unknown_resource_type"),
        ("/$validate", {"resourceType": "Parameters"}, 400, "invalid_parameters"),
        ("/$validate", {"resourceType": "Parameters", "parameter": [{"name": "mode"}]}, 400, "invalid_parameters"),
        ("/$validate", parameters(patient(), mode={"valueCode": "guess"}), 400, "invalid_parameters"),
        ("/$validate", b"{", 400, None),
    ],
)
def test_question_that_cannot_be_read_is_refused(client, path, body, status, code):
    answer = client.post(path, body)
    assert answer.status_code == status, answer.content
    assert code is None or code_of(answer) == code


def test_it_takes_a_member_who_may_read(client):
    assert Fhir("", client.tenant).post("/Patient/$validate", patient()).status_code == 401
    assert client.get("/Patient/$validate").status_code == 405


def test_capability_statement_names_the_operation(client):
    (rest,) = client.get("/metadata").json()["rest"]
    assert "validate" in [operation["name"] for operation in rest["operation"]]
