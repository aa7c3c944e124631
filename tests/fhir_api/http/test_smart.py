"""SMART scopes and roles narrow what of the record a token reaches; they never widen it."""

import pytest

from organizations.oauth import clients as registered
from organizations.oauth import scopes as granted
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, observation, patient, prescriber
from tests.organizations.oauth.clients import application, machine
from tests.organizations.oauth.flows import machine_token


@pytest.fixture(scope="module")
def tenant():
    return factories.provision("provider")


@pytest.fixture(scope="module")
def record(tenant):
    doctor = prescriber(tenant)
    someone = doctor.made(patient())
    return {"Patient": someone, "Observation": doctor.made(observation(f"Patient/{someone['id']}"))}


def with_scopes(tenant, scopes, roles=("prescriber",)):
    person, _ = factories.member(tenant, roles)
    return Fhir(factories.bearer(person, scopes=scopes), tenant)


def asked(api, record, type_name):
    return api.get(f"/{type_name}/{record[type_name]['id']}").status_code


@pytest.mark.parametrize(
    ("scopes", "patients", "observations"),
    [
        ("healthcare.read", 200, 200),
        ("user/*.rs", 200, 200),
        ("user/*.read", 200, 200),
        ("user/*.*", 200, 200),
        ("user/Patient.rs", 200, 403),
        ("user/Patient.r user/Observation.r", 200, 200),
        ("healthcare.read user/Observation.rs", 403, 200),
        ("user/Patient.s", 403, 403),
        ("user/Patient.cud", 403, 403),
        ("user/Observation.rs?category=laboratory", 403, 403),
        ("patient/*.rs", 403, 403),
        ("launch/patient healthcare.read", 403, 403),
        ("openid profile", 403, 403),
        ("user/patient.rs", 403, 403),
    ],
)
def test_scopes_choose_types_and_interactions(tenant, record, scopes, patients, observations):
    api = with_scopes(tenant, scopes)
    assert (asked(api, record, "Patient"), asked(api, record, "Observation")) == (patients, observations)


def test_scopes_never_widen_what_the_role_gives(tenant, record):
    assert asked(with_scopes(tenant, "user/*.cruds", roles=["tenant_admin"]), record, "Patient") == 403
    reader = with_scopes(tenant, "user/*.cruds", roles=["pharmacist"])
    assert asked(reader, record, "Patient") == 200
    assert code_of(reader.post("/Patient", patient())) == "insufficient_scope"


def test_each_letter_stands_for_its_interaction(tenant, record):
    mine = prescriber(tenant).made(patient())
    path = f"/Patient/{mine['id']}"
    creator, updater, deleter = (with_scopes(tenant, f"user/Patient.{letter}") for letter in "cud")
    assert creator.post("/Patient", patient()).status_code == 201
    assert [api.post("/Patient", patient()).status_code for api in (updater, deleter)] == [403, 403]
    changed = {**mine, "gender": "male"}
    assert [api.put(path, changed).status_code for api in (creator, deleter)] == [403, 403]
    assert updater.put(path, changed).status_code == 200
    assert [api.delete(path).status_code for api in (creator, updater)] == [403, 403]
    assert deleter.delete(path).status_code == 204


def test_who_may_not_read_is_shown_nothing_that_others_wrote(tenant):
    doctor, creator, updater = (
        prescriber(tenant),
        with_scopes(tenant, "user/Patient.c"),
        with_scopes(tenant, "user/Patient.u"),
    )
    value = factories.suffix()
    body = patient(identifier=[{"system": "urn:mrn", "value": value}])
    made = doctor.made({**body, "birthDate": "1980-01-02"})
    found = creator.post("/Patient", body, If_None_Exist=f"identifier=urn:mrn|{value}")
    assert (found.status_code, code_of(found)) == (403, "insufficient_scope")
    change = [{"op": "replace", "path": "/gender", "value": "male"}]
    patched = updater.patch(f"/Patient/{made['id']}", change)
    assert (patched.status_code, patched.content, patched.headers["ETag"]) == (200, b"", 'W/"2"')
    assert creator.post("/Patient", patient()).json()["gender"] == "female"
    request = {"method": "POST", "url": "Patient", "ifNoneExist": f"identifier=urn:mrn|{value}"}
    bundle = {"resourceType": "Bundle", "type": "transaction", "entry": [{"request": request, "resource": body}]}
    assert creator.post("/", bundle, Prefer="return=representation").status_code == 403
    (entry,) = doctor.post("/", bundle, Prefer="return=representation").json()["entry"]
    assert (entry["response"]["status"], entry["resource"]["id"]) == ("200 OK", made["id"])


def test_update_as_create_needs_both_letters(tenant):
    fhir_id = f"new-{factories.suffix()}"
    updater, both = with_scopes(tenant, "user/Patient.u"), with_scopes(tenant, "user/Patient.cu")
    assert updater.put(f"/Patient/{fhir_id}", patient(id=fhir_id)).status_code == 403
    assert prescriber(tenant).get(f"/Patient/{fhir_id}").status_code == 404
    assert both.put(f"/Patient/{fhir_id}", patient(id=fhir_id)).status_code == 201


def test_history_of_all_shows_only_types_within_reach(tenant, record):
    for api in (with_scopes(tenant, "user/Observation.rs"), with_scopes(tenant, "healthcare.read user/Observation.s")):
        bundle = api.get("/_history").json()
        assert {one["resource"]["resourceType"] for one in bundle["entry"]} == {"Observation"}
        assert api.get("/Patient/_history").status_code == 403


def test_scope_that_reads_gives_no_history_of_a_type_or_of_all(tenant, record):
    api, path = with_scopes(tenant, "user/Observation.r"), f"/Observation/{record['Observation']['id']}/_history"
    assert api.get(path).json()["total"] == 1
    assert api.get("/Observation/_history").status_code == 403
    assert "entry" not in api.get("/_history").json()


def test_receptionist_reads_three_types_unless_another_role_reads_all(tenant, record):
    receptionist = with_scopes(tenant, "healthcare.read", roles=["clinic_receptionist"])
    assert (asked(receptionist, record, "Patient"), asked(receptionist, record, "Observation")) == (200, 403)
    kinds = {one["fullUrl"].split("/")[-2] for one in receptionist.get("/_history").json()["entry"]}
    assert kinds == {"Patient"}
    assert receptionist.get("/Observation").status_code == 403
    found = receptionist.get(f"/Patient?_id={record['Patient']['id']}&_revinclude=Observation:subject").json()
    assert {one["resource"]["resourceType"] for one in found["entry"]} - {"OperationOutcome"} == {"Patient"}
    every = receptionist.get("/?_lastUpdated=gt2020").json()
    assert {one["resource"]["resourceType"] for one in every["entry"]} <= {
        "Patient",
        "Location",
        "Practitioner",
        "OperationOutcome",
    }
    both = with_scopes(tenant, "healthcare.read", roles=["clinic_receptionist", "nurse"])
    assert asked(both, record, "Observation") == 200


def test_machines_may_have_system_scopes_and_others_user_scopes():
    client, secret = machine(scopes=["system/Observation.rs", "system/*.cruds", "locations.read"])
    token = machine_token(client, secret, scope="system/Observation.rs")
    assert token.json()["scope"] == "system/Observation.rs"
    person_app, _ = application(scopes=["openid", "user/Patient.rs"])
    assert granted.grantable(person_app) == {"openid", "user/Patient.rs"}
    for scope, make in (
        ("user/Patient.rs", machine),
        ("system/Patient.rs", application),
        ("patient/*.rs", machine),
        ("launch/patient", machine),
    ):
        with pytest.raises(registered.UngrantableScope):
            make(scopes=[scope])


def test_scopes_of_smart_are_described_on_the_page_of_consent():
    known = granted.ClientScopes().get_all_scopes()
    assert known["user/Patient.rs"] == "Read Patient resources of the clinical record (FHIR)."
    assert known["user/*.cruds"] == "Read and write all resources of the clinical record (FHIR)."
    with pytest.raises(KeyError):
        known["user/Patient.x"]
