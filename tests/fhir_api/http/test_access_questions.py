"""Questions about patients leave their record too: those that name one, and those that a refusal answers."""

import base64
import json

import pytest

from tests.fhir_api.clients import FHIR, code_of, identified, observation, patient, prescriber
from tests.fhir_api.noted import brief, noted
from tests.fhir_api.refusing import no_access_records


@pytest.fixture(scope="module")
def client():
    return prescriber()


@pytest.mark.parametrize(
    "query",
    [
        "Observation?patient={0}&code:text=x&_summary=count",
        "Observation?patient={0}&code:text=x",
        "Observation?subject=Patient/{0}&code:text=x",
        "Observation?subject:Patient={0}&code:text=x",
        "Condition?subject=http://testserver/fhir/R4/Patient/{0}&code:text=x",
        "Patient?_id={0}&family=Nobody",
        "Observation?subject:Patient._id={0}&_summary=count",
        "Practitioner?_has:Observation:performer:patient={0}",
        "Location?_has:Encounter:location:subject=Patient/{0}",
        "?_id={0}&_type=Patient&_summary=count",
    ],
)
def test_question_about_a_named_patient_is_noted_under_him(client, query):
    person = client.made(patient())["id"]
    answer, (row,) = noted(client, lambda: client.get(f"/{query.format(person)}"))
    assert answer.status_code == 200, answer.content
    assert (row.patients, row.outcome) == ([person], 200)


@pytest.mark.parametrize(
    "query",
    [
        "patient:missing=true",
        "subject=https://elsewhere.example/fhir/Patient/p-1",
        "subject=Group/p-1",
        "patient:identifier=p-1",
        "performer=Practitioner/p-1",
        "patient.family=p-1",
        "_id=p-1",
    ],
)
def test_question_that_names_no_patient_of_this_server_names_none_in_the_record(client, query):
    answer, (row,) = noted(client, lambda: client.get(f"/Observation?code:text=nothing&{query}"))
    assert (answer.status_code, row.patients) == (200, [])


def test_patients_named_in_a_question_are_noted_up_to_a_number(client):
    names = [",".join(f"p-{start}-{number}" for number in range(400)) for start in range(3)]
    asked = "&".join(f"patient={one}" for one in names)
    form = "application/x-www-form-urlencoded"
    answer, (row,) = noted(client, lambda: client.post("/Observation/_search", asked.encode(), media=form))
    assert (answer.status_code, row.count, len(row.patients)) == (200, 0, 1000)


def failing_patch(value="male"):
    return [{"op": "test", "path": "/status", "value": value}]


def alone(client, method, url, resource, **headers):
    media = "application/json-patch+json" if method == "PATCH" else FHIR
    return client.call(method, f"/{url}", resource, media=media, **headers)


def in_bundle(kind):
    def ask(client, method, url, resource, **headers):
        request = {"method": method, "url": url}
        if criteria := headers.get("If_None_Exist"):
            request["ifNoneExist"] = criteria
        if method == "PATCH":
            resource = {
                "resourceType": "Binary",
                "contentType": "application/json-patch+json",
                "data": base64.b64encode(json.dumps(resource).encode()).decode(),
            }
        entry = {"request": request, "resource": resource}
        return client.post("", {"resourceType": "Bundle", "type": kind, "entry": [entry]})

    return ask


ways = pytest.mark.parametrize(
    "ask", [alone, in_bundle("batch"), in_bundle("transaction")], ids=["alone", "batch", "transaction"]
)


@ways
def test_failed_test_of_a_patch_is_noted(client, ask):
    person = client.made(patient())["id"]
    seen = client.made(observation(f"Patient/{person}"))["id"]
    answer, (row,) = noted(client, lambda: ask(client, "PATCH", f"Observation/{seen}", failing_patch()))
    assert b"patch_test_failed" in answer.content
    assert brief(row) == ("read", "Observation", seen, [person], 0, 422)


@ways
def test_write_by_criteria_that_several_match_is_noted(client, ask):
    given = identified()
    people = sorted(client.made(given)["id"] for _ in range(2))
    criteria = "identifier=" + given["identifier"][0]["value"]
    answer, (row,) = noted(client, lambda: ask(client, "POST", "Patient", given, If_None_Exist=criteria))
    assert b"multiple_matches" in answer.content
    assert (brief(row), row.parameters) == (("search", "Patient", "", people, 0, 412), ["identifier"])


@ways
def test_patch_by_criteria_that_none_match_is_noted(client, ask):
    person = client.made(patient())["id"]
    url = f"Observation?patient={person}&code=none"
    answer, (row,) = noted(client, lambda: ask(client, "PATCH", url, failing_patch()))
    assert b"no_match" in answer.content
    assert brief(row) == ("search", "Observation", "", [person], 0, 404)


@pytest.mark.parametrize("kind", ["batch", "transaction"])
def test_conditional_reference_that_fails_is_noted(client, kind):
    resource = observation("Patient?_id=nobody-there&family=Muster")
    answer, (row,) = noted(client, lambda: in_bundle(kind)(client, "POST", "Observation", resource))
    assert b"conditional_reference_failed" in answer.content
    assert (brief(row), row.parameters) == (("search", "Patient", "", ["nobody-there"], 0, 412), ["_id", "family"])


def test_malformed_patch_tells_nothing_and_is_not_noted(client):
    person = client.made(patient())["id"]
    answer, rows = noted(client, lambda: client.patch(f"/Patient/{person}", [{"op": "dance"}]))
    assert (answer.status_code, rows) == (400, [])


def test_no_record_no_refusal_that_tells(client):
    person = client.made(patient())["id"]
    with no_access_records():
        answer = client.patch(f"/Patient/{person}", [{"op": "test", "path": "/gender", "value": "male"}])
    assert (answer.status_code, code_of(answer)) == (503, "unavailable")
