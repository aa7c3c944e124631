"""Signatures of snapshots and checkpoints: checked with public libraries, refused when altered, kept over rotations."""

import base64
import json
import subprocess
import sys
from datetime import timedelta
from io import StringIO

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from joserfc import jwk, jws

from core import pipeline
from core.clock import now
from organizations import signatures, signing_keys
from organizations.models import SigningKey
from organizations.public import KeyPurpose, published, sign, signing_key_call, signing_key_of, verify
from tests.factories import Api, provision
from tests.races import race

TYP = {"snapshot": "prescription-snapshot+jws", "checkpoint": "audit-checkpoint+jws"}
PAYLOAD = '{"schema":"hp.prescription.snapshot/1","name":"Zoë"}'.encode()
ES = ["snapshot", "checkpoint"]


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def header_of(text):
    return jwt.get_unverified_header(text)


def key_set():
    answer = Api().get("/.well-known/prescription-jwks.json")
    assert answer.status_code == 200
    return answer


def command(*arguments):
    out = StringIO()
    call_command("rotate_signing_keys", "--json", *arguments, stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.parametrize("purpose", ES)
def test_a_signature_is_checked_with_the_key_set_and_two_public_libraries(purpose):
    text = sign(purpose, PAYLOAD, TYP[purpose])

    keys = key_set().json()["keys"]
    assert header_of(text) == {"alg": "ES256", "kid": header_of(text)["kid"], "typ": TYP[purpose]}
    (found,) = [key for key in keys if key["kid"] == header_of(text)["kid"]]
    assert {name: found[name] for name in ("kty", "crv", "use", "alg")} == {
        "kty": "EC",
        "crv": "P-256",
        "use": "sig",
        "alg": "ES256",
    }
    assert "d" not in found
    assert jwt.api_jws.decode(text, jwt.PyJWK(found).key, algorithms=["ES256"]) == PAYLOAD
    loaded = jwk.KeySet.import_key_set({"keys": keys})
    assert jws.deserialize_compact(text, loaded, algorithms=["ES256"]).payload == PAYLOAD
    assert jwk.ECKey.import_key(found).thumbprint() == found["kid"]


def test_verify_says_whose_key_it_was():
    text = sign("snapshot", PAYLOAD, TYP["snapshot"])
    row = SigningKey.objects.get(purpose="snapshot", status="active")

    assert verify("snapshot", text) == signatures.Verified(
        True, row.kid, TYP["snapshot"], PAYLOAD, row.created_at, None, None
    )


def test_a_purpose_signs_its_own_type_only():
    for purpose, typ in (("snapshot", TYP["checkpoint"]), ("token", "at+jwt"), ("other", "x")):
        with pytest.raises(ValueError, match="do not sign"):
            sign(purpose, PAYLOAD, typ)


def test_a_signature_of_another_purpose_is_none():
    text = sign("checkpoint", PAYLOAD, TYP["checkpoint"])

    assert verify("snapshot", text) == signatures.Verified(False, header_of(text)["kid"], TYP["checkpoint"])
    key = signing_keys.active_key("checkpoint")
    mistyped = jwt.api_jws.encode(PAYLOAD, key.private, "ES256", {"kid": key.kid, "typ": TYP["snapshot"]})
    assert not verify("snapshot", mistyped).signature_ok
    assert not verify("checkpoint", mistyped).signature_ok


def test_every_changed_byte_is_seen():
    text = sign("snapshot", PAYLOAD, TYP["snapshot"])
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    for place, letter in enumerate(text):
        changed = alphabet[alphabet.index(letter) ^ 1] if letter != "." else "A"
        altered = text[:place] + changed + text[place + 1 :]
        found = verify("snapshot", altered)
        assert (found.signature_ok, found.payload) == (False, None), place


@pytest.mark.parametrize(
    "text",
    ["", ".", "..", "a.b", "a.b.c", "a.b.c.d", "é.é.é", "\0", "a b.c.d", "=.=.=", "A" * 100_000, "[" * 9000 + ".A.A"],
)
def test_what_is_no_signature_is_refused_without_an_error(text):
    assert verify("snapshot", text) == signatures.Verified(False)


def _forged(header, *, private, payload=PAYLOAD, algorithm="ES256"):
    return jwt.api_jws.encode(payload, private, algorithm, header)


def test_another_spelling_is_another_text():
    text = sign("snapshot", PAYLOAD, TYP["snapshot"])
    head, payload, signature = text.split(".")

    for altered in (
        f"{text}=",
        f" {text}",
        f"{text}\n",
        f"{head}=.{payload}.{signature}",
        f"{head}.{payload}\n.{signature}",
    ):
        assert not verify("snapshot", altered).signature_ok
    assert verify("snapshot", text).signature_ok


def test_algorithms_of_the_callers_choice_are_refused():
    key = signing_keys.active_key("snapshot")
    header = {"kid": key.kid, "typ": TYP["snapshot"]}
    public = key.public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    unsigned = b64(json.dumps({**header, "alg": "none"}).encode()) + "." + b64(PAYLOAD) + "."
    import hashlib
    import hmac

    head = b64(json.dumps({**header, "alg": "HS256"}).encode()) + "." + b64(PAYLOAD)
    by_public = head + "." + b64(hmac.new(public, head.encode(), hashlib.sha256).digest())

    for text in (unsigned, unsigned + "AA", by_public, by_public.replace("HS256", "ES256")):
        found = verify("snapshot", text)
        assert (found.signature_ok, found.payload) == (False, None)


def test_keys_that_a_header_brings_along_are_ignored(monkeypatch):
    import socket

    def no_way_out(*_, **__):
        raise AssertionError("something was fetched")

    signing_keys.active_key("snapshot")
    monkeypatch.setattr(socket, "getaddrinfo", no_way_out)
    own = ec.generate_private_key(ec.SECP256R1())
    public = jwk.ECKey.import_key(own).as_dict(private=False)
    ours = signing_keys.active_key("snapshot").kid
    for more in (
        {"jku": "https://attacker.example/keys"},
        {"x5u": "https://attacker.example/cert"},
        {"jwk": public},
        {"x5c": ["AAAA"]},
    ):
        for kid in (ours, "of-the-attacker"):
            text = _forged({"kid": kid, "typ": TYP["snapshot"], **more}, private=own)
            assert not verify("snapshot", text).signature_ok
    good = signing_keys.active_key("snapshot")
    told = _forged({"kid": good.kid, "typ": TYP["snapshot"], "jku": "https://x.example"}, private=good.private)
    assert verify("snapshot", told).signature_ok


@pytest.mark.parametrize(
    "header",
    [
        {"crit": ["exp"], "exp": 1},
        {"crit": ["b64"], "b64": True},
        {"crit": []},
        {"b64": False},
        {"typ": "JWT"},
        {"typ": "PRESCRIPTION-SNAPSHOT+JWS"},
        {"typ": None},
        {"kid": 7},
        {"kid": ""},
        {"alg": "es256"},
        {"alg": ["ES256"]},
    ],
)
def test_a_header_must_be_exactly_ours(header):
    key = signing_keys.active_key("snapshot")
    told = {"alg": "ES256", "kid": key.kid, "typ": TYP["snapshot"], **header}
    from jwt.algorithms import ECAlgorithm

    text = b64(json.dumps(told).encode()) + "." + b64(PAYLOAD)
    text += "." + b64(ECAlgorithm(ECAlgorithm.SHA256).sign(text.encode(), key.private))

    assert not verify("snapshot", text).signature_ok


def test_a_member_named_twice_is_refused():
    key = signing_keys.active_key("snapshot")
    from jwt.algorithms import ECAlgorithm

    raw = f'{{"alg":"ES256","typ":"x","typ":"{TYP["snapshot"]}","kid":"{key.kid}"}}'
    text = b64(raw.encode()) + "." + b64(PAYLOAD)
    text += "." + b64(ECAlgorithm(ECAlgorithm.SHA256).sign(text.encode(), key.private))

    assert verify("snapshot", text) == signatures.Verified(False)


def test_signing_costs_no_query_once_the_key_is_known(django_assert_num_queries):
    (rows,) = pipeline.run([signing_key_call("snapshot")])
    kid = signing_key_of(rows) or signing_keys.active_key("snapshot").kid
    sign("snapshot", PAYLOAD, TYP["snapshot"], kid=kid)
    signing_keys._cache.ring = signing_keys._Ring(
        active=signing_keys._cache.ring.active, keys=signing_keys._cache.ring.keys, read_at=float("-inf")
    )

    with django_assert_num_queries(0):
        text = sign("snapshot", PAYLOAD, TYP["snapshot"], kid=kid)

    assert header_of(text)["kid"] == kid


@pytest.mark.parametrize("purpose", ES)
def test_rotation_keeps_the_public_half_and_drops_the_private_one(purpose):
    before = sign(purpose, PAYLOAD, TYP[purpose])
    old = header_of(before)["kid"]

    rotated = command("--purpose", purpose, "--now")

    after = sign(purpose, PAYLOAD, TYP[purpose])
    assert rotated == {
        "kid": header_of(after)["kid"],
        "purpose": purpose,
        "rotated": True,
        "published": [key.kid for key in published(purpose)],
    }
    assert old != rotated["kid"] == rotated["published"][0]
    row = SigningKey.objects.get(pk=old)
    assert (row.status, row.sealed_pem) == ("retired", None)
    later = signing_keys.retire_expired(at=now() + timedelta(days=4000))
    assert later == 0
    found = verify(purpose, before)
    assert (found.signature_ok, found.payload, found.retired_at) == (True, PAYLOAD, row.retired_at)
    assert {old, rotated["kid"]} <= {key["kid"] for key in key_set().json()["keys"]}


def test_rotation_of_one_purpose_leaves_the_others():
    before = {purpose: signing_keys.active_key(purpose).kid for purpose in KeyPurpose.values}

    command("--purpose", "checkpoint", "--now")

    after = {purpose: signing_keys.active_key(purpose).kid for purpose in KeyPurpose.values}
    assert [purpose for purpose in before if before[purpose] != after[purpose]] == ["checkpoint"]


def test_a_process_that_cached_the_former_key_notices_in_the_trip_of_its_write():
    old = signing_keys.active_key("snapshot")
    stale = signing_keys._cache.ring
    command("--purpose", "snapshot", "--now")
    signing_keys._cache.ring = stale  # what another process still holds

    (rows,) = pipeline.run([signing_key_call("snapshot")])
    text = sign("snapshot", PAYLOAD, TYP["snapshot"], kid=signing_key_of(rows))

    assert header_of(text)["kid"] == signing_key_of(rows) != old.kid


@pytest.fixture
def listed():
    signatures.register_signatures("snapshot", lambda kid: [{"prescription_id": "p1", "kid": kid}])
    yield
    signatures._listers.pop("snapshot")


def test_a_compromised_key_is_replaced_marked_and_unpublished(listed):
    text = sign("snapshot", PAYLOAD, TYP["snapshot"])
    leaked = header_of(text)["kid"]

    told = command("--purpose", "snapshot", f"--compromised={leaked}")

    assert (told["rotated"], told["compromised"], told["signed_count"]) == (True, leaked, 1)
    assert told["signed"] == [{"prescription_id": "p1", "kid": leaked}]
    row = SigningKey.objects.get(pk=leaked)
    assert (row.status, row.sealed_pem) == ("retired", None)
    assert row.compromised_at == row.retired_at
    assert leaked not in {key["kid"] for key in key_set().json()["keys"]}
    found = verify("snapshot", text)
    assert (found.signature_ok, found.compromised_at) == (True, row.compromised_at)
    again = command("--purpose", "snapshot", f"--compromised={leaked}")
    assert (again["rotated"], again["compromised_at"]) == (False, told["compromised_at"])


def test_without_a_list_the_command_says_so(monkeypatch):
    monkeypatch.delitem(signatures._listers, "checkpoint")  # as in a service without the app that registers it
    kid = signing_keys.active_key("checkpoint").kid

    told = command("--purpose", "checkpoint", f"--compromised={kid}")

    assert told["signed"] is None
    assert told["note"] == "No app of this service lists what keys for checkpoint sign."


def test_a_key_of_another_purpose_is_not_marked():
    kid = signing_keys.active_key("checkpoint").kid

    with pytest.raises(CommandError, match="unknown_signing_key"):
        command("--purpose", "snapshot", f"--compromised={kid}")

    assert SigningKey.objects.get(pk=kid).compromised_at is None


def test_tokens_of_a_compromised_key_stop_at_once():
    kid = signing_keys.active_key().kid

    told = command(f"--compromised={kid}")

    assert (told["rotated"], told["signed"]) == (True, None)
    assert signing_keys.verifying_key(kid) is None
    assert kid not in told["published"]


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM organizations_signingkey WHERE kid = %s",
        "UPDATE organizations_signingkey SET public_pem = 'x' WHERE kid = %s",
        "UPDATE organizations_signingkey SET purpose = 'checkpoint' WHERE kid = %s",
        "UPDATE organizations_signingkey SET created_at = created_at - interval '1 day' WHERE kid = %s",
        "UPDATE organizations_signingkey SET status = 'active' WHERE kid = %s",
        "UPDATE organizations_signingkey SET retired_at = NULL WHERE kid = %s",
        "UPDATE organizations_signingkey SET compromised_at = NULL WHERE kid = %s",
        "UPDATE organizations_signingkey SET sealed_pem = 'x' WHERE kid = %s",
    ],
)
def test_the_database_keeps_what_is_known_of_a_key(change):
    kid = signing_keys.active_key("snapshot").kid
    command("--purpose", "snapshot", f"--compromised={kid}")
    before = SigningKey.objects.filter(pk=kid).values().get()

    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change, [kid])

    assert SigningKey.objects.filter(pk=kid).values().get() == before


def test_one_key_is_active_for_each_purpose():
    signing_keys.ensure_keys()

    with pytest.raises(DatabaseError), transaction.atomic():
        SigningKey.objects.create(kid="second", purpose="snapshot", algorithm="ES256", status="active", public_pem="x")


def test_the_key_set_may_be_cached_as_that_of_tokens():
    ours, theirs = key_set(), Api().get("/oauth/.well-known/jwks.json")

    for name in ("Cache-Control", "Access-Control-Allow-Origin", "Content-Type"):
        assert ours.headers[name] == theirs.headers[name]
    assert {key["alg"] for key in theirs.json()["keys"]} == {"RS256"}
    assert {key["alg"] for key in ours.json()["keys"]} == {"ES256"}


def test_a_new_tenant_finds_keys_of_every_purpose():
    provision()

    active = SigningKey.objects.filter(status="active").values_list("purpose", flat=True)
    assert sorted(active) == sorted(KeyPurpose.values)


def _without_active_keys():
    """Leave the platform without an active snapshot key, as a new one is."""
    SigningKey.objects.filter(purpose="snapshot", status="active").update(
        status="retired", retired_at=now(), sealed_pem=None
    )
    signing_keys.forget_cached_keys()


def test_the_first_key_outlives_the_transaction_in_which_it_was_needed():
    _without_active_keys()

    with pytest.raises(RuntimeError, match="rolled back"), transaction.atomic():
        text = sign("snapshot", PAYLOAD, TYP["snapshot"])
        raise RuntimeError("rolled back")

    signing_keys.forget_cached_keys()
    assert verify("snapshot", text).signature_ok


def test_two_processes_make_one_first_key():
    _without_active_keys()
    script = (
        "import django; django.setup()\n"
        "from organizations.public import sign\n"
        "print(sign('snapshot', b'x', 'prescription-snapshot+jws'))"
    )
    both = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    texts = [one.communicate(timeout=60)[0].strip() for one in both]

    assert [one.returncode for one in both] == [0, 0]
    kids = {header_of(text)["kid"] for text in texts}
    assert kids == {SigningKey.objects.get(purpose="snapshot", status="active").kid}
    assert all(verify("snapshot", text).signature_ok for text in texts)


def test_rotation_during_use_loses_no_signature():
    def signing():
        return [sign("snapshot", PAYLOAD, TYP["snapshot"]) for _ in range(150)]

    def rotating():
        for _ in range(5):
            with transaction.atomic():
                signing_keys.rotate(at=now(), purpose="snapshot")
        return []

    found = race(signing, rotating, signing, rotating, signing)

    assert not [one for one in found if isinstance(one, Exception)]
    texts = [text for one in found for text in one]
    signing_keys.forget_cached_keys()
    assert all(verify("snapshot", text).payload == PAYLOAD for text in texts)
    assert SigningKey.objects.filter(purpose="snapshot", status="active").count() == 1
