"""Signatures, judged by the library receivers use."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

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
    return signing.headers(keys, message_id=message_id, at=at or datetime.now(UTC), body=body)


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
