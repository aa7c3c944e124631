"""A token bound to one patient writes his compartment only: single writes, conditions, Bundles, and what they tell."""

import json
from unittest import mock

import pytest

from core.ids import uuid7_text
from fhir_api import confinement
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, patient
from tests.fhir_api.one_patient import Clinic, questions, status


@pytest.fixture(scope="module")
def clinic():
    return Clinic()


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
