"""Points 22 to 25: conditional create, update, patch and delete, and references between resources."""

import pytest

from core.ids import uuid7_text
from tests import factories
from tests.fhir_api.clients import code_of, identified, issue_type, observation, patient, prescriber


@pytest.fixture(scope="module")
def doctor():
    return prescriber()


@pytest.fixture
def value():
    return uuid7_text()


def criteria(value):
    return f"identifier=urn:mrn|{value}"


def twins(doctor, value):
    return [doctor.made(identified(value))["id"] for _ in range(2)]


def test_point_22_conditional_create_creates_finds_and_refuses(doctor, value):
    first = doctor.post("/Patient", identified(value), If_None_Exist=criteria(value))
    assert first.status_code == 201
    again = doctor.post("/Patient", identified(value, gender="male"), If_None_Exist=criteria(value))
    assert (again.status_code, again.content) == (200, first.content)
    assert {name: again.headers[name] for name in ("Location", "ETag", "Last-Modified")} == {
        name: first.headers[name] for name in ("Location", "ETag", "Last-Modified")
    }
    doctor.made(identified(value))
    many = doctor.post("/Patient", identified(value), If_None_Exist=criteria(value))
    assert (many.status_code, code_of(many), issue_type(many)) == (412, "multiple_matches", "multiple-matches")


def test_point_22_empty_if_none_exist_is_a_plain_create(doctor, value):
    for _ in range(2):
        assert doctor.post("/Patient", identified(value), If_None_Exist="").status_code == 201


def test_point_22_criteria_are_strict(doctor, value):
    for wrong in ("colour=red", "identifier:fuzzy=1", "birthdate=tomorrow", "_sort=name"):
        answer = doctor.post("/Patient", identified(value), If_None_Exist=wrong)
        assert answer.status_code == 400, (wrong, answer.content)


def test_criteria_of_a_create_may_name_their_type_and_no_other(doctor, value):
    made = doctor.made(identified(f"{value}?b"))
    for named in ("Patient?", "/Patient?", "?", ""):
        answer = doctor.post("/Patient", identified(value), If_None_Exist=f"{named}{criteria(value)}?b")
        assert (answer.status_code, answer.json()["id"]) == (200, made["id"])
    answer = doctor.post("/Patient", identified(value), If_None_Exist=f"Observation?{criteria(value)}")
    assert (answer.status_code, code_of(answer)) == (400, "invalid_search")


def test_point_22_criteria_may_say_what_the_answer_shall_be(doctor, value, settings):
    made = doctor.made(identified(value))
    for query in ("_format=json&", "_pretty=true&_summary=false&", "_elements=id&"):
        for named in ("", "?", "Patient?", f"{settings.FHIR_BASE_URL}/Patient?"):
            answer = doctor.post("/Patient", identified(value), If_None_Exist=f"{named}{query}{criteria(value)}")
            assert (answer.status_code, answer.json().get("id")) == (200, made["id"]), answer.content
    entry = {"resource": identified(value), "request": {"method": "POST", "url": "Patient"}}
    entry["request"]["ifNoneExist"] = f"_format=json&{criteria(value)}"
    done = doctor.post("", {"resourceType": "Bundle", "type": "transaction", "entry": [entry]})
    assert done.json()["entry"][0]["response"]["status"].startswith("200")
    for query in ("_format=json", "Patient?_pretty=true"):
        refused = doctor.post("/Patient", identified(value), If_None_Exist=query)
        assert (refused.status_code, code_of(refused)) == (400, "invalid_search")


@pytest.mark.parametrize(
    "address", ["http://elsewhere.org/fhir/Patient", "http://elsewhere.org/fhir/R4/Patient", "x/Patient"]
)
def test_criteria_of_another_server_are_refused(doctor, value, address):
    made = doctor.made(identified(value))
    answer = doctor.post("/Patient", identified(value), If_None_Exist=f"{address}?{criteria(value)}")
    assert (answer.status_code, code_of(answer)) == (400, "invalid_search")
    found = doctor.get(f"/Patient?{criteria(value)}").json()["entry"]
    assert [one["resource"]["id"] for one in found] == [made["id"]]


def test_point_22_deleted_resource_does_not_match(doctor, value):
    made = doctor.made(identified(value))
    doctor.delete(f"/Patient/{made['id']}")
    assert doctor.post("/Patient", identified(value), If_None_Exist=criteria(value)).status_code == 201


def test_point_23_no_match_and_no_id_creates(doctor, value):
    answer = doctor.put(f"/Patient?{criteria(value)}", identified(value))
    assert (answer.status_code, answer.headers["ETag"]) == (201, 'W/"1"')
    assert answer.headers["Location"].endswith(f"/Patient/{answer.json()['id']}/_history/1")


def test_point_23_no_match_and_an_id_is_update_as_create(doctor, value):
    fhir_id = uuid7_text()
    answer = doctor.put(f"/Patient?{criteria(value)}", identified(value, id=fhir_id))
    assert (answer.status_code, answer.json()["id"]) == (201, fhir_id)


def test_point_23_no_match_and_the_id_of_another_is_409(doctor, value):
    other = doctor.made(patient())
    answer = doctor.put(f"/Patient?{criteria(value)}", identified(value, id=other["id"]))
    assert (answer.status_code, code_of(answer)) == (409, "id_taken")
    assert doctor.get(f"/Patient/{other['id']}").json() == other


def test_point_23_one_match_updates_and_another_id_is_400(doctor, value):
    made = doctor.made(identified(value))
    answer = doctor.put(f"/Patient?{criteria(value)}", identified(value, gender="male"))
    assert (answer.status_code, answer.json()["id"], answer.headers["ETag"]) == (200, made["id"], 'W/"2"')
    same = doctor.put(f"/Patient?{criteria(value)}", identified(value, gender="male", id=made["id"]))
    assert (same.status_code, same.headers["ETag"]) == (200, 'W/"2"')
    other = doctor.put(f"/Patient?{criteria(value)}", identified(value, id="other"))
    assert (other.status_code, code_of(other)) == (400, "id_mismatch")
    stale = doctor.put(f"/Patient?{criteria(value)}", identified(value), If_Match='W/"1"')
    assert stale.status_code == 412


def test_point_23_several_matches_are_412_for_every_method(doctor, value):
    ids = twins(doctor, value)
    path = f"/Patient?{criteria(value)}"
    for answer in (
        doctor.put(path, identified(value)),
        doctor.patch(path, [{"op": "replace", "path": "/gender", "value": "male"}]),
        doctor.delete(path),
    ):
        assert (answer.status_code, code_of(answer)) == (412, "multiple_matches")
    assert [doctor.get(f"/Patient/{fhir_id}").headers["ETag"] for fhir_id in ids] == ['W/"1"', 'W/"1"']


def test_point_23_conditional_patch_changes_one_and_without_match_is_404(doctor, value):
    change = [{"op": "replace", "path": "/gender", "value": "male"}]
    absent = doctor.patch(f"/Patient?{criteria(value)}", change)
    assert (absent.status_code, code_of(absent)) == (404, "no_match")
    made = doctor.made(identified(value))
    answer = doctor.patch(f"/Patient?{criteria(value)}", change)
    assert (answer.status_code, answer.json()["id"], answer.json()["gender"]) == (200, made["id"], "male")
    brief = doctor.put(f"/Patient?{criteria(value)}", identified(value), Prefer="return=minimal")
    assert (brief.status_code, brief.content) == (200, b"")
    assert brief.headers["Location"].endswith(f"/Patient/{made['id']}/_history/3")


def test_point_24_conditional_delete_of_none_and_one_is_204(doctor, value):
    path = f"/Patient?{criteria(value)}"
    assert doctor.delete(path).status_code == 204
    made = doctor.made(identified(value))
    assert doctor.delete(path).status_code == 204
    assert doctor.get(f"/Patient/{made['id']}").status_code == 410


def test_criteria_are_required_where_the_url_names_nobody(doctor):
    for method, body in (("PUT", patient()), ("DELETE", None)):
        for query in ("", "?_format=json", "?identifier="):
            answer = doctor.call(method, f"/Patient{query}", body)
            assert (answer.status_code, code_of(answer)) == (400, "criteria_required")


def test_other_tenants_resources_do_not_match(doctor, value):
    doctor.made(identified(value))
    stranger = prescriber()
    assert stranger.delete(f"/Patient?{criteria(value)}").status_code == 204
    assert stranger.post("/Patient", identified(value), If_None_Exist=criteria(value)).status_code == 201
    assert doctor.post("/Patient", identified(value), If_None_Exist=criteria(value)).status_code == 200


# -- references ---------------------------------------------------------------------------------------------------------


def test_reference_to_nothing_is_422_and_names_the_place(doctor):
    answer = doctor.post("/Observation", observation(f"Patient/{uuid7_text()}"))
    assert (answer.status_code, code_of(answer)) == (422, "reference_not_found")
    assert answer.json()["issue"][0]["expression"] == ["Observation.subject.reference"]


def test_reference_to_deleted_or_foreign_is_422(doctor):
    gone, foreign = doctor.made(patient()), prescriber().made(patient())
    doctor.delete(f"/Patient/{gone['id']}")
    for target in (gone, foreign):
        answer = doctor.post("/Observation", observation(f"Patient/{target['id']}"))
        assert (answer.status_code, code_of(answer)) == (422, "reference_not_found")


@pytest.mark.parametrize(("version", "status"), [("1", 201), ("2", 201), ("3", 422), ("0", 422), ("x", 422)])
def test_reference_to_a_version_that_is_not_there_is_422(doctor, version, status):
    made = doctor.made(patient())
    doctor.put(f"/Patient/{made['id']}", {**made, "active": True})
    answer = doctor.post("/Observation", observation(f"Patient/{made['id']}/_history/{version}"))
    assert answer.status_code == status, answer.content
    if status == 422:
        assert code_of(answer) == "reference_not_found"
        assert answer.json()["issue"][0]["expression"] == ["Observation.subject.reference"]


def test_absolute_reference_to_this_server_is_checked_and_others_are_not(doctor, settings):
    here = f"{settings.FHIR_BASE_URL}/Patient/{uuid7_text()}"
    assert doctor.post("/Observation", observation(here)).status_code == 422
    assert doctor.post("/Observation", observation("https://elsewhere.example/fhir/Patient/1")).status_code == 201


def test_point_25_delete_of_the_referenced_is_409_until_the_reference_is_gone(doctor):
    made = doctor.made(patient())
    seen = doctor.made(observation(f"Patient/{made['id']}"))
    answer = doctor.delete(f"/Patient/{made['id']}")
    assert (answer.status_code, code_of(answer), issue_type(answer)) == (409, "still_referenced", "conflict")
    assert doctor.get(f"/Patient/{made['id']}").headers["ETag"] == 'W/"1"'
    assert doctor.delete(f"/Observation/{seen['id']}").status_code == 204
    assert doctor.delete(f"/Patient/{made['id']}").status_code == 204


def test_reference_to_oneself_neither_fails_nor_blocks(doctor):
    fhir_id = uuid7_text()
    own = patient(id=fhir_id, link=[{"other": {"reference": f"Patient/{fhir_id}"}, "type": "seealso"}])
    assert doctor.put(f"/Patient/{fhir_id}", own).status_code == 201
    assert doctor.delete(f"/Patient/{fhir_id}").status_code == 204


def test_policy_none_lets_references_lead_nowhere():
    tenant = factories.provision("provider")
    changed = factories.as_member(tenant).patch(
        f"/v1/tenants/{tenant.id}/configuration", json={"policies": {"fhir_reference_integrity": "none"}}
    )
    assert changed.status_code == 200, changed.content
    doctor = prescriber(tenant)
    assert doctor.post("/Observation", observation("Patient/nobody")).status_code == 201
    made = doctor.made(patient())
    doctor.made(observation(f"Patient/{made['id']}"))
    assert doctor.delete(f"/Patient/{made['id']}").status_code == 204


def test_criteria_of_a_create_may_stand_in_the_query(doctor):
    body = identified()
    criteria = f"identifier=urn:mrn|{body['identifier'][0]['value']}"
    first = doctor.post(f"/Patient?{criteria}", body)
    again = doctor.post(f"/Patient?{criteria}&_format=json", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]


def test_patch_under_the_plain_name_of_json_is_told_by_its_form(doctor):
    made = doctor.made(patient())
    path, media = f"/Patient/{made['id']}", "application/json"
    assert doctor.patch(path, {"gender": "other"}, media=media).json()["gender"] == "other"
    operations = [{"op": "replace", "path": "/gender", "value": "male"}]
    assert doctor.patch(path, operations, media=media).json()["gender"] == "male"
    parts = [
        {"name": "type", "valueCode": "replace"},
        {"name": "path", "valueString": "Patient.gender"},
        {"name": "value", "valueCode": "female"},
    ]
    parameters = {"resourceType": "Parameters", "parameter": [{"name": "operation", "part": parts}]}
    assert doctor.patch(path, parameters, media=media).json()["gender"] == "female"
