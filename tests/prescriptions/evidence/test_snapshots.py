"""Signed snapshots, what a key of one's own signs, and the verification of both sides."""

import base64
import hashlib
import json

import pytest

from core.clock import now
from core.db import tenant_context
from organizations import signing_keys
from organizations.public import KeyPurpose
from prescriptions.evidence.checkpoints import make_checkpoint
from tests import factories
from tests.factories import Api
from tests.prescriptions.ward import done, refused


def get(api: Api, one, what, status=200):
    answer = api.get(f"/v1/prescriptions/{one['id']}/{what}")
    return done(answer, status) if status == 200 else answer


def verify(api: Api, jws):
    return done(api.post("/v1/prescriptions/verify", json={"jws": jws}))


def checkpoint(ward):
    with tenant_context(ward.clinic.tenant.id):
        return make_checkpoint(ward.clinic.tenant.id, at=now())


def reads(ward, side, action):
    auditor = factories.as_member(side.tenant, ["auditor"])
    return auditor.get(f"/v1/prescriptions/audit?action={action}").json()["data"]


def test_snapshot_is_the_same_for_owner_and_pharmacy(ward):
    one = ward.routed()
    own, theirs = get(ward.prescriber, one, "snapshot"), get(ward.pharmacist, one, "snapshot")
    assert own == theirs
    assert own["digest"] == one["snapshot"]["digest"] == hashlib.sha256(own["text"].encode()).hexdigest()
    assert (own["kid"], own["schema"]) == (one["snapshot"]["kid"], "hp.prescription.snapshot/1")
    content = json.loads(own["text"])["content"]
    assert (content["number"], content["patient"]["name"]) == (one["number"], "Eva Muster")
    middle = own["jws"].split(".")[1]
    assert base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)) == own["text"].encode()


def test_snapshot_is_hidden_before_the_signature_from_others_and_once_returned(ward):
    draft, signed = ward.draft(), ward.signed()
    stranger = factories.as_member(factories.provision("pharmacy"), ["pharmacist"])
    for path in ("snapshot", "verification", "evidence"):
        owner = factories.as_member(ward.clinic.tenant, ["auditor", "prescriber"])
        assert get(owner, draft, path, 404).status_code == 404
    refused(get(stranger, signed, "snapshot", 404), 404, "not_found")
    refused(get(ward.pharmacist, signed, "snapshot", 404), 404, "not_found")
    routed = ward.routed()
    other = ward.pharmacy.place(name="Other", type="pharmacy", listed=True)
    assert get(ward.pharmacist, routed, "snapshot")
    second = factories.provision("pharmacy")
    ward.act(routed, "route", pharmacy_location_id=other)
    assert get(ward.pharmacist, routed, "snapshot")
    assert second


def test_verification_and_evidence_are_the_owners_alone(ward):
    one = ward.routed()
    assert get(ward.pharmacist, one, "verification", 404).status_code == 404
    auditor = factories.as_member(ward.pharmacy.tenant, ["auditor"])
    assert get(auditor, one, "evidence", 404).status_code == 404
    assert auditor.get(f"/v1/prescriptions/{one['id']}/audit").status_code == 404


def test_verification_before_and_after_a_checkpoint(ward):
    one = ward.signed()
    expected = {
        "digest_ok": True,
        "signature_ok": True,
        "kid": one["snapshot"]["kid"],
        "key_status_at_signing": "active",
        "trusted": True,
        "external_signature_ok": None,
        "row_matches_snapshot": True,
        "chain_ok": True,
        "chain_length": 3,
        "checkpoint": None,
    }
    assert get(ward.prescriber, one, "verification") == expected
    number = checkpoint(ward)
    found = get(ward.prescriber, one, "verification")
    at = found["checkpoint"].pop("at")
    assert at.endswith("Z")
    assert found == expected | {"checkpoint": {"number": number, "included": True}}
    ward.act(one, "route", pharmacy_location_id=ward.pharmacy_id)
    later = get(ward.prescriber, one, "verification")
    assert (later["checkpoint"]["number"], later["chain_length"], later["chain_ok"]) == (number, 4, True)
    ward.signed()
    assert checkpoint(ward) == number + 1
    assert get(ward.prescriber, one, "verification")["checkpoint"]["number"] == number + 1
    assert checkpoint(ward) is None  # nothing new


def test_verify_tells_of_a_presented_signature_only(ward):
    one = ward.routed()
    shown = get(ward.pharmacist, one, "snapshot")
    found = verify(ward.pharmacist, shown["jws"])
    assert found == {
        "signature_ok": True,
        "kid": shown["kid"],
        "key_status_at_signing": "active",
        "trusted": True,
        "payload": json.loads(shown["text"]),
    }
    head, payload, signature = shown["jws"].split(".")
    changed = base64.urlsafe_b64encode(shown["text"].replace("Eva", "Eve").encode()).rstrip(b"=").decode()
    nothing = {
        "signature_ok": False,
        "kid": shown["kid"],
        "key_status_at_signing": None,
        "trusted": False,
        "payload": None,
    }
    assert verify(ward.pharmacist, f"{head}.{changed}.{signature}") == nothing
    foreign = base64.urlsafe_b64encode(
        json.dumps({"alg": "ES256", "kid": "other", "typ": "prescription-snapshot+jws"}).encode()
    ).rstrip(b"=")
    assert verify(ward.pharmacist, f"{foreign.decode()}.{payload}.{signature}") == nothing | {
        "kid": "other",
        "key_status_at_signing": "unknown",
    }
    assert verify(ward.pharmacist, "rubbish")["signature_ok"] is False
    refused(ward.pharmacist.post("/v1/prescriptions/verify", json={}), 400, "validation_error")


def test_reads_leave_records_that_the_audit_shows(ward):
    one = ward.routed()
    get(ward.prescriber, one, "snapshot")
    get(ward.prescriber, one, "verification")
    done(ward.prescriber.get(f"/v1/prescriptions/{one['id']}"))
    auditor = factories.as_member(ward.clinic.tenant, ["auditor"])
    seen = {}
    for action in ("read", "verified", "exported"):
        answer = auditor.get(f"/v1/prescriptions/{one['id']}/audit?action={action}")
        assert answer.status_code == 200, answer.content
        seen[action] = answer.json()["data"]
    assert [len(rows) for rows in seen.values()] == [1, 1, 1]
    entry = seen["exported"][0]
    assert (entry["action"], entry["sequence"], entry["hash"], entry["patient_id"]) == (
        "exported", None, None, ward.patient_id,
    )  # fmt: skip
    assert entry["actor"]["id"] == str(ward.clinic.users["prescriber"].pk)
    assert entry["prescription_id"] == one["id"]
    get(ward.pharmacist, one, "snapshot")
    assert reads(ward, ward.pharmacy, "exported")[0]["prescription_id"] == one["id"]
    by_patient = auditor.get(f"/v1/prescriptions/audit?action=exported&patient_id={ward.patient_id}")
    assert entry in by_patient.json()["data"]
    assert auditor.get("/v1/prescriptions/audit?action=read&patient_id=nobody").json()["data"] == []


def test_signing_payload_is_what_will_be_signed(ward):
    draft = ward.draft()
    refused(get(ward.prescriber, draft, "signing-payload", 409), 409, "invalid_transition")
    validated = ward.act(draft, "validate")
    found = get(ward.prescriber, draft, "signing-payload")
    assert found["digest"] == hashlib.sha256(found["text"].encode()).hexdigest()
    assert (found["version"], found["run_id"]) == (validated["version"], validated["validation"]["id"])
    assert found["attestation"]["version"] == "1"
    signed = ward.act(draft, "sign")
    document = json.loads(get(ward.prescriber, signed, "snapshot")["text"])
    assert document["content"] == json.loads(found["text"])["content"]
    assert document["seal"]["content_digest"] == found["digest"]
    assert ward.clinic.people["nurse"].get(f"/v1/prescriptions/{draft['id']}/signing-payload").status_code == 403


@pytest.fixture
def new_keys():
    """Leave sound keys behind."""
    yield
    for purpose in (KeyPurpose.SNAPSHOT, KeyPurpose.CHECKPOINT):
        factories.committed(lambda purpose=purpose: signing_keys.rotate(at=now(), purpose=purpose))


def test_signature_of_a_compromised_key_is_trusted_only_where_a_checkpoint_was_before(ward, new_keys):
    sealed = ward.signed()
    checkpoint(ward)
    unsealed = ward.signed()
    kid = sealed["snapshot"]["kid"]
    _, replaced = factories.committed(lambda: signing_keys.mark_compromised(kid, purpose=KeyPurpose.SNAPSHOT, at=now()))
    assert replaced
    checkpoint(ward)
    assert [get(ward.prescriber, one, "verification")["trusted"] for one in (sealed, unsealed)] == [True, False]
    found = get(ward.prescriber, unsealed, "verification")
    assert (found["signature_ok"], found["key_status_at_signing"], found["chain_ok"]) == (True, "active", True)
    jws = [get(ward.prescriber, one, "snapshot")["jws"] for one in (sealed, unsealed)]
    assert [verify(ward.pharmacist, one)["trusted"] for one in jws] == [True, False]
    later = ward.signed()
    assert later["snapshot"]["kid"] != kid
    assert get(ward.prescriber, later, "verification")["trusted"]


def test_checkpoint_of_a_compromised_key_counts_once_a_sound_one_names_it(ward, new_keys):
    one = ward.signed()
    checkpoint(ward)
    keys = {purpose: signing_keys.active_key(purpose).kid for purpose in (KeyPurpose.SNAPSHOT, KeyPurpose.CHECKPOINT)}
    for purpose, kid in keys.items():
        factories.committed(lambda p=purpose, k=kid: signing_keys.mark_compromised(k, purpose=p, at=now()))
    found = get(ward.prescriber, one, "verification")
    assert (found["trusted"], found["checkpoint"]["included"]) == (False, False)
    ward.signed()
    checkpoint(ward)  # by the new key, and it names the former as `previous`
    found = get(ward.prescriber, one, "verification")
    assert (found["trusted"], found["checkpoint"]["included"]) == (True, True)
