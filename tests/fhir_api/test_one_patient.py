"""A token bound to one patient sees and writes his compartment only, whatever interaction asks; the rest is as if absent.

Every text of the other patient's resources holds a canary, and his ids, identifiers and codes are used by us. What is asked of
an id that never was is asked beside it: the two answers may differ in nothing.
"""

import json
from unittest import mock

import pytest

from core.ids import uuid7_text
from fhir_api import compartments, confinement
from fhir_api.search import access
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, observation, patient, prescriber

EVERYTHING = "patient/*.cruds"


class Clinic:
    """Ours and theirs: two patients of one tenant, seen by the same nurse, with a record each."""

    def __init__(self):
        self.tenant = factories.provision("provider")
        self.person, _ = factories.member(self.tenant, ["prescriber"])
        self.doctor = Fhir(factories.bearer(self.person), self.tenant)
        self.canary = f"canary{factories.suffix()}"
        self.nurse = self.doctor.made({"resourceType": "Practitioner", "name": [{"family": "Nurse"}]})
        self.ours = self.record("ours")
        self.theirs = self.record(self.canary)
        self.moved = self.twice(self.theirs, self.ours)  # was theirs, is ours
        self.left = self.twice(self.ours, self.theirs)  # was ours, is theirs
        self.gone = self.doctor.made(self.seen(self.ours, "gone"))
        self.their_gone = self.doctor.made(self.seen(self.theirs, self.canary))
        for one in (self.gone, self.their_gone):
            assert self.doctor.delete(f"/Observation/{one['id']}").status_code == 204
        child = self.doctor.made(patient())
        self.both = self.doctor.made(self.seen(child, "both", performer=[{"reference": f"Patient/{self.ours['id']}"}]))
        self.api = self.bound(EVERYTHING)

    def record(self, word):
        identifier = [{"system": f"urn:{word}", "value": word}]
        made = self.doctor.made(
            patient(
                name=[{"family": word}],
                identifier=identifier,
                generalPractitioner=[{"reference": f"Practitioner/{self.nurse['id']}"}],
            )
        )
        made = self.doctor.put(f"/Patient/{made['id']}", {**made, "active": True}).json()
        made["seen"] = [self.doctor.made(self.seen(made, word, identifier=identifier)) for _ in range(3)]
        return made

    def seen(self, whose, word, **more):
        nurse = {"performer": [{"reference": f"Practitioner/{self.nurse['id']}"}]}
        return observation(f"Patient/{whose['id']}", note=[{"text": word}], **{**nurse, **more})

    def twice(self, first, second):
        word = self.canary if first is self.theirs else "ours"
        made = self.doctor.made(self.seen(first, word))
        word = self.canary if second is self.theirs else "ours"
        changed = self.doctor.put(f"/Observation/{made['id']}", {**self.seen(second, word), "id": made["id"]})
        assert changed.status_code == 200, changed.content
        return changed.json()

    def bound(self, scopes, whose=None):
        of = (whose or self.ours)["id"]
        return Fhir(factories.bearer(self.person, scopes=scopes, tenant=self.tenant, patient=of))

    def their_ids(self):
        ones = (self.theirs, *self.theirs["seen"], self.left, self.their_gone)
        return [one["id"] for one in ones]


@pytest.fixture(scope="module")
def clinic():
    return Clinic()


def status(api, path, method="GET", body=None, **more):
    return api.call(method, path, body, **more).status_code


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


def questions(whose, word):
    """Everything that can be asked about somebody's record."""
    patient_id, token = whose["id"], f"urn:{word}|{word}"
    yield from (
        f"/Patient/{patient_id}{end}" for end in ("", "/_history", "/_history/1", "/_history/2", "/$everything")
    )
    for one in whose["seen"]:
        yield from (f"/Observation/{one['id']}{end}" for end in ("", "/_history", "/_history/1"))
    for search in (
        f"/Patient?_id={patient_id}",
        f"/Patient?family={word}",
        f"/Patient?identifier={token}",
        f"/Patient?identifier:not=urn:x|x&family={word}",
        f"/Patient?_has:Observation:patient:identifier={token}",
        f"/Patient?_has:Observation:subject:_id={whose['seen'][0]['id']}",
        f"/Observation?identifier={token}",
        f"/Observation?patient={patient_id}",
        f"/Observation?subject={patient_id}",
        f"/Observation?subject:Patient={patient_id}",
        f"/Observation?_id={whose['seen'][0]['id']}",
        f"/Observation?patient.family={word}",
        f"/Observation?patient.identifier={token}",
        f"/Observation?patient._has:Observation:patient:identifier={token}",
        f"/Observation?performer:Practitioner._has:Patient:general-practitioner:family={word}",
        f"/Practitioner?_has:Observation:performer:patient.family={word}",
        f"/Practitioner?_has:Patient:general-practitioner:family={word}",
    ):
        yield f"{search}&_include=*&_revinclude=*&_count=200&_total=accurate&_sort=-_lastUpdated"
        yield f"{search}&_summary=count"


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
    assert types <= set(compartments.TYPES)
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


# -- writing -----------------------------------------------------------------------------------------------------------


def test_own_record_is_written(clinic):
    made = clinic.api.made(clinic.seen(clinic.ours, "mine"))
    path = f"/Observation/{made['id']}"
    assert clinic.api.put(path, {**made, "status": "amended"}).status_code == 200
    assert clinic.api.patch(path, [{"op": "replace", "path": "/status", "value": "final"}]).status_code == 200
    assert clinic.api.delete(path).status_code == 204
    assert clinic.api.put(path, {**made, "status": "amended"}).status_code == 201
    assert clinic.api.get(path).headers["ETag"] == 'W/"5"'
    ours = clinic.api.get(f"/Patient/{clinic.ours['id']}").json()
    assert clinic.api.put(f"/Patient/{ours['id']}", {**ours, "gender": "male"}).status_code == 200


def test_nothing_is_written_outside(clinic):
    api, theirs, ours = clinic.api, clinic.theirs, clinic.ours
    mine = api.made(clinic.seen(ours, "mine"))
    path = f"/Observation/{mine['id']}"
    both = {**clinic.seen(theirs, "x"), "performer": [{"reference": f"Patient/{ours['id']}"}]}
    away = {**mine, "subject": {"reference": f"Patient/{theirs['id']}"}}
    nobody = {name: value for name, value in mine.items() if name != "subject"}
    moving = [{"op": "replace", "path": "/subject/reference", "value": f"Patient/{theirs['id']}"}]
    for answer in (
        api.post("/Observation", clinic.seen(theirs, "x")),
        api.post("/Observation", both),
        api.post("/Observation", {**nobody, "subject": {"display": "somebody"}}),
        api.post("/Patient", patient()),
        api.post("/Patient", patient(link=[{"other": {"reference": f"Patient/{ours['id']}"}, "type": "seealso"}])),
        api.put(path, away),
        api.put(path, nobody),
        api.patch(path, moving),
        api.put(f"/Observation/{clinic.both['id']}", {**clinic.both, "status": "amended"}),
        api.delete(f"/Observation/{clinic.both['id']}"),
    ):
        assert (answer.status_code, code_of(answer)) == (403, "outside_compartment")
    assert api.get(path).headers["ETag"] == 'W/"1"'
    assert clinic.doctor.get(f"/Observation/{clinic.both['id']}").headers["ETag"] == 'W/"1"'


def test_answers_to_other_tokens_are_not_repeated(clinic):
    """The doctor and the application have the same subject, and so the same room for keys."""
    doctor = Fhir(factories.bearer(clinic.person), clinic.tenant)
    key, change = factories.suffix(), [{"op": "replace", "path": "/status", "value": "amended"}]
    theirs = doctor.made(clinic.seen(clinic.theirs, clinic.canary))
    path = f"/Observation/{theirs['id']}"
    assert doctor.patch(path, change, Idempotency_Key=key).status_code == 200
    assert doctor.patch(path, change, Idempotency_Key=key).headers["Idempotency-Replayed"] == "true"
    answer = clinic.api.patch(path, change, Idempotency_Key=key)
    assert (answer.status_code, code_of(answer)) == (422, "idempotency_key_reused")
    assert clinic.canary not in answer.content.decode()


def test_ids_of_clients_are_not_taken(clinic):
    chosen = f"chosen-{factories.suffix()}"
    answer = clinic.api.put(f"/Observation/{chosen}", {**clinic.seen(clinic.ours, "x"), "id": chosen})
    assert (answer.status_code, code_of(answer)) == (404, "resource_not_found")


def test_references_lead_to_what_is_seen(clinic):
    """A reference to a resource of theirs is one to nothing, as its refusal says."""
    told = []
    for fhir_id in (clinic.theirs["seen"][0]["id"], uuid7_text()):
        one = clinic.seen(clinic.ours, "x", hasMember=[{"reference": f"Observation/{fhir_id}"}])
        answer = clinic.api.post("/Observation", one)
        told.append(
            (answer.status_code, code_of(answer), answer.json()["issue"][0]["diagnostics"].replace(fhir_id, ""))
        )
    assert told[0] == told[1]
    assert told[0][:2] == (422, "reference_not_found")
    member = [{"reference": f"Observation/{clinic.ours['seen'][0]['id']}"}]
    assert clinic.api.post("/Observation", clinic.seen(clinic.ours, "x", hasMember=member)).status_code == 201


def test_who_refers_is_not_named(clinic):
    mine = clinic.doctor.made(clinic.seen(clinic.ours, "mine"))
    member = [{"reference": f"Observation/{mine['id']}"}]
    other = clinic.doctor.made(clinic.seen(clinic.theirs, clinic.canary, hasMember=member))
    answer = clinic.api.delete(f"/Observation/{mine['id']}")
    assert (answer.status_code, code_of(answer)) == (409, "still_referenced")
    assert other["id"] not in answer.content.decode()


def test_conditions_see_the_compartment_only(clinic):
    """Criteria that match theirs match nothing; those that match ours and theirs match ours."""
    api, token = clinic.api, f"urn:{clinic.canary}|{clinic.canary}"
    path, change = f"/Observation?identifier={token}", [{"op": "replace", "path": "/status", "value": "amended"}]
    assert status(api, path, "PATCH", change, media="application/json-patch+json") == 404
    assert status(api, path, "DELETE") == 204
    made = api.post("/Observation", clinic.seen(clinic.ours, "x"), If_None_Exist=f"identifier={token}")
    assert made.status_code == 201
    made = api.call("PUT", path, clinic.seen(clinic.ours, "x"))
    assert made.status_code == 201
    chosen = {**clinic.seen(clinic.ours, "x"), "id": clinic.theirs["seen"][0]["id"]}
    assert status(api, path, "PUT", chosen) == 404
    chained = f"/Observation?patient.family={clinic.canary}"
    assert status(api, chained, "DELETE") == 204
    value = factories.suffix()
    shared = [{"system": "urn:shared", "value": value}]
    for whose in (clinic.ours, clinic.theirs):
        clinic.doctor.made(clinic.seen(whose, "x", identifier=shared))
    assert status(clinic.doctor, f"/Observation?identifier=urn:shared|{value}", "DELETE") == 412
    assert status(api, f"/Observation?identifier=urn:shared|{value}", "DELETE") == 204
    left = clinic.doctor.get(f"/Observation?identifier=urn:shared|{value}").json()["entry"]
    assert [one["resource"]["subject"]["reference"] for one in left] == [f"Patient/{clinic.theirs['id']}"]
    assert {clinic.doctor.get(f"/Observation/{one['id']}").status_code for one in clinic.theirs["seen"]} == {200}


def entry(method, url, resource=None, **more):
    found = {"request": {"method": method, "url": url, **more}}
    return found | ({"resource": resource, "fullUrl": f"urn:uuid:{uuid7_text()}"} if resource else {})


def sent(api, kind, *entries):
    return api.post(
        "", {"resourceType": "Bundle", "type": kind, "entry": list(entries)}, Prefer="return=representation"
    )


def test_batch_holds_each_entry_to_the_compartment(clinic):
    theirs = clinic.theirs["seen"][0]
    asked = [path.removeprefix("/") for path in questions(clinic.theirs, clinic.canary)]
    answer = sent(clinic.api, "batch", *(entry("GET", path) for path in asked))
    told = json.dumps([one.get("resource", {}).get("entry") for one in answer.json()["entry"]])
    assert f'"{clinic.canary}"' not in told
    assert not any(f'"id": "{one}"' in told for one in clinic.their_ids())
    answer = sent(
        clinic.api,
        "batch",
        entry("PUT", f"Observation/{theirs['id']}", {**clinic.seen(clinic.ours, "x"), "id": theirs["id"]}),
        entry("DELETE", f"Observation/{theirs['id']}"),
        entry("POST", "Observation", clinic.seen(clinic.theirs, "x")),
        entry("POST", "Observation", clinic.seen(clinic.ours, "x")),
        entry("DELETE", f"Observation?identifier=urn:{clinic.canary}|{clinic.canary}"),
    )
    told = [one["response"]["status"][:3] for one in answer.json()["entry"]]
    assert told == ["404", "204", "403", "201", "204"]
    assert clinic.doctor.get(f"/Observation/{theirs['id']}").headers["ETag"] == 'W/"1"'


def test_transaction_holds_all_to_the_compartment(clinic):
    token = f"urn:{clinic.canary}|{clinic.canary}"
    mine = clinic.seen(clinic.ours, "x")
    refused = sent(clinic.api, "transaction", entry("POST", "Observation", mine), entry("POST", "Patient", patient()))
    assert (refused.status_code, code_of(refused)) == (403, "outside_compartment")
    assert refused.json()["issue"][0]["expression"] == ["Bundle.entry[1]"]
    by_condition = clinic.seen(clinic.ours, "x", hasMember=[{"reference": f"Observation?identifier={token}"}])
    refused = sent(clinic.api, "transaction", entry("POST", "Observation", by_condition))
    assert (refused.status_code, code_of(refused)) == (412, "conditional_reference_failed")
    theirs = f"Observation/{clinic.theirs['seen'][0]['id']}"
    refused = sent(clinic.api, "transaction", entry("POST", "Observation", mine), entry("GET", theirs))
    assert refused.status_code == 404
    first = entry("POST", "Observation", mine)
    linked = clinic.seen(clinic.ours, "x", hasMember=[{"reference": first["fullUrl"]}])
    made = sent(clinic.api, "transaction", first, entry("POST", "Observation", linked))
    assert made.status_code == 200, made.content


def test_validate_tells_of_the_sent_resource_only(clinic):
    """Whether an id is theirs or nobody's changes nothing."""
    told = []
    for fhir_id in (clinic.theirs["seen"][0]["id"], uuid7_text()):
        answer = clinic.api.post(
            f"/Observation/{fhir_id}/$validate", {**clinic.seen(clinic.theirs, "x"), "id": fhir_id}
        )
        told.append((answer.status_code, json.dumps({**answer.json(), "id": ""})))
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("name", "planted"), [("check_change", lambda *_: None), ("seen", lambda _, __, current: current)]
)
def test_the_walk_of_writes_notices_a_wall_taken_out(clinic, name, planted):
    whose = clinic.theirs["seen"][2]
    away = {**clinic.seen(clinic.theirs, clinic.canary), "id": whose["id"]}
    with mock.patch.object(confinement, name, planted):
        answers = (
            clinic.api.post("/Observation", clinic.seen(clinic.theirs, "x")),
            clinic.api.put(f"/Observation/{whose['id']}", away),
        )
    assert {answer.status_code for answer in answers} != {403, 404}


# -- the table ---------------------------------------------------------------------------------------------------------


def test_compartment_names_parameters_of_r4_for_all_types():
    from fhir_api.definitions.parameters import PARAMETERS
    from fhir_api.types import NUMBERS

    assert set(compartments.PATIENT) == set(NUMBERS)
    for type_name, codes in compartments.PATIENT.items():
        for code in codes:
            found = PARAMETERS[type_name, code]
            assert (found.kind, "Patient" in found.targets) == ("reference", True)
    assert compartments.TYPES[0] == "Patient"


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
