"""An event goes to the endpoints that wanted it when it happened, however late it is matched; endpoints fill their quota."""

from uuid import uuid4

import pytest
from django.db import transaction

from core.clock import now
from core.db import tenant_context
from organizations.actions.entitlements import Terms, grant_plan
from organizations.models import Quota
from tests.webhooks.worlds import drain
from webhooks.models import Delivery, DueDelivery, Endpoint, NewEvent, Subscription

PRODUCTS = ["product.*"]


def test_endpoint_gets_nothing_of_before_it_was_made(world, receiver):
    world.record()
    early = world.rows(NewEvent)
    made = world.endpoint(receiver.url, events=PRODUCTS)
    world.record()
    drain()
    (delivery,) = world.rows(Delivery)
    assert str(delivery.endpoint_id) == made["id"]
    assert delivery.event_id not in {row.id for row in early}


def test_changed_patterns_hold_from_the_change_on(world, receiver):
    made = world.endpoint(receiver.url, events=PRODUCTS)
    path = f"/v1/webhooks/{made['id']}"
    first = world.record()
    assert world.api.patch(path, json={"events": ["api_key.*"]}).status_code == 200
    second = world.record()
    assert world.api.patch(path, json={"events": ["*"]}).status_code == 200
    third = world.record()
    drain()
    told = [arrival.event()["data"]["object"]["id"] for arrival in receiver.received]
    assert str(first) in told
    assert str(second) not in told
    assert str(third) in told


def test_event_of_an_active_time_waits_for_its_endpoint(world, receiver):
    """Disabled since then, the endpoint gets it once it is enabled; what happened meanwhile it does not get."""
    made = world.endpoint(receiver.url, events=PRODUCTS)
    path = f"/v1/webhooks/{made['id']}"
    before = world.record()
    assert world.api.patch(path, json={"active": False}).status_code == 200
    meanwhile = world.record()
    drain()
    assert [row.state for row in world.rows(Delivery)] == ["pending"]
    assert world.rows(DueDelivery) == []
    assert world.api.patch(path, json={"active": True}).status_code == 200
    drain()
    told = [arrival.event()["data"]["object"]["id"] for arrival in receiver.received]
    assert told == [str(before)]
    assert str(meanwhile) not in told


def test_deleted_endpoint_gets_nothing_of_its_time(world, receiver):
    made = world.endpoint(receiver.url, events=PRODUCTS)
    world.record()
    assert world.api.delete(f"/v1/webhooks/{made['id']}").status_code == 204
    drain()
    assert world.rows(Delivery) == []
    assert receiver.received == []


def test_subscriptions_that_no_event_can_need_are_dropped(world):
    made = world.endpoint("http://127.0.0.1:9/", events=PRODUCTS)
    drain()
    with tenant_context(world.tenant.id):
        Subscription.objects.filter(tenant_id=world.tenant.id).update(begins_at="2026-01-01T00:00:00Z")
    path = f"/v1/webhooks/{made['id']}"
    for events in (["api_key.*"], PRODUCTS, ["api_key.*"]):
        assert world.api.patch(path, json={"events": events}).status_code == 200
    with tenant_context(world.tenant.id):
        mine = Subscription.objects.filter(tenant_id=world.tenant.id)
        assert mine.count() == 4, "events of the last minutes may still come"
        mine.filter(ends_at__isnull=False).update(begins_at="2026-01-01T00:00:00Z", ends_at="2026-01-02T00:00:00Z")
    drain()
    assert world.api.patch(path, json={"events": PRODUCTS}).status_code == 200
    with tenant_context(world.tenant.id):
        rows = Subscription.objects.filter(tenant_id=world.tenant.id).order_by("begins_at")
        assert [row.events for row in rows] == [["api_key.*"], PRODUCTS]
        assert [row.ends_at is None for row in rows] == [False, True]


def limited(world, limit):
    with transaction.atomic():
        grant_plan(tenant=world.tenant, plan="standard", at=now(), terms=Terms(limits={"webhook_endpoints": limit}))


def used(world):
    with tenant_context(world.tenant.id):
        return Quota.objects.get(tenant_id=world.tenant.id, key="webhook_endpoints").used


def test_endpoints_fill_their_quota_and_give_it_back(world):
    limited(world, 2)
    first, _ = (world.endpoint(f"https://hooks.example.com/{uuid4()}") for _ in range(2))
    assert used(world) == 2
    refused = world.api.post("/v1/webhooks", json={"url": "https://hooks.example.com/x", "events": ["*"]})
    assert (refused.status_code, refused.json()["code"]) == (403, "quota_exceeded")
    assert (refused.json()["quota"], refused.json()["limit"], refused.json()["used"]) == ("webhook_endpoints", 2, 2)
    assert len(world.rows(Endpoint)) == 2
    assert world.api.delete(f"/v1/webhooks/{first['id']}").status_code == 204
    assert used(world) == 1
    world.endpoint("https://hooks.example.com/again")
    assert used(world) == 2


@pytest.mark.parametrize("active", [True, False])
def test_disabling_an_endpoint_keeps_its_place(world, active):
    made = world.endpoint("https://hooks.example.com/x")
    world.api.patch(f"/v1/webhooks/{made['id']}", json={"active": active})
    assert used(world) == 1
