"""Every way to read patients' data over HTTP leaves exactly one record that says what was really answered."""

import json

import pytest

from tests.factories import bearer, member
from tests.fhir_api.clients import Fhir, code_of, identified, observation, patient, prescriber
from tests.fhir_api.noted import brief, noted
from tests.fhir_api.refusing import no_access_records

REASON = "Unconscious after an accident"


@pytest.fixture(scope="module")
def client():
    return prescriber()


def test_read_names_the_patient_whose_data_it_is(client):
    person = client.made(patient())["id"]
    seen = client.made(observation(f"Patient/{person}"))["id"]
    answer, (row,) = noted(client, lambda: client.get(f"/Observation/{seen}", X_Request_Id="request-77"))
    assert answer.status_code == 200
    assert brief(row) == ("read", "Observation", seen, [person], 1, 200)
    assert (row.request_id, row.subject_kind, row.reason) == ("request-77", "user", "")
    assert row.membership_id is not None


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_patient_is_his_own(client, method):
    person = client.made(patient())["id"]
    _, (row,) = noted(client, lambda: client.call(method, f"/Patient/{person}"))
    assert brief(row) == ("read", "Patient", person, [person], 1, 200)


def test_absent_and_deleted_are_noted_with_their_end(client):
    person = client.made(patient())["id"]
    client.delete(f"/Patient/{person}")
    answer, (row,) = noted(client, lambda: client.get(f"/Patient/{person}"))
    assert (answer.status_code, row.outcome, row.count) == (410, 410, 0)
    answer, (row,) = noted(client, lambda: client.get("/Patient/nobody"))
    assert (answer.status_code, brief(row)) == (404, ("read", "Patient", "nobody", [], 0, 404))


def test_vread_names_the_patient_of_that_version(client):
    first, second = (client.made(patient())["id"] for _ in range(2))
    seen = client.made(observation(f"Patient/{first}"))
    client.put(f"/Observation/{seen['id']}", {**seen, "subject": {"reference": f"Patient/{second}"}})
    _, (row,) = noted(client, lambda: client.get(f"/Observation/{seen['id']}/_history/1"))
    assert brief(row) == ("vread", "Observation", seen["id"], [first], 1, 200)


def test_histories_name_all_patients_and_parameters_without_values(client):
    first, second = (client.made(patient())["id"] for _ in range(2))
    seen = client.made(observation(f"Patient/{first}"))
    client.put(f"/Observation/{seen['id']}", {**seen, "subject": {"reference": f"Patient/{second}"}})
    _, (row,) = noted(client, lambda: client.get(f"/Observation/{seen['id']}/_history?_count=10"))
    assert brief(row) == ("history", "Observation", seen["id"], sorted([first, second]), 2, 200)
    assert row.parameters == ["_count"]
    _, (row,) = noted(client, lambda: client.get("/_history?_count=2"))
    assert (row.interaction, row.resource_type, row.count) == ("history", "", 2)
    answer, (row,) = noted(client, lambda: client.get("/Patient/nobody/_history"))
    assert (answer.status_code, row.outcome) == (404, 404)


def test_places_and_staff_are_no_patients_data(client):
    place = client.made({"resourceType": "Location", "name": "Ward"})["id"]
    answer, rows = noted(client, lambda: client.get(f"/Location/{place}"))
    assert (answer.status_code, rows) == (200, [])
    assert noted(client, lambda: client.get("/metadata"))[1] == []


def test_conditional_create_that_matches_is_a_read(client):
    given = identified()
    person = client.made(given)["id"]
    criteria = "identifier=" + given["identifier"][0]["value"]
    answer, (row,) = noted(client, lambda: client.post("/Patient", given, If_None_Exist=criteria))
    assert (answer.status_code, answer.json()["id"]) == (200, person)
    assert brief(row) == ("read", "Patient", person, [person], 1, 200)


def test_creating_and_changing_are_told_by_the_ledger_alone(client):
    answer, rows = noted(client, lambda: client.post("/Patient", patient()))
    assert (answer.status_code, rows) == (201, [])


def test_emergency_is_marked_and_grants_nothing(client):
    person = client.made(patient())["id"]
    reason = "Unconscious after an accident"
    _, (row,) = noted(client, lambda: client.get(f"/Patient/{person}", X_Break_Glass_Reason=reason))
    assert row.reason == reason
    somebody, _ = member(client.tenant, ["buyer"])
    stranger = Fhir(bearer(somebody), client.tenant)
    answer, rows = noted(client, lambda: stranger.get(f"/Patient/{person}", X_Break_Glass_Reason=reason))
    assert (answer.status_code, rows) == (403, [])


def test_malformed_reason_is_refused_before_anything_is_shown(client):
    person = client.made(patient())["id"]
    answer, rows = noted(client, lambda: client.get(f"/Patient/{person}", X_Break_Glass_Reason="short"))
    assert (answer.status_code, code_of(answer), rows) == (400, "invalid_break_glass_reason", [])
    assert b"Muster" not in answer.content


def test_refused_reader_leaves_no_record_of_a_read(client):
    person = client.made(patient())["id"]
    stranger = prescriber()
    for foreign in (
        Fhir("", client.tenant),
        Fhir(stranger.headers["Authorization"].removeprefix("Bearer "), client.tenant),
    ):
        answer, rows = noted(client, lambda one=foreign: one.get(f"/Patient/{person}"))
        assert answer.status_code in (401, 403)
        assert rows == []


def test_no_record_no_answer(client):
    person = client.made(patient())["id"]
    with no_access_records():
        answer = client.get(f"/Patient/{person}")
    assert (answer.status_code, code_of(answer)) == (503, "unavailable")
    assert b"Muster" not in answer.content
    assert client.get(f"/Patient/{person}").status_code == 200


def test_record_holds_no_value_of_the_resource(client):
    person = client.made(patient())["id"]
    _, (row,) = noted(client, lambda: client.get(f"/Patient/{person}?_pretty=true"))
    text = json.dumps({name: str(value) for name, value in vars(row).items()})
    assert "Muster" not in text
    assert "Eva" not in text


@pytest.mark.parametrize("ask", ["get", "post"])
def test_search_names_all_patients_and_parameters_without_values(client, ask):
    first, second = (client.made(patient())["id"] for _ in range(2))
    for person in (first, first, second):
        client.made(observation(f"Patient/{person}"))
    query = f"subject=Patient/{first},Patient/{second}&code=2160-0&_include=Observation:subject&_count=10"

    def search():
        if ask == "get":
            return client.get(f"/Observation?{query}")
        return client.post("/Observation/_search", query.encode(), media="application/x-www-form-urlencoded")

    answer, (row,) = noted(client, search)
    assert len(answer.json()["entry"]) == 5
    assert brief(row) == ("search", "Observation", "", sorted([first, second]), 5, 200)
    assert row.parameters == ["_count", "_include", "code", "subject"]


def test_each_page_of_a_search_is_a_read_of_its_own(client):
    person = client.made(patient())["id"]
    for _ in range(3):
        client.made(observation(f"Patient/{person}"))
    answer, (row,) = noted(client, lambda: client.get(f"/Observation?patient={person}&_count=2"))
    assert row.count == 2
    (following,) = (link["url"] for link in answer.json()["link"] if link["relation"] == "next")
    _, (row,) = noted(client, lambda: client.get(following.split("/fhir/R4", 1)[1]))
    assert (row.count, row.patients) == (1, [person])
    assert person not in "".join(row.parameters)


def test_search_that_finds_nobody_or_only_counts_is_noted(client):
    answer, (row,) = noted(client, lambda: client.get("/Patient?identifier=nobody-has-this"))
    assert (answer.json().get("entry", []), brief(row)) == ([], ("search", "Patient", "", [], 0, 200))
    _, (row,) = noted(client, lambda: client.get("/Condition?_summary=count"))
    assert (row.count, row.parameters) == (0, ["_summary"])


def test_included_patients_of_a_search_for_places_are_noted(client):
    place = client.made({"resourceType": "Location", "name": "Ward"})["id"]
    assert noted(client, lambda: client.get("/Location?name=ward"))[1] == []
    person = client.made(patient())["id"]
    visit = {
        "resourceType": "Encounter",
        "status": "finished",
        "class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "AMB"},
        "subject": {"reference": f"Patient/{person}"},
        "location": [{"location": {"reference": f"Location/{place}"}}],
    }
    client.made(visit)
    _, (row,) = noted(client, lambda: client.get(f"/Location?_id={place}&_revinclude=Encounter:location"))
    assert brief(row) == ("search", "Location", "", [person], 2, 200)


def test_unknown_names_in_a_search_are_not_kept(client):
    _, (row,) = noted(client, lambda: client.get("/Patient?Muster-Eva-1980=1&gender=female&_count=1"))
    assert "Muster-Eva-1980" not in row.parameters
    assert "gender" in row.parameters


def test_reads_in_a_batch_are_noted_one_by_one(client):
    person = client.made(patient())["id"]
    seen = client.made(observation(f"Patient/{person}"))["id"]
    entries = [{"request": {"method": "GET", "url": url}} for url in (f"Patient/{person}", f"Observation/{seen}")]
    batch = {"resourceType": "Bundle", "type": "batch", "entry": entries}
    answer, rows = noted(client, lambda: client.post("", batch))
    assert answer.status_code == 200
    assert sorted(brief(row) for row in rows) == [
        ("read", "Observation", seen, [person], 1, 200),
        ("read", "Patient", person, [person], 1, 200),
    ]


def test_answer_that_has_not_changed_is_noted_as_that(client):
    person = client.made(patient())["id"]
    answer, (row,) = noted(client, lambda: client.get(f"/Patient/{person}", If_None_Match='W/"1"'))
    assert (answer.status_code, row.outcome, row.count) == (304, 304, 1)


def test_question_about_patients_asked_through_another_type_is_noted(client):
    asked = "_has:Patient:general-practitioner:family"
    answer, (row,) = noted(client, lambda: client.get(f"/Practitioner?{asked}=Muster&_summary=count"))
    assert (answer.json()["total"], row.resource_type, row.parameters) == (0, "Practitioner", [asked, "_summary"])
    assert noted(client, lambda: client.get("/Practitioner?family=Muster"))[1] == []


def test_criteria_that_match_are_noted_alike_alone_and_in_a_bundle(client):
    given = identified()
    person = client.made(given)["id"]
    criteria = "identifier=" + given["identifier"][0]["value"]
    _, (row,) = noted(client, lambda: client.put(f"/Patient?{criteria}", given, Prefer="return=minimal"))
    assert brief(row) == ("read", "Patient", person, [person], 1, 200)
    request = {"method": "POST", "url": "Patient", "ifNoneExist": criteria}
    bundle = {"resourceType": "Bundle", "type": "transaction", "entry": [{"request": request, "resource": given}]}
    answer, (row,) = noted(client, lambda: client.post("", bundle))
    assert answer.json()["entry"][0]["response"]["status"] == "200 OK"
    assert (brief(row), row.parameters) == (("read", "Patient", person, [person], 1, 200), ["identifier"])


def reads_of(person):
    asked = [f"Patient/{person}", f"Observation?patient={person}", "Practitioner"]
    entries = [{"request": {"method": "GET", "url": url}} for url in asked]
    return {"resourceType": "Bundle", "type": "batch", "entry": entries}


def test_replay_is_a_read_again(client):
    person = client.made(patient())["id"]
    first, rows = noted(client, lambda: client.post("", reads_of(person), Idempotency_Key=f"again-{person}"))
    again, more = noted(
        client,
        lambda: client.post("", reads_of(person), Idempotency_Key=f"again-{person}", X_Break_Glass_Reason=REASON),
    )
    assert (again.content, again.headers["Idempotency-Replayed"]) == (first.content, "true")
    assert [brief(row) for row in more] == [brief(row) for row in rows]
    assert [row.reason for row in more] == [REASON, REASON]
    with no_access_records():
        answer = client.post("", reads_of(person), Idempotency_Key=f"again-{person}")
    assert (answer.status_code, code_of(answer)) == (503, "unavailable")


@pytest.mark.parametrize("narrower", ["healthcare.write", "user/*.cud", "user/Observation.rs healthcare.write"])
def test_replay_takes_the_rights_that_the_reads_took(client, narrower):
    given = identified()
    person = client.made(given)["id"]
    somebody, _ = member(client.tenant, ["prescriber"])
    whole, less = (Fhir(bearer(somebody, scopes=scopes), client.tenant) for scopes in (None, narrower))
    bundle, key = reads_of(person), f"rights-{person}"
    assert whole.post("", bundle, Idempotency_Key=key).status_code == 200
    answer, rows = noted(client, lambda: less.post("", bundle, Idempotency_Key=key))
    assert (answer.status_code, code_of(answer), rows) == (422, "idempotency_key_reused", [])
    assert b"Muster" not in answer.content


def test_who_may_not_read_is_not_told_who_refers(client):
    person = client.made(patient())["id"]
    seen = client.made(observation(f"Patient/{person}"))["id"]
    somebody, _ = member(client.tenant, ["prescriber"])
    whole, less = (Fhir(bearer(somebody, scopes=scopes), client.tenant) for scopes in (None, "healthcare.write"))
    for api, named in ((whole, True), (less, False)):
        answer = api.delete(f"/Patient/{person}")
        assert (answer.status_code, code_of(answer)) == (409, "still_referenced")
        assert (seen.encode() in answer.content) is named


@pytest.mark.parametrize("kind", ["batch", "transaction"])
def test_conditional_reference_to_a_patient_asks_for_him(client, kind):
    given = identified()
    person = client.made(given)["id"]
    asked = observation(f"Patient?identifier={given['identifier'][0]['value']}")
    entries = [{"request": {"method": "POST", "url": "Observation"}, "resource": asked}] * 2
    bundle = {"resourceType": "Bundle", "type": kind, "entry": entries}
    answer, rows = noted(client, lambda: client.post("", bundle))
    assert [entry["response"]["status"][:3] for entry in answer.json()["entry"]] == ["201", "201"]
    assert all(brief(row) == ("search", "Patient", "", [person], 1, 200) for row in rows)
    assert [row.parameters for row in rows] == [["identifier"]] * (2 if kind == "batch" else 1)
