"""`$validate` on the system, a type and an instance, with the resource bare or in Parameters."""

import pytest

from tests import factories
from tests.fhir_api.bundles.making import batch, entry
from tests.fhir_api.clients import Fhir, code_of, observation, patient, prescriber, reader

DEFINITION = "http://hl7.org/fhir/StructureDefinition/Patient"
SUBSETTED = {"system": "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", "code": "SUBSETTED"}


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
        ("/$validate", {"resourceType": "Slot"}, 404, "unknown_resource_type"),
        ("/$validate", {"resourceType": "Parameters"}, 400, "invalid_parameters"),
        ("/$validate", {"resourceType": "Parameters", "parameter": [{"name": "mode"}]}, 400, "invalid_parameters"),
        ("/$validate", parameters(patient(), mode={"valueCode": "guess"}), 400, "invalid_parameters"),
        ("/$validate?mode=guess", patient(), 400, "invalid_parameters"),
        ("/$validate?mode=update", parameters(patient(), mode={"valueCode": "create"}), 400, "invalid_parameters"),
        ("/Patient/$validate?mode=delete", None, 400, "invalid_parameters"),
        ("/$validate", parameters(patient(), more={"name": "resource", "resource": patient()}), 400, None),
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


def told(answer):
    """Severity, R4's type, the platform's code and the place of the only issue."""
    assert answer.status_code == 200, answer.content
    (issue,) = answer.json()["issue"]
    code = issue["details"]["coding"][0]["code"] if "details" in issue else ""
    return issue["severity"], issue["code"], code, *issue.get("expression", [])


@pytest.mark.parametrize("profile", [DEFINITION, f"{DEFINITION}|4.0.1"])
def test_definition_of_the_type_itself_is_a_profile(client, profile):
    wrapped = [parameters(patient(), profile={kind: profile}) for kind in ("valueUri", "valueCanonical")]
    for answer in (
        client.post(f"/$validate?profile={profile}", patient()),
        *(client.post("/$validate", one) for one in wrapped),
    ):
        assert told(answer) == ("information", "informational", "")


@pytest.mark.parametrize("profile", ["http://example.org/profile", f"{DEFINITION}|5.0.0", DEFINITION[:-7] + "Group"])
def test_profile_that_is_not_known_is_an_error_and_never_valid(client, profile):
    error = ("error", "not-supported", "unsupported_profile")
    assert told(client.post(f"/Patient/$validate?profile={profile}", patient())) == error
    place = "Parameters.parameter[1].value"
    for value in ({"valueUri": profile}, {"valueCanonical": profile}, {"valueString": DEFINITION}):
        assert told(client.post("/$validate", parameters(patient(), profile=value))) == (*error, place)
    answer = client.post("", batch(entry("POST", f"Patient/$validate?profile={profile}", patient())))
    assert answer.json()["entry"][0]["resource"]["issue"][0]["severity"] == "error"


@pytest.mark.parametrize("mode", ["create", "update"])
def test_mode_of_a_write_tells_what_the_write_is_refused_for(client, mode):
    error = ("error", "not-found", "reference_not_found", "Observation.subject.reference")
    absent, there = observation("Patient/nobody"), observation(f"Patient/{client.made(patient())['id']}")
    assert told(client.post(f"/$validate?mode={mode}", absent)) == error
    assert told(client.post("/$validate", parameters(absent, mode={"valueCode": mode}))) == error
    assert told(client.post(f"/$validate?mode={mode}", there))[0] == "information"
    assert told(client.post("/$validate?mode=profile", absent))[0] == "information"
    part = patient(meta={"tag": [SUBSETTED]})
    error = ("error", "business-rule", "subsetted", "Patient.meta.tag")
    assert told(client.post(f"/$validate?mode={mode}", part)) == error


def test_mode_delete_tells_of_references_and_changes_nothing(client):
    made = client.made(patient())
    path = f"/Patient/{made['id']}/$validate"
    assert told(client.post(f"{path}?mode=delete"))[0] == "information"
    seen = client.made(observation(f"Patient/{made['id']}"))
    error = ("error", "conflict", "still_referenced")
    asked = {"resourceType": "Parameters", "parameter": [{"name": "mode", "valueCode": "delete"}]}
    for answer in (
        client.post(f"{path}?mode=delete"),
        client.post(path, asked),
        reader(client.tenant).post(path, asked),
    ):
        assert told(answer) == error
        assert f"Observation/{seen['id']}" in answer.json()["issue"][0]["diagnostics"]
    assert client.get(f"/Patient/{made['id']}").json() == made


def test_mode_of_a_write_asks_no_references_where_the_tenant_does_not(client):
    tenant = factories.provision("provider")
    address = f"/v1/tenants/{tenant.id}/configuration"
    factories.as_member(tenant).patch(address, json={"policies": {"fhir_reference_integrity": "none"}})
    free = prescriber(tenant)
    assert told(free.post("/$validate?mode=create", observation("Patient/nobody")))[0] == "information"


def test_scopes_hold_for_the_modes(client):
    person, _ = factories.member(client.tenant, ["prescriber"])
    narrow = Fhir(factories.bearer(person, scopes="healthcare.read user/Observation.rs"), client.tenant)
    assert told(narrow.post("/$validate?mode=create", observation("Patient/nobody")))[0] == "information"
    assert narrow.post("/Patient/p-1/$validate?mode=delete").status_code == 403
