"""Deliveries judged by the npm package `standardwebhooks` and by node's own Ed25519, as most receivers would."""

from dataclasses import replace
from uuid import UUID

import pytest
from django.db import transaction

from bench import javascript
from core.clock import now
from core.db import bind_tenant
from core.ids import uuid7
from suppliers.catalog.events import ProductCreated
from tests.webhooks.worlds import drain
from webhooks import sealing, signing
from webhooks.models import Secret


@pytest.fixture
def judge():
    """The library, installed into `.local` where npm is there and reaches its registry."""
    try:
        javascript.installed()
    except javascript.Unavailable as reason:
        pytest.skip(str(reason))
    return javascript.verdicts


def test_deliveries_are_verified_by_the_javascript_library(world, receiver, judge):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    world.record()
    world.record(event=ProductCreated(supplier_sku="Größe é ✓ \N{PILL} \u2028 </script>", status="active"))
    drain()
    rotated = world.api.post(f"/v1/webhooks/{endpoint['id']}/rotate-secret", json={"overlap_seconds": 60})
    world.record()
    drain()
    arrivals = receiver.received
    assert len(arrivals) == 3
    assert judge(arrivals, [endpoint["secret"]]) == [True] * 3
    assert judge(arrivals, [rotated.json()["data"]["secret"]]) == [False, False, True]


def test_requests_that_were_altered_are_refused_by_the_javascript_library(world, receiver, judge):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    world.record()
    drain()
    (arrival,) = receiver.received
    altered = [
        replace(arrival, body=arrival.body + b" "),
        replace(arrival, headers={**arrival.headers, "webhook-id": "evt_other"}),
        replace(arrival, headers={**arrival.headers, "webhook-timestamp": str(int(arrival.at) + 1)}),
        replace(arrival, at=arrival.at + 600),
    ]
    assert judge([arrival, *altered], [endpoint["secret"]]) == [True, False, False, False, False]
    assert judge([arrival], [signing.write_secret(signing.new_key())]) == [False]


def test_deliveries_with_a_private_key_are_verified_by_node(world, receiver, judge):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    key = signing.new_signing_key()
    add_key(world, UUID(endpoint["id"]), key)
    world.record()
    drain()
    (arrival,) = receiver.received
    altered = replace(arrival, body=arrival.body + b" ")
    assert judge([arrival, altered], [signing.public_key_text(key)]) == [True, False]
    assert judge([arrival], [signing.public_key_text(signing.new_signing_key())]) == [False]
    assert judge([arrival], [endpoint["secret"]]) == [True]


def add_key(world, endpoint_id, key):
    """Sign with a private key too."""
    secret_id = uuid7()
    with transaction.atomic():
        bind_tenant(world.tenant.id)
        Secret.objects.create(
            id=secret_id,
            tenant_id=world.tenant.id,
            endpoint_id=endpoint_id,
            kind=signing.ED25519,
            sealed_key=sealing.seal_key(key, endpoint_id=endpoint_id, secret_id=secret_id),
            created_at=now(),
            updated_at=now(),
        )
