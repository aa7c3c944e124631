"""Signatures of snapshots and checkpoints: checked with public libraries, refused when altered."""

import json

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from joserfc import jwk, jws

from core import pipeline
from organizations import signatures, signing_keys
from organizations.models import SigningKey
from organizations.public import sign, signing_key_call, signing_key_of, verify
from tests.organizations.signatures.ring import ES, PAYLOAD, TYP, b64, header_of, key_set


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
