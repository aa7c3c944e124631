"""What staff do for a tenant's webhooks: see what was sent, know when a resting endpoint is tried, test it, rotate its key."""

import html
from datetime import timedelta

import pytest
from django.urls import reverse

from bench.receiver import Receiver
from core.clock import now
from core.db import tenant_context
from ledger.models import Event as Fact
from tests.admin.people import REASON, act_in, signed_in
from tests.webhooks.worlds import drain, new_world
from webhooks import states
from webhooks.envelope import message_id
from webhooks.models import Delivery, EndpointHealth, Secret

PREFIX = "/admin/webhooks"


@pytest.fixture(autouse=True)
def loopback(settings):
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = True


@pytest.fixture
def receiver():
    with Receiver() as found:
        yield found


@pytest.fixture
def office():
    world = new_world()
    browser = signed_in()
    act_in(browser, world.tenant)
    return world, browser


def page(browser, path):
    answer = browser.get(f"{PREFIX}/{path}")
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def facts_of(tenant, kind):
    with tenant_context(tenant.id):
        return list(Fact.objects.filter(tenant_id=tenant.id, type=kind))


def test_delivery_shows_what_was_sent(office, receiver):
    world, browser = office
    world.endpoint(receiver.url, events=["product.*"])
    world.record()
    drain()
    with tenant_context(world.tenant.id):
        delivery = Delivery.objects.get(tenant_id=world.tenant.id)
    text = page(browser, f"delivery/{delivery.pk}/change/")
    assert f"POST {receiver.url}" in text
    for name, value in (("webhook-id", message_id(delivery.event_id)), ("content-type", "application/json")):
        assert receiver.received[0].headers[name] == value
        assert f"{name}: {value}" in text
    assert '"type": "product.created"' in text
    assert "webhook-signature: of each attempt" in text


def test_delivery_says_when_its_resting_endpoint_is_tried(office, receiver):
    world, browser = office
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    world.record()
    drain()
    until = now() + timedelta(minutes=7)
    with tenant_context(world.tenant.id):
        delivery = Delivery.objects.get(tenant_id=world.tenant.id)
        EndpointHealth.objects.update_or_create(
            endpoint_id=endpoint["id"],
            tenant_id=world.tenant.id,
            defaults={"circuit_state": states.OPEN, "circuit_until": until, "consecutive_failures": 9},
        )
    text = page(browser, f"delivery/{delivery.pk}/change/")
    assert "a trial goes out in 6 min 5" in text
    assert f"{until:%Y-%m-%d %H:%M:%S} UTC" in text


def test_test_event_is_sent_after_the_transaction_and_told(office, receiver):
    world, browser = office
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    path = reverse("admin:webhooks_endpoint_button", args=[endpoint["id"], "test"])
    answer = browser.post(path, {"type": "product.created", "reason": REASON}, follow=True)
    assert answer.status_code == 200
    (got,) = receiver.received
    assert got.event()["test"] is True
    assert f"Test event {got.headers['webhook-id']}: answered 200" in html.unescape(answer.content.decode())


def test_rotated_secret_is_shown_once_and_signs(office, receiver):
    world, browser = office
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    path = reverse("admin:webhooks_endpoint_button", args=[endpoint["id"], "rotate"])
    answer = browser.post(path, {"overlap_hours": 0, "reason": REASON})
    assert answer.status_code == 200
    assert "no-store" in answer.headers["Cache-Control"]
    text = html.unescape(answer.content.decode())
    secret = text.split('id="shown"')[1].split(">", 1)[1].split("<")[0]
    assert secret.startswith("whsec_")
    assert secret not in page(browser, f"endpoint/{endpoint['id']}/change/")
    (fact,) = facts_of(world.tenant, "webhook_secret.rotated") or facts_of(
        world.tenant, "webhook_endpoint.secret_rotated"
    )
    assert secret not in str(fact.data)
    assert [one.data["reason"] for one in facts_of(world.tenant, "staff_action.performed")] == [REASON]
    with tenant_context(world.tenant.id):
        assert Secret.objects.filter(tenant_id=world.tenant.id, endpoint_id=endpoint["id"]).count() == 2
    world.record()
    drain()
    (got,) = receiver.received
    assert got.verified_by([secret])
