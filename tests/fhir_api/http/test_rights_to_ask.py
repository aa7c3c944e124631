"""Who may only write learns nothing of the record: criteria and tests need the rights to find and to read."""

import pytest

from tests import factories
from tests.fhir_api.clients import Fhir, code_of, identified, observation, patient, prescriber
from tests.fhir_api.one_patient import Clinic

JSON_PATCH = "application/json-patch+json"
CHANGE = [{"op": "add", "path": "/active", "value": True}]


@pytest.fixture
def doctor():
    return prescriber()


def narrowed(doctor, scopes):
    person, _ = factories.member(doctor.tenant, ["prescriber"])
    return Fhir(factories.bearer(person, scopes=scopes), doctor.tenant)


def conditional(api, criteria):
    """Every interaction by criteria, alone and as an entry."""
    yield api.post("/Patient", patient(), If_None_Exist=criteria)
    yield api.put(f"/Patient?{criteria}", patient())
    yield api.patch(f"/Patient?{criteria}", CHANGE)
    yield api.delete(f"/Patient?{criteria}")
    create = {"request": {"method": "POST", "url": "Patient", "ifNoneExist": criteria}, "resource": patient()}
    refer = {
        "request": {"method": "POST", "url": "Observation"},
        "resource": observation(f"Patient?{criteria}"),
    }
    for entry in (create, refer):
        yield api.post("", {"resourceType": "Bundle", "type": "transaction", "entry": [entry]})


@pytest.mark.parametrize("scopes", ["healthcare.write", "user/*.cud", "user/*.cuds", "user/*.crud"])
def test_criteria_tell_nothing_to_who_may_not_find_and_read(doctor, scopes):
    given = identified()
    made = doctor.made(given)
    api = narrowed(doctor, scopes)
    value = given["identifier"][0]["value"]
    told = [
        [(answer.status_code, code_of(answer)) for answer in conditional(api, f"identifier=urn:mrn|{one}")]
        for one in (value, "nobody")
    ]
    assert told == [[(403, "insufficient_scope")] * 6] * 2
    assert doctor.get(f"/Patient/{made['id']}/_history").json()["total"] == 1


def test_criteria_are_answered_to_who_may_find_and_read(doctor):
    api = narrowed(doctor, "user/*.cruds")
    statuses = [answer.status_code for answer in conditional(api, f"identifier=urn:mrn|{factories.suffix()}")]
    assert statuses == [201, 201, 404, 204, 200, 412]


def where(value):
    """A FHIRPath Patch whose path has a condition."""
    parts = [
        {"name": "type", "valueCode": "replace"},
        {"name": "path", "valueString": f"Patient.name.where(family = '{value}').family"},
        {"name": "value", "valueString": "Other"},
    ]
    return {"resourceType": "Parameters", "parameter": [{"name": "operation", "part": parts}]}


@pytest.mark.parametrize("scopes", ["healthcare.write", "user/Patient.cud", "user/Patient.cuds"])
def test_test_of_a_patch_tells_nothing_to_who_may_not_read(doctor, scopes):
    made = doctor.made(patient())
    api, path = narrowed(doctor, scopes), f"/Patient/{made['id']}"
    for value in ("Muster", "Other"):
        test = {"op": "test", "path": "/name/0/family", "value": value}
        for answer in (api.patch(path, [test, *CHANGE]), api.patch(path, where(value), media="application/fhir+json")):
            assert (answer.status_code, code_of(answer)) == (403, "insufficient_scope")
    assert doctor.get(path).headers["ETag"] == 'W/"1"'
    assert api.patch(path, CHANGE).status_code == 200


def test_test_of_a_patch_is_carried_out_for_who_may_read(doctor):
    made = doctor.made(patient())
    api, path = narrowed(doctor, "user/Patient.ru"), f"/Patient/{made['id']}"
    test = {"op": "test", "path": "/name/0/family", "value": "Muster"}
    assert api.patch(path, [test, *CHANGE]).status_code == 200
    assert api.patch(path, where("Muster"), media="application/fhir+json").status_code == 200


@pytest.mark.parametrize("narrower", ["healthcare.write", "user/Patient.u", "user/Observation.cruds"])
@pytest.mark.parametrize("method", ["PATCH", "PUT", "POST"])
def test_replay_shows_a_narrower_token_nothing(doctor, narrower, method):
    """The same person's token that may not read gets no body, whichever write made it."""
    made = doctor.made(patient())
    person, _ = factories.member(doctor.tenant, ["prescriber"])
    whole, less = (Fhir(factories.bearer(person, scopes=scopes), doctor.tenant) for scopes in (None, narrower))
    path = "/Patient" if method == "POST" else f"/Patient/{made['id']}"
    body = CHANGE if method == "PATCH" else {**made, "active": True}
    media = JSON_PATCH if method == "PATCH" else "application/fhir+json"
    key = factories.suffix()
    assert b"Muster" in whole.call(method, path, body, media=media, Idempotency_Key=key).content
    answer = less.call(method, path, body, media=media, Idempotency_Key=key)
    assert (answer.status_code, code_of(answer)) == (422, "idempotency_key_reused")
    assert b"Muster" not in answer.content
    again = whole.call(method, path, body, media=media, Idempotency_Key=key)
    assert again.headers["Idempotency-Replayed"] == "true"


def test_replay_without_a_body_is_answered(doctor):
    made = doctor.made(patient())
    person, _ = factories.member(doctor.tenant, ["prescriber"])
    whole, less = (
        Fhir(factories.bearer(person, scopes=scopes), doctor.tenant) for scopes in (None, "healthcare.write")
    )
    sent = {"Idempotency_Key": factories.suffix(), "Prefer": "return=minimal"}
    for api in (whole, less):
        assert (api.patch(f"/Patient/{made['id']}", CHANGE, **sent).status_code) == 200


def test_deletion_is_refused_in_the_same_words_whoever_refers():
    clinic = Clinic()
    words = []
    for whose in (clinic.ours, clinic.theirs):
        mine = clinic.doctor.made(clinic.seen(clinic.ours, "mine"))
        clinic.doctor.made(clinic.seen(whose, "x", hasMember=[{"reference": f"Observation/{mine['id']}"}]))
        answer = clinic.api.delete(f"/Observation/{mine['id']}")
        (issue,) = answer.json()["issue"]
        assert (answer.status_code, code_of(answer)) == (409, "still_referenced")
        words.append(issue)
    assert words[0] == words[1]
