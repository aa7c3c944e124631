"""The patient's token: shown once, kept as a digest, one at a time; and the pharmacy that claims by it."""

import re
from datetime import timedelta
from uuid import UUID

import pytest

from core.clock import now
from core.db import tenant_context
from prescriptions.models import PrescriptionToken
from tests import factories
from tests.prescriptions.dispensing.counter import (
    BASE,
    as_owner,
    as_pharmacy,
    assert_whole,
    dispense,
    entered,
    move,
    nothing_changes,
    told,
)
from tests.prescriptions.ward import Side, done, refused


def issue(ward, one, **headers):
    return ward.prescriber.post(f"{BASE}/{one['id']}/token", headers=headers)


def claim(api, token, **body):
    return api.post(f"{BASE}/claim", json={"token": token, **body})


def claim_at(ward, token):
    return claim(ward.pharmacist, token, pharmacy_location_id=ward.pharmacy_id)


def test_token_is_shown_once_and_kept_as_a_digest(ward):
    one = ward.signed()
    key = {"Idempotency-Key": "token-1"}
    answer = issue(ward, one, **key)
    shown = done(answer, 201)
    assert re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{26}", shown["token"])
    assert shown["expires_at"] == one["expires_at"]
    assert "Location" not in answer.headers
    again = issue(ward, one, **key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert done(again, 201) == shown | {"token": None}
    (row,) = PrescriptionToken.objects.filter(prescription_id=one["id"]).values()
    assert shown["token"] not in map(str, row.values())
    assert as_owner(ward, one)["version"] == one["version"] + 1
    assert (told(ward.clinic, one)[-1], told(ward.pharmacy, one)) == ("token_issued", [])
    assert entered(ward, one)[-1] == ("token_issued", "signed", "signed")


def test_claim_routes_and_acknowledges(ward):
    one = ward.signed()
    token = done(issue(ward, one), 201)["token"].lower()
    spoken = f" {token[:6]}-{token[6:13]} {token[13:]}".replace("0", "o").replace("1", "l")
    claimed = done(claim_at(ward, spoken))
    assert (claimed["id"], claimed["status"]) == (one["id"], "routed")
    assert (claimed["route"]["state"], claimed["route"]["pharmacy_location_id"]) == ("acknowledged", ward.pharmacy_id)
    assert claimed["route"]["acknowledged_at"] == claimed["route"]["routed_at"]
    assert as_pharmacy(ward, one) == claimed
    assert (told(ward.clinic, one)[-1], told(ward.pharmacy, one)) == ("claimed", [])
    assert entered(ward, one)[-1] == ("claimed", "signed", "routed")
    assert not PrescriptionToken.objects.filter(prescription_id=one["id"]).exists()
    assert_whole(ward)
    assert dispense(ward, one)["is_partial"] is False


def test_dead_tokens_are_not_found(ward):
    used, replaced, routed, cancelled, expired = (ward.signed() for _ in range(5))
    tokens = {one["id"]: done(issue(ward, one), 201)["token"] for one in (used, replaced, routed, cancelled, expired)}
    done(claim_at(ward, tokens[used["id"]]))
    newer = done(issue(ward, replaced), 201)["token"]
    ward.act(routed, "route", pharmacy_location_id=ward.pharmacy_id)
    ward.act(cancelled, "cancel")
    PrescriptionToken.objects.filter(prescription_id=expired["id"]).update(expires_at=now())
    for one in (used, replaced, routed, cancelled, expired):
        with nothing_changes(ward, one):
            refused(claim_at(ward, tokens[one["id"]]), 404, "not_found")
    for unknown in ("0" * 26, "U" * 26, "short", "é" * 26):
        refused(claim_at(ward, unknown), 404, "not_found")
    assert done(claim_at(ward, newer))["id"] == replaced["id"]


def test_token_of_other_states(ward):
    routed, cancelled, draft = ward.routed(), ward.signed(), ward.draft()
    ward.act(cancelled, "cancel")
    for one, state in ((routed, "routed"), (cancelled, "cancelled"), (draft, "draft")):
        with nothing_changes(ward, one):
            found = refused(issue(ward, one), 409, "invalid_transition")
        assert (found["from"], found["action"]) == (state, "token")
    old = ward.signed()
    move(old, signed_at=now() - timedelta(days=1), expires_at=now())
    with nothing_changes(ward, old):
        refused(issue(ward, old), 409, "prescription_expired")


def test_returned_prescription_gets_a_new_token(ward):
    one = ward.signed()
    first = done(issue(ward, one), 201)["token"]
    done(claim_at(ward, first))
    done(ward.at_pharmacy(one, "return", reason_code="not_stocked"))
    refused(claim_at(ward, first), 404, "not_found")
    second = done(issue(ward, one), 201)["token"]
    assert done(claim_at(ward, second))["route"]["state"] == "acknowledged"
    assert entered(ward, one)[-4:] == [
        ("claimed", "signed", "routed"),
        ("returned", "routed", "signed"),
        ("token_issued", "signed", "signed"),
        ("claimed", "signed", "routed"),
    ]
    assert_whole(ward)


@pytest.fixture
def chain():
    """A pharmacy with two places and a store."""
    found = Side(factories.provision("pharmacy"))
    found.join("pharmacist")
    found.first = found.place(name="First", type="pharmacy")
    found.second = found.place(name="Second", type="pharmacy")
    found.store = found.place(name="Store", type="warehouse")
    return found


def test_place_of_a_claim(ward, chain):
    one = ward.signed()
    token = done(issue(ward, one), 201)["token"]
    anywhere = chain.people["pharmacist"]
    there = chain.join("pharmacist", "there", location_ids=(UUID(chain.second),))
    with nothing_changes(ward, one):
        found = refused(claim(anywhere, token), 400, "validation_error")
        assert [error["field"] for error in found["errors"]] == ["pharmacy_location_id"]
        refused(claim(there, token, pharmacy_location_id=chain.first), 403, "wrong_pharmacy")
        refused(claim(there, "0" * 26, pharmacy_location_id=ward.pharmacy_id), 403, "wrong_pharmacy")
        for place in (chain.store, ward.pharmacy_id):
            refused(claim(anywhere, "0" * 26, pharmacy_location_id=place), 422, "pharmacy_not_found")
        refused(claim(anywhere, "0" * 26, pharmacy_location_id=chain.first), 404, "not_found")
    claimed = done(claim(there, token))
    assert claimed["route"]["pharmacy_location_id"] == chain.second


def test_claim_is_judged_again_before_its_replay(ward, chain):
    one = ward.signed()
    token = done(issue(ward, one), 201)["token"]
    there = chain.join("pharmacist", "there", location_ids=(UUID(chain.second),))
    body, key = {"token": token}, {"Idempotency-Key": "claim"}
    first = there.post(f"{BASE}/claim", json=body, headers=key)
    replay = there.post(f"{BASE}/claim", json=body, headers=key)
    assert (replay.content, replay.headers["Idempotency-Replayed"]) == (first.content, "true")
    with tenant_context(chain.tenant.id):
        membership = chain.memberships["there"]
        membership.location_ids = [UUID(chain.first)]
        membership.save_version("location_ids", at=now())
    refused(there.post(f"{BASE}/claim", json=body, headers=key), 403, "wrong_pharmacy")
