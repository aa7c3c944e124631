"""The evidence of a prescription, checked by others: the script of the documentation, and npm's jose."""

import base64
import copy
import hashlib
import hmac
import json
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from bench import javascript
from core.clock import now
from core.db import tenant_context
from prescriptions.evidence.checkpoints import make_checkpoint
from tests import factories
from tests.factories import Api
from tests.prescriptions.ward import done

ROOT = Path(__file__).resolve().parents[3]
JOSE = ROOT / "tests" / "clients" / "jose"


def checkpoint(ward):
    with tenant_context(ward.clinic.tenant.id):
        return make_checkpoint(ward.clinic.tenant.id, at=now())


@pytest.fixture(scope="module")
def evidence(ward):
    """The evidence of one of several prescriptions, two checkpoints after its signature, later routed."""
    for _ in range(4):
        ward.signed()
    one = ward.signed()
    checkpoint(ward)
    ward.act(one, "route", pharmacy_location_id=ward.pharmacy_id)
    for _ in range(2):
        ward.signed()
    checkpoint(ward)
    for _ in range(3):
        ward.signed()
    checkpoint(ward)
    auditor = factories.as_member(ward.clinic.tenant, ["auditor"])
    return done(auditor.get(f"/v1/prescriptions/{one['id']}/evidence"))


def key_set():
    return Api().get("/.well-known/prescription-jwks.json").json()


def script(folder, evidence, *, keys=True):
    """Run the script of the documentation in a bare interpreter: no project, no environment."""
    (folder / "evidence.json").write_text(json.dumps(evidence), encoding="utf-8")
    (folder / "keys.json").write_text(json.dumps(key_set()), encoding="utf-8")
    command = [
        sys.executable,
        "-I",
        ROOT / "docs" / "verify_evidence.py",
        "evidence.json",
        *(["keys.json"] if keys else []),
    ]
    ran = subprocess.run(command, cwd=folder, env={}, capture_output=True, text=True, timeout=60, check=False)
    return ran.returncode, (ran.stdout + ran.stderr).strip().splitlines()[-1]


def test_evidence_holds_what_a_verifier_needs_and_no_names_of_staff(ward, evidence):
    assert evidence["schema"] == "hp.prescription.evidence/1"
    assert [entry["action"] for entry in evidence["chain"]] == ["created", "validated", "signed", "routed"]
    assert set(evidence["keys"]) == {
        evidence["snapshot"]["kid"],
        *(k for k, v in evidence["keys"].items() if v["purpose"] == "checkpoint"),
    }
    assert all(set(one["jwk"]) == {"kty", "crv", "x", "y", "kid", "use", "alg"} for one in evidence["keys"].values())
    assert evidence["dispensations"] == []
    assert all("display" not in entry["actor"] and "ip" not in entry for entry in evidence["chain"])
    assert evidence["checkpoint"]["leaf"]["sequence"] == 4


def test_script_of_the_documentation_verifies_it(evidence, tmp_path):
    code, last = script(tmp_path, evidence)
    assert (code, last.endswith("everything holds")) == (0, True), last


def test_evidence_of_what_the_pharmacy_did_is_verified_too(ward, tmp_path):
    """Entries by another tenant's people stand in the owner's chain, and the dispensations beside it."""
    one = ward.routed()
    asked = {"kind": "clarification", "text": "Is the dose meant for a day?"}
    done(ward.at_pharmacy(one, "requests", **asked), 201)
    given = done(ward.at_pharmacy(one, "dispense"), 201)
    path = f"/v1/prescriptions/{one['id']}/dispensations/{given['id']}/reverse"
    done(ward.pharmacist.post(path, json={"reason_code": "wrong_item"}))
    checkpoint(ward)
    auditor = factories.as_member(ward.clinic.tenant, ["auditor"])
    found = done(auditor.get(f"/v1/prescriptions/{one['id']}/evidence"))
    code, output = script(tmp_path, found)
    assert code == 0, output
    actions = [entry["action"] for entry in found["chain"]]
    assert actions[-4:] == ["routed", "requested", "dispensed", "dispense_reversed"]
    assert [(kept["id"], kept["status"]) for kept in found["dispensations"]] == [(given["id"], "reversed")]


def flip(text):
    return ("0" if text[0] != "0" else "1") + text[1:]


def changed(evidence, change):
    made = copy.deepcopy(evidence)
    change(made)
    return made


def _entry(made):
    made["chain"][1]["action"] = "validation_blocked"


def _removed(made):
    del made["chain"][-1]


def _text(made):
    made["snapshot"]["text"] = made["snapshot"]["text"].replace("Eva", "Eve")


def _path(made):
    made["checkpoint"]["path"][0] = flip(made["checkpoint"]["path"][0])


def _short(made):
    del made["checkpoint"]["path"][-1]


def _proof(made):
    made["consistency"]["proof"][0] = flip(made["consistency"]["proof"][0])


def _key(made):
    made["keys"][made["snapshot"]["kid"]]["jwk"]["x"] = made["keys"][made["snapshot"]["kid"]]["jwk"]["y"]


def _compromised(made):
    made["keys"][made["snapshot"]["kid"]]["compromised_at"] = made["chain"][0]["occurred_at"]


def _position(made):
    made["checkpoint"]["position"] += 1


@pytest.mark.parametrize("change", [_entry, _removed, _text, _path, _short, _proof, _key, _compromised, _position])
def test_script_finds_what_was_changed(evidence, tmp_path, change):
    code, last = script(tmp_path, changed(evidence, change))
    assert (code, last.startswith("FAILED")) == (1, True), last


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@pytest.fixture
def fetched():
    """A server that notes who asks it; it stands behind addresses in headers."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/keys", asked
    server.shutdown()
    server.server_close()


def forged(jws, keys, address):
    """What somebody might present instead of a signed snapshot."""
    head, payload, signature = jws.split(".")
    header = json.loads(base64.urlsafe_b64decode(head + "=="))
    pem = json.dumps(keys["keys"][0]).encode()

    def with_header(**more):
        return b64(json.dumps({**header, **more}).encode())

    hs256 = with_header(alg="HS256")
    mac = hmac.new(pem, f"{hs256}.{payload}".encode(), hashlib.sha256).digest()
    return {
        "payload": f"{head}.{b64(b'{}')}.{signature}",
        "none": f"{with_header(alg='none')}.{payload}.",
        "hs256": f"{hs256}.{payload}.{b64(mac)}",
        "kid": f"{with_header(kid='another')}.{payload}.{signature}",
        "jku": f"{with_header(jku=address)}.{payload}.{signature}",
        "signature": f"{head}.{payload}.{('A' if signature[0] != 'A' else 'B') + signature[1:]}",
    }


def test_platform_refuses_forged_snapshots_and_fetches_nothing(ward, evidence, fetched):
    address, asked = fetched
    for jws in forged(evidence["snapshot"]["jws"], key_set(), address).values():
        found = done(ward.pharmacist.post("/v1/prescriptions/verify", json={"jws": jws}))
        assert (found["signature_ok"], found["trusted"], found["payload"]) == (False, False, None)
    assert asked == []


def test_jose_verifies_snapshot_and_evidence(evidence, fetched):
    try:
        folder = javascript.installed(JOSE, ("package.json", "package-lock.json", "evidence.mjs"))
    except javascript.Unavailable as reason:
        pytest.skip(str(reason))
    address, asked = fetched
    jws = evidence["snapshot"]["jws"]
    cases = {"sound": jws, **forged(jws, key_set(), address)}
    given = json.dumps({"keys": key_set()["keys"], "cases": cases, "evidence": evidence})
    ran = subprocess.run(
        ["node", "evidence.mjs"], cwd=folder, input=given, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    failed = "ERR_JWS_SIGNATURE_VERIFICATION_FAILED"
    assert json.loads(ran.stdout) == {
        "cases": {
            "sound": evidence["snapshot"]["text"],
            "payload": failed,
            "none": "ERR_JOSE_ALG_NOT_ALLOWED",
            "hs256": "ERR_JOSE_ALG_NOT_ALLOWED",
            "kid": "ERR_JWKS_NO_MATCHING_KEY",
            "jku": failed,
            "signature": failed,
        },
        "typ": "prescription-snapshot+jws",
        "text": True,
        "content": True,
        "chain": True,
        "included": True,
        "newest": "audit-checkpoint+jws",
    }
    assert asked == []


def test_evidence_before_the_first_checkpoint(tmp_path):
    from tests.prescriptions.ward import ward as another

    fresh = another()
    one = fresh.signed()
    auditor = factories.as_member(fresh.clinic.tenant, ["auditor"])
    found = done(auditor.get(f"/v1/prescriptions/{one['id']}/evidence"))
    assert (found["checkpoint"], found["consistency"]) == (None, None)
    assert script(tmp_path, found, keys=False)[0] == 0
