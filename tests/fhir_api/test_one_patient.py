"""A token bound to one patient sees and writes his compartment only, whatever interaction asks; the rest is as if absent.

Every text of the other patient's resources holds a canary, and his ids, identifiers and codes are used by us. What is asked of
an id that never was is asked beside it: the two answers may differ in nothing.
"""

import json
from unittest import mock

import pytest

from core.ids import uuid7_text
from fhir_api import compartments
from fhir_api.search import access
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, observation, patient, prescriber
from tests.fhir_api.one_patient import EVERYTHING, Clinic, questions, status


@pytest.fixture(scope="module")
def clinic():
    return Clinic()


# -- scopes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scopes", "patients", "observations", "nurses", "created"),
    [
        ("patient/*.cruds", 200, 200, 200, 201),
        ("patient/*.*", 200, 200, 200, 201),
        ("patient/*.rs", 200, 200, 200, 403),
        ("patient/*.read", 200, 200, 200, 403),
        ("patient/*.write", 403, 403, 403, 201),
        ("patient/Observation.rs", 403, 200, 403, 403),
        ("patient/Observation.c patient/Patient.r", 200, 403, 403, 201),
        ("user/*.cruds", 200, 200, 200, 201),
        ("launch/patient healthcare.read healthcare.write", 200, 200, 200, 201),
        ("patient/*.rs healthcare.write", 200, 200, 200, 403),
        ("patient/Observation.rs?category=laboratory", 403, 403, 403, 403),
        ("openid", 403, 403, 403, 403),
    ],
)
def test_scopes_choose_types_and_interactions(clinic, scopes, patients, observations, nurses, created):
    api, ours = clinic.bound(scopes), clinic.ours
    assert (
        status(api, f"/Patient/{ours['id']}"),
        status(api, f"/Observation/{ours['seen'][0]['id']}"),
        status(api, f"/Practitioner/{clinic.nurse['id']}"),
        status(api, "/Observation", "POST", clinic.seen(ours, "ours")),
    ) == (patients, observations, nurses, created)
    assert status(api, f"/Observation/{clinic.theirs['seen'][0]['id']}") in (403, 404)


def test_staff_and_places_are_shown_and_never_written(clinic):
    call = clinic.api.call
    path = f"/Practitioner/{clinic.nurse['id']}"
    assert status(clinic.api, path) == 200
    for method in ("PUT", "DELETE"):
        assert code_of(call(method, path, clinic.nurse)) == "insufficient_scope"
    assert code_of(call("POST", "/Location", {"resourceType": "Location", "name": "Ward"})) == "insufficient_scope"


def test_scope_of_a_patient_gives_nothing_without_one(clinic):
    api = Fhir(factories.bearer(clinic.person, scopes="patient/*.cruds healthcare.read"), clinic.tenant)
    assert status(api, f"/Patient/{clinic.ours['id']}") == 403


def test_bound_token_reaches_nothing_but_the_record(clinic):
    scopes = "launch/patient patient/*.rs prescriptions.read locations.read"
    token = factories.bearer(clinic.person, scopes=scopes, tenant=clinic.tenant, patient=clinic.ours["id"])
    free = factories.bearer(clinic.person, scopes="locations.read", tenant=clinic.tenant)
    assert factories.Api(token=free).get("/v1/locations").status_code == 200
    assert factories.Api(token=token).get("/v1/locations").status_code == 403


@pytest.mark.parametrize("path", ["/$export", "/Patient/$export", "/_export/01a1fee5-4919-7d86-880d-d9de07a7e74a"])
def test_bound_token_exports_nothing(clinic, path):
    answer = clinic.api.get(path, Prefer="respond-async", Accept="application/fhir+json")
    assert (answer.status_code, code_of(answer)) == (403, "insufficient_scope")


def test_bound_token_counts_in_its_tenant_only(clinic):
    elsewhere = factories.provision("provider")
    factories.member(elsewhere, ["prescriber"], person=clinic.person)
    api = clinic.bound(EVERYTHING)
    api.headers["X-Tenant-Id"] = str(elsewhere.id)
    assert code_of(api.get(f"/Patient/{clinic.ours['id']}")) == "tenant_forbidden"


# -- reading -----------------------------------------------------------------------------------------------------------


def wide(clinic):
    """Questions about everybody."""
    nurse = clinic.nurse["id"]
    yield from (
        "/_history?_count=200",
        "/Patient/_history",
        "/Observation/_history?_count=200",
        "/Patient",
        "/Observation",
    )
    yield "?_type=Patient,Observation,Practitioner&_count=200"
    yield f"/Practitioner?_id={nurse}&_revinclude=*&_count=200"
    yield f"/Practitioner?_id={nurse}&_revinclude=Observation:performer&_revinclude:iterate=Observation:patient"
    yield "/Observation?_include=Observation:patient&_include:iterate=*&_count=200"
    yield f"/Observation?performer={nurse}&_count=200"
    yield f"/Patient/{clinic.ours['id']}/$everything"


def shown(clinic, api, paths):
    """The questions whose answers show something of theirs: the canary, an id, a number above none."""
    found = []
    for path in paths:
        answer = api.get(path)
        assert answer.status_code < 500, (path, answer.content)
        document = json.loads(answer.content)
        entries = json.dumps(
            [one for one in document.get("entry", []) if one.get("search", {}).get("mode") != "outcome"]
        )
        text = entries if document["resourceType"] == "Bundle" else json.dumps(document)
        if document["resourceType"] == "OperationOutcome":
            continue
        counted = "_summary=count" in path and document["total"]
        if clinic.canary in text or any(f'"id": "{one}"' in text for one in clinic.their_ids()) or counted:
            found.append(path)
    return found


def test_no_question_shows_anything_of_theirs(clinic):
    assert shown(clinic, clinic.api, [*questions(clinic.theirs, clinic.canary), *wide(clinic)]) == []


def test_the_walk_sees_theirs_with_a_token_of_theirs(clinic):
    """Proof of power: bound to the other patient, or to nobody, the same walk finds nearly everything."""
    asked = list(questions(clinic.theirs, clinic.canary))
    assert len(shown(clinic, clinic.bound(EVERYTHING, clinic.theirs), asked)) > len(asked) * 0.9
    assert len(shown(clinic, clinic.doctor, wide(clinic))) > 5


@pytest.mark.parametrize(
    ("place", "name", "planted"),
    [
        (access, "in_compartment", lambda *_: ()),
        (compartments, "holds", lambda *_: True),
    ],
)
def test_the_walk_notices_a_wall_taken_out(clinic, place, name, planted):
    theirs = clinic.theirs
    asked = [f"/Observation/{theirs['seen'][0]['id']}", f"/Observation/{clinic.left['id']}/_history/1", "/Patient", "/"]
    with mock.patch.object(place, name, planted):
        assert shown(clinic, clinic.api, asked)


def test_own_record_is_all_there(clinic):
    for path in questions(clinic.ours, "ours"):
        answer = clinic.api.get(path)
        assert answer.status_code == 200, path
        if "_summary=count" in path:
            assert answer.json()["total"] > 0, path
    mine = {one["id"] for one in clinic.ours["seen"]} | {clinic.moved["id"], clinic.both["id"]}
    told = clinic.api.get("/Observation?_count=200&_total=accurate").json()
    assert mine <= {one["resource"]["id"] for one in told["entry"]}
    assert told["total"] == len(told["entry"])


def test_absent_and_theirs_are_answered_alike(clinic):
    """Nothing tells an id of theirs from one that never was: status, headers, words."""
    theirs, never = clinic.theirs["seen"][0]["id"], uuid7_text()

    def told(fhir_id, method, end="", body=None, **headers):
        answer = clinic.api.call(method, f"/Observation/{fhir_id}{end}", body(fhir_id) if body else None, **headers)
        kept = {name: value for name, value in answer.headers.items() if name in ("ETag", "Location", "Last-Modified")}
        words = json.loads(answer.content or b"{}")
        return answer.status_code, kept, json.dumps({**words, "id": ""}).replace(fhir_id, "ID")

    def ours(fhir_id):
        return {**clinic.seen(clinic.ours, "x"), "id": fhir_id}

    def patch(_):
        return [{"op": "replace", "path": "/status", "value": "amended"}]

    json_patch = "application/json-patch+json"
    for method, end, body, headers in (
        ("GET", "", None, {}),
        ("HEAD", "", None, {}),
        ("GET", "", None, {"If_None_Match": 'W/"1"'}),
        ("GET", "/_history", None, {}),
        ("GET", "/_history/1", None, {}),
        ("PUT", "", ours, {}),
        ("PUT", "", ours, {"If_Match": 'W/"1"'}),
        ("PUT", "", ours, {"If_Match": 'W/"9"'}),
        ("PUT", "", ours, {"If_None_Match": "*"}),
        ("PATCH", "", patch, {"media": json_patch}),
        ("PATCH", "", patch, {"media": json_patch, "If_Match": 'W/"9"'}),
        ("DELETE", "", None, {}),
        ("DELETE", "", None, {"If_Match": 'W/"1"'}),
        ("DELETE", "", None, {"If_Match": 'W/"9"'}),
    ):
        one, other = (told(fhir_id, method, end, body, **headers) for fhir_id in (theirs, never))
        assert one == other, (method, end, headers)
        assert one[0] in (204, 404, 412), (method, end, headers, one)
    assert clinic.doctor.get(f"/Observation/{theirs}").headers["ETag"] == 'W/"1"'


def test_deleted_is_gone_to_whom_it_was(clinic):
    ours, theirs = clinic.gone["id"], clinic.their_gone["id"]
    assert (status(clinic.api, f"/Observation/{ours}"), status(clinic.api, f"/Observation/{theirs}")) == (410, 404)
    assert status(clinic.api, f"/Observation/{theirs}/_history/1") == 404
    assert clinic.api.get(f"/Observation/{ours}/_history").json()["total"] == 2
    assert status(clinic.api, f"/Observation/{theirs}/_history") == 404
    told = {one["fullUrl"].rpartition("/")[2] for one in clinic.api.get("/_history?_count=200").json()["entry"]}
    assert ours in told
    assert theirs not in told


def test_versions_of_anothers_time_stay_hidden(clinic):
    moved, left = clinic.moved["id"], clinic.left["id"]
    assert status(clinic.api, f"/Observation/{moved}") == 200
    assert status(clinic.api, f"/Observation/{moved}/_history/1") == 404
    history = clinic.api.get(f"/Observation/{moved}/_history").json()
    assert (history["total"], [one["resource"]["meta"]["versionId"] for one in history["entry"]]) == (1, ["2"])
    for end in ("", "/_history", "/_history/1", "/_history/2"):
        assert status(clinic.api, f"/Observation/{left}{end}") == 404
    total = clinic.api.get("/Observation/_history?_count=200").json()
    assert total["total"] == len(total["entry"])


@pytest.mark.parametrize(
    "query", ["", "&_since=2020-01-01T00:00:00Z", "&_at=2099", "&_since=2020-01-01T00:00:00Z&_at=2099"]
)
def test_histories_page_through_the_compartment(clinic, query):
    answer = clinic.api.get(f"/_history?_count=4{query}").json()
    total, told = answer["total"], []
    while True:
        told += answer["entry"]
        links = [link["url"] for link in answer["link"] if link["relation"] == "next"]
        if not links:
            break
        answer = clinic.api.get(links[0].partition("/fhir/R4")[2]).json()
    assert len(told) == total > 4
    types = {one["fullUrl"].split("/")[-2] for one in told}
    assert types <= set(compartments.CONFINED)
    assert not {one["fullUrl"].rpartition("/")[2] for one in told} & set(clinic.their_ids())


def test_linked_patients_are_of_the_compartment_and_not_written(clinic):
    linked = clinic.doctor.made(
        patient(link=[{"other": {"reference": f"Patient/{clinic.ours['id']}"}, "type": "seealso"}])
    )
    told = clinic.api.get("/Patient").json()
    assert {one["resource"]["id"] for one in told["entry"]} == {clinic.ours["id"], linked["id"]}
    assert status(clinic.api, f"/Patient/{linked['id']}") == 200
    refused = clinic.api.put(f"/Patient/{linked['id']}", {**linked, "gender": "male"})
    assert (refused.status_code, code_of(refused)) == (403, "outside_compartment")
    assert status(clinic.api, f"/Patient/{linked['id']}/$everything") == 404
    assert clinic.doctor.delete(f"/Patient/{linked['id']}").status_code == 204


def test_trees_are_not_climbed_through_theirs(clinic):
    def visit(whose, part_of):
        part = {"partOf": {"reference": f"Encounter/{part_of['id']}"}} if part_of else {}
        code = {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "AMB"}
        subject = {"subject": {"reference": f"Patient/{whose['id']}"}}
        return clinic.doctor.made({"resourceType": "Encounter", "status": "finished", "class": code, **subject, **part})

    top = visit(clinic.theirs, None)
    inner = visit(clinic.ours, visit(clinic.theirs, top))
    clinic.doctor.made(clinic.seen(clinic.ours, "x", encounter={"reference": f"Encounter/{inner['id']}"}))
    path = f"/Observation?encounter:below={top['id']}&_summary=count"
    assert (clinic.doctor.get(path).json()["total"], clinic.api.get(path).json()["total"]) == (1, 0)
    own = f"/Observation?encounter:below={inner['id']}&_summary=count"
    assert clinic.api.get(own).json()["total"] == 1


def test_same_id_of_another_type_is_no_oracle(clinic):
    """A bare id that several resources of theirs share is refused to a doctor, and unknown to us."""
    same = f"same-{factories.suffix()}"
    subject = {"subject": {"reference": f"Patient/{clinic.theirs['id']}"}}
    assert (
        clinic.doctor.put(f"/Observation/{same}", {**observation("Patient/x"), "id": same, **subject}).status_code
        == 201
    )
    report = {"resourceType": "DiagnosticReport", "id": same, "status": "final", "code": {"text": "x"}, **subject}
    assert clinic.doctor.put(f"/DiagnosticReport/{same}", report).status_code == 201
    path = f"/Observation?focus={same}"
    assert (status(clinic.doctor, path), status(clinic.api, path)) == (400, 200)


# -- the table ---------------------------------------------------------------------------------------------------------


def test_compartment_names_parameters_of_r4_for_all_types():
    from fhir_api.definitions.parameters import PARAMETERS
    from fhir_api.resources.types import NUMBERS

    assert set(compartments.PATIENT) == set(NUMBERS)
    for type_name, codes in compartments.PATIENT.items():
        for code in codes:
            found = PARAMETERS[type_name, code]
            assert (found.kind, "Patient" in (found.targets or ["Patient"])) == ("reference", True)
    assert compartments.CONFINED[0] == "Patient"


def test_body_json_path_and_index_agree():
    """A resource is in a compartment by its body if and only if it has one of the keys."""
    from fhir_api.indexing import index
    from fhir_api.reading import read_stored
    from fhir_api.resources import written

    forms = ("Patient/a", "Patient/a/_history/2", "Patient/b", "Group/a", "#a", "http://testserver/fhir/R4/Patient/a")
    for text in forms:
        resource = read_stored(
            written({**observation(text), "id": "o", "performer": [{"reference": "Practitioner/a"}]})
        )
        keyed = bool(index(resource).postings & set(compartments.keys("Observation", "a")))
        assert compartments.holds("a", "Observation", resource) is keyed is (text in (forms[0], forms[1], forms[5]))


def test_prescriber_without_a_bound_is_not_held(clinic):
    assert prescriber(clinic.tenant).get(f"/Patient/{clinic.theirs['id']}").status_code == 200
