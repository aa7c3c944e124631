"""Signatures, judged by the library receivers use, and those it does not know by a verifier of our own."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tests.webhooks import ed25519
from webhooks import signing

BODY = '{"id":"evt_1","n":"é✓","x":1.10}'.encode()
ID = "evt_0199f2c05b1e7c3a9d440a6c2f1e8b90"


def accepts(secret, headers, body=BODY):
    try:
        Webhook(secret).verify(body, dict(headers))
    except WebhookVerificationError:
        return False
    return True


def signed(*keys, at=None, message_id=ID, body=BODY):
    kept = [key if isinstance(key, signing.SigningKey) else signing.SigningKey(signing.HMAC, key) for key in keys]
    return signing.headers(kept, message_id=message_id, at=at or datetime.now(UTC), body=body)


def holds(public_text, headers, body=BODY):
    """Verify as a receiver with the `whpk_` text would: at least one `v1a` signature fits."""
    public = base64.b64decode(public_text.removeprefix("whpk_"))
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    kinds = [part.split(",", 1) for part in headers["webhook-signature"].split(" ")]
    return any(ed25519.verify(public, content, base64.b64decode(text)) for kind, text in kinds if kind == "v1a")


def test_headers_are_verified_by_standardwebhooks():
    key = signing.new_key()
    assert accepts(signing.write_secret(key), signed(key))


def test_headers_during_rotation_satisfy_old_and_new_secret():
    old, new, other = signing.new_key(), signing.new_key(), signing.new_key()
    headers = signed(new, old)
    assert len(headers["webhook-signature"].split(" ")) == 2
    assert accepts(signing.write_secret(new), headers)
    assert accepts(signing.write_secret(old), headers)
    assert not accepts(signing.write_secret(other), headers)


def test_headers_of_another_message_are_refused():
    key = signing.new_key()
    secret, headers = signing.write_secret(key), signed(key)
    assert not accepts(secret, headers, BODY + b" ")
    assert not accepts(secret, headers | {"webhook-id": "evt_other"})
    assert not accepts(secret, headers | {"webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)})


@pytest.mark.parametrize(("minutes", "expected"), [(-6, False), (-4, True), (4, True), (6, False)])
def test_headers_age_is_judged_by_the_timestamp(minutes, expected):
    key = signing.new_key()
    headers = signed(key, at=datetime.now(UTC) + timedelta(minutes=minutes))
    assert accepts(signing.write_secret(key), headers) is expected


def test_write_secret_holds_32_bytes_and_reads_back():
    key = signing.new_key()
    secret = signing.write_secret(key)
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert signing.read_secret(secret) == key


@pytest.mark.parametrize("secret", ["whsec_", "whsec_%%%", "whsec_" + base64.b64encode(b"x" * 23).decode()])
def test_read_secret_refuses_what_is_no_key(secret):
    with pytest.raises(ValueError):
        signing.read_secret(secret)


def test_headers_of_a_private_key_are_verified_by_its_public_key():
    key, other = signing.new_signing_key(), signing.new_signing_key()
    headers = signed(signing.SigningKey(signing.ED25519, key))
    assert headers["webhook-signature"].startswith("v1a,")
    assert holds(signing.public_key_text(key), headers)
    assert not holds(signing.public_key_text(other), headers)
    assert not holds(signing.public_key_text(key), headers, BODY + b" ")
    assert not holds(signing.public_key_text(key), headers | {"webhook-id": "evt_other"})
    assert not holds(signing.public_key_text(key), headers | {"webhook-timestamp": "1"})


def test_headers_during_a_change_of_kind_satisfy_both_receivers():
    private, shared = signing.new_signing_key(), signing.new_key()
    headers = signed(signing.SigningKey(signing.ED25519, private), signing.SigningKey(signing.HMAC, shared))
    assert [part.split(",")[0] for part in headers["webhook-signature"].split(" ")] == ["v1a", "v1"]
    assert holds(signing.public_key_text(private), headers)
    assert accepts(signing.write_secret(shared), headers)


def test_headers_with_a_key_of_an_unknown_kind_are_not_made():
    with pytest.raises(KeyError):
        signed(signing.SigningKey("rsa", signing.new_key()))


def test_key_texts_are_those_of_the_standard():
    """Source: RFC 8032 section 7.1, test 1, in the prefixes of Standard Webhooks."""
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    assert signing.public_key_text(seed) == "whpk_" + base64.b64encode(public).decode()
    assert signing.signing_key_text(seed) == "whsk_" + base64.b64encode(seed + public).decode()
    assert signing.read_signing_key(signing.signing_key_text(seed)) == seed
    assert signing.read_signing_key("whsk_" + base64.b64encode(seed).decode()) == seed


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33, b"x" * 64, b"x" * 65])
def test_read_signing_key_refuses_what_is_no_key(content):
    with pytest.raises(ValueError):
        signing.read_signing_key("whsk_" + base64.b64encode(content).decode())


def test_verifier_of_these_tests_follows_the_standard():
    """Source: RFC 8032 section 7.1, test 2."""
    public = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    signature = bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    assert ed25519.verify(public, b"\x72", signature)
    assert not ed25519.verify(public, b"\x73", signature)
    assert not ed25519.verify(public, b"\x72", signature[:-1] + b"\x01")
