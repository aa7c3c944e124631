"""The exact bytes of an envelope."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from webhooks import envelope

EVENT = UUID("0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b90")
TENANT = UUID("0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b91")
THING = UUID("0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b92")


def message(**payload):
    thing = envelope.Thing("product", THING, 7, "/v1/products/{id}")
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    return envelope.Message(
        id=EVENT, type="product.updated", tenant_id=TENANT, at=at, request_id="r-1", thing=thing, payload=payload
    )


def test_write_is_byte_for_byte_the_contract():
    written = envelope.write(message(status="active", previous={"status": "draft"}), sequence=42)
    assert written == (
        b'{"id":"evt_0199f2c05b1e7c3a9d440a6c2f1e8b90","type":"product.updated","api_version":"2026-01-01",'
        b'"timestamp":"2026-01-01T12:00:00.000Z","tenant_id":"0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b91",'
        b'"sequence":"000000000000042","request_id":"r-1","test":false,"data":{"object":{"type":"product",'
        b'"id":"0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b92","status":"active","version":7,'
        b'"href":"/v1/products/0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b92"},"previous":{"status":"draft"}}}'
    )


def test_payload_cannot_change_what_the_event_is_about():
    written = envelope.write(message(type="other", id="other", version=0, href="x"), sequence=1)
    assert b'"object":{"type":"product","id":"0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b92","version":7,"href":"/v1' in written


def test_message_id_has_no_dot():
    assert "." not in envelope.message_id(EVENT)


def test_split_refuses_more_than_64_kib():
    with pytest.raises(envelope.EnvelopeTooLarge):
        envelope.split(message(status="x" * 65_536))
