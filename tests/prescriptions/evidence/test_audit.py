"""The audit history as it is listed: entries by every filter, who acted from where, and who may ask."""

from datetime import timedelta
from uuid import UUID

import pytest

from core.clock import now, rfc3339
from core.db import tenant_context
from prescriptions.models import AuditOrigin
from tests import factories
from tests.factories import Api
from tests.prescriptions.ward import done, refused

AUDIT = "/v1/prescriptions/audit"


@pytest.fixture(scope="module")
def auditor(ward):
    return factories.as_member(ward.clinic.tenant, ["auditor"])


def listed(api, path=AUDIT, **query):
    text = "&".join(f"{name}={value}" for name, value in query.items())
    answer = api.get(f"{path}?{text}" if text else path)
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def test_history_of_one_is_newest_first_and_chained(ward, auditor):
    one = ward.routed()
    entries = listed(auditor, f"/v1/prescriptions/{one['id']}/audit")
    assert [(e["sequence"], e["action"]) for e in entries] == [
        (4, "routed"), (3, "signed"), (2, "validated"), (1, "created"),
    ]  # fmt: skip
    assert [e["prev_hash"] for e in entries[:-1]] == [e["hash"] for e in entries[1:]]
    assert entries[-1]["prev_hash"] == "0" * 64
    signed = entries[1]
    assert (signed["from_status"], signed["to_status"]) == ("clinically_validated", "signed")
    assert signed["details"]["digest"] == one["snapshot"]["digest"]
    assert signed["patient_id"] == ward.patient_id
    membership = ward.clinic.memberships["prescriber"]
    assert signed["actor"] == {
        "type": "user",
        "id": str(ward.clinic.users["prescriber"].pk),
        "display": ward.clinic.users["prescriber"].name,
        "tenant_id": str(ward.clinic.tenant.id),
        "membership_id": str(membership.pk),
        "role": "prescriber",
        "client_id": "first-party",
    }


def test_entries_tell_where_the_request_came_from(ward, auditor):
    body = ward.body()
    prescriber = ward.clinic.client("prescriber")
    prescriber.headers = {**prescriber.headers, "User-Agent": "ward/1.0"}
    one = done(prescriber.post("/v1/prescriptions", json=body), 201)
    (entry,) = listed(auditor, f"/v1/prescriptions/{one['id']}/audit")
    assert (entry["user_agent"], bool(entry["ip"]), bool(entry["request_id"])) == ("ward/1.0", True, True)
    with tenant_context(ward.clinic.tenant.id):
        AuditOrigin.objects.filter(tenant_id=ward.clinic.tenant.id, id=entry["id"]).delete()
    (bare,) = listed(auditor, f"/v1/prescriptions/{one['id']}/audit")
    assert bare == {**entry, "ip": None, "user_agent": None, "actor": {**entry["actor"], "display": None}}


def test_every_filter_narrows(ward, auditor):
    before = now()
    one, other = ward.signed(), ward.draft()
    assert {e["prescription_id"] for e in listed(auditor, prescription_id=one["id"])} == {one["id"]}
    assert {e["action"] for e in listed(auditor, action="signed")} == {"signed"}
    actor_id = str(ward.clinic.users["prescriber"].pk)
    assert {e["actor"]["id"] for e in listed(auditor, actor_id=actor_id)} == {actor_id}
    assert listed(auditor, patient_id="nobody") == []
    since = rfc3339(before)
    found = listed(auditor, **{"from": since})
    assert {e["prescription_id"] for e in found} == {one["id"], other["id"]}
    assert [e["occurred_at"] for e in found] == sorted((e["occurred_at"] for e in found), reverse=True)
    assert all(e["occurred_at"] < since for e in listed(auditor, to=since))
    assert listed(auditor, **{"from": rfc3339(now() + timedelta(hours=1))}) == []
    refused(auditor.get(f"{AUDIT}?action=unknown"), 400, "validation_error")
    refused(auditor.get(f"{AUDIT}?patient=x"), 400, "unknown_parameter")


def test_history_is_paged_by_cursor(ward, auditor):
    one = ward.routed()
    path = f"/v1/prescriptions/{one['id']}/audit"
    first = auditor.get(f"{path}?limit=3").json()
    second = auditor.get(f"{path}?limit=3&cursor={first['next_cursor']}").json()
    assert [e["sequence"] for e in first["data"] + second["data"]] == [4, 3, 2, 1]
    whole = auditor.get(f"{AUDIT}?limit=2&prescription_id={one['id']}").json()
    assert [e["sequence"] for e in whole["data"]] == [4, 3]


def test_who_may_read_it(ward):
    one = ward.signed()
    path = f"/v1/prescriptions/{one['id']}/audit"
    for address in (AUDIT, path):
        refused(ward.clinic.people["nurse"].get(address), 403, "insufficient_scope")
        refused(Api().get(address), 401, "not_authenticated")
    stranger = factories.as_member(factories.provision("provider"), ["auditor"])
    refused(stranger.get(path), 404, "not_found")
    assert listed(stranger) == []


def test_places_limit_what_is_seen(ward):
    place, other = ward.clinic.place(), ward.clinic.place()
    here, there = ward.draft(location_id=place), ward.draft(location_id=other)
    person, _ = factories.member(ward.clinic.tenant, ["clinical_lead"], location_ids=[UUID(place)])
    lead = Api(token=factories.bearer(person), tenant=ward.clinic.tenant)
    seen = {e["prescription_id"] for e in listed(lead, limit=200)}
    assert here["id"] in seen
    assert there["id"] not in seen
    assert listed(lead, f"/v1/prescriptions/{here['id']}/audit")
    refused(lead.get(f"/v1/prescriptions/{there['id']}/audit"), 404, "not_found")
    for one in (here, there):
        done(ward.prescriber.get(f"/v1/prescriptions/{one['id']}"))
    read = {e["prescription_id"] for e in listed(lead, action="read")}
    assert (here["id"] in read, there["id"] in read) == (True, False)
