"""From a committed fact to a verified request at a receiver, through the real database and dispatcher."""

import os
import signal
import sys
import time
from itertools import pairwise
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from bench.receiver import Receiver, Reply
from core.clock import now
from core.db import bind_tenant
from ledger import public as ledger
from organizations.models import Tenant
from suppliers.catalog.events import ProductCreated, ProductDeleted
from tests.conftest import part
from tests.webhooks.test_javascript import add_key
from tests.webhooks.test_signing import holds
from tests.webhooks.worlds import drain, new_world
from webhooks import dispatcher, signing, states
from webhooks.models import Attempt, Delivery, DueDelivery, Event, NewEvent, Secret


class Fault(Exception):
    """Thrown by a test inside a transaction."""


def test_committed_fact_arrives_signed_and_thin(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.created"])
    product = world.record(version=3)
    world.record(event=ProductDeleted(supplier_sku="GLOVE-M"))
    drain()
    (arrival,) = receiver.received
    assert arrival.verified_by([endpoint["secret"]])
    event = arrival.event()
    assert arrival.message_id == event["id"]
    assert (event["type"], event["tenant_id"], event["request_id"]) == (
        "product.created",
        str(world.tenant.id),
        "request-1",
    )
    assert event["data"]["object"] == {
        "type": "product", "id": str(product), "supplier_sku": "GLOVE-M", "status": "active", "version": 3,
        "href": f"/v1/products/{product}",
    }  # fmt: skip
    assert arrival.headers["user-agent"].startswith("HealthcarePlatform-Webhooks/")
    (delivery,) = world.deliveries(endpoint)
    assert (delivery["event_id"], delivery["state"], delivery["attempts"], delivery["last_status"]) == (
        event["id"], "delivered", 1, 200,
    )  # fmt: skip
    assert delivery["delivered_at"]
    assert delivery["next_attempt_at"] is None
    (attempt,) = delivery["attempt_log"]
    assert (attempt["number"], attempt["status"], attempt["error"], attempt["response_excerpt"]) == (1, 200, None, "ok")
    assert world.rows(NewEvent) == []


def test_rolled_back_fact_leaves_no_ghost(world, receiver):
    world.endpoint(receiver.url, events=["product.*"])
    before = len(world.rows(Event))

    def work():
        with transaction.atomic():
            bind_tenant(world.tenant.id)
            fact = ProductCreated(supplier_sku="A", status="draft")
            ledger.record(actor=world.actor, event=fact, resource_id=world.tenant.id, at=now())
            raise Fault

    with pytest.raises(Fault):
        work()
    drain()
    assert receiver.received == []
    assert len(world.rows(Event)) == before


def test_sequence_counts_per_resource(world, receiver):
    world.endpoint(receiver.url, events=["product.*"])
    one, other = world.record(), world.record()
    world.record(one)
    drain()
    places = [(a.event()["data"]["object"]["id"], a.event()["sequence"]) for a in receiver.received]
    assert sorted(places) == sorted(
        [(str(one), "000000000000001"), (str(one), "000000000000002"), (str(other), "000000000000001")]
    )


def test_facts_of_one_trip_are_numbered_in_their_order(world, receiver):
    world.endpoint(receiver.url, events=["product.*"])
    one, other = world.record(), uuid4()
    facts = [(one, "A"), (other, "B"), (one, "C"), (one, "D"), (other, "E")]
    told = [ledger.Occurrence(ProductDeleted(supplier_sku=sku), key, 1) for key, sku in facts]
    with transaction.atomic():
        bind_tenant(world.tenant.id)
        ledger.record_many(actor=world.actor, occurrences=told, at=now())
    world.record(one)
    drain()

    events = [arrival.event() for arrival in receiver.received]
    by_number = sorted((one["data"]["object"]["id"], int(one["sequence"]), one["type"]) for one in events)
    deleted, created = "product.deleted", "product.created"
    assert by_number == sorted(
        [(str(one), 1, created), *((str(one), number, deleted) for number in (2, 3, 4)), (str(one), 5, created)]
        + [(str(other), number, deleted) for number in (1, 2)]
    )
    skus = {
        (one["data"]["object"]["id"], int(one["sequence"])): one["data"]["object"]["supplier_sku"] for one in events
    }
    assert [skus[str(one), number] for number in (2, 3, 4)] == ["A", "C", "D"]
    assert [skus[str(other), number] for number in (1, 2)] == ["B", "E"]
    assert [row.sequence for row in world.rows(Event, resource_id=one)] == [1, 2, 3, 4, 5]


def test_other_tenants_endpoint_hears_nothing(world, receiver):
    new_world().endpoint(receiver.url)
    world.record()
    drain()
    assert receiver.received == []


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (["product.created"], 1),
        (["product.*"], 2),
        (["*"], 2),
        (["product.*", "*"], 2),
        (["product.deleted"], 1),
        (["api_key.*"], 0),
    ],
)
def test_fan_out_matches_like_patterns(world, receiver, events, expected):
    world.endpoint(receiver.url, events=events)
    world.record()
    world.record(event=ProductDeleted(supplier_sku="A"))
    drain()
    assert len(receiver.received) == expected


def test_failed_delivery_is_retried_with_the_same_id_and_body(world):
    with Receiver(script=lambda arrival, number: Reply(status=500 if number < 3 else 204)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        world.record()
        drain()
        (delivery,) = world.deliveries(endpoint)
        assert (delivery["state"], delivery["attempts"], delivery["last_status"]) == ("retrying", 1, 500)
        (due,) = world.rows(DueDelivery)
        assert 3.5 < (due.due_at - now()).total_seconds() < 6
        for _ in range(2):
            world.make_due()
            drain()
        assert len({(a.message_id, a.body) for a in receiver.received}) == 1
        assert all(a.verified_by([endpoint["secret"]]) for a in receiver.received)
    (delivery,) = world.deliveries(endpoint)
    assert (delivery["state"], [a["status"] for a in delivery["attempt_log"]]) == ("delivered", [500, 500, 204])
    assert world.rows(DueDelivery) == []


def test_delivery_fails_when_the_schedule_is_used_up(world, settings):
    settings.WEBHOOKS_RETRY_SCHEDULE_SECONDS = [1]
    with Receiver(script=lambda arrival, number: Reply(status=404)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        world.record()
        drain()
        world.make_due()
        drain()
    (delivery,) = world.deliveries(endpoint)
    assert (delivery["state"], delivery["attempts"], delivery["delivered_at"]) == ("failed", 2, None)
    assert world.rows(DueDelivery) == []


@pytest.mark.alone
def test_retries_come_when_the_schedule_says(world, settings):
    steps = settings.WEBHOOKS_RETRY_SCHEDULE_SECONDS = [2, 3]
    with Receiver(script=lambda arrival, number: Reply(status=500)) as receiver:
        world.endpoint(receiver.url, events=["product.*"])
        world.record()
        end = time.monotonic() + 8
        pace = dispatcher.Pace(lease_seconds=20)
        dispatcher.run(dispatcher.dispatch(lambda _: time.monotonic() < end and len(receiver.received) < 3, pace=pace))
        times = [arrival.at for arrival in receiver.received]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) == 2
    # the spread of a fifth, and a moment until a dispatcher looks
    assert all(step * 0.8 <= gap <= step * 1.2 + 1 for step, gap in zip(steps, gaps, strict=True)), gaps


def test_gone_disables_the_endpoint_at_once(world):
    with Receiver(script=lambda arrival, number: Reply(status=410)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        world.record()
        drain()
        world.record()
        drain()
        assert len(receiver.received) == 1
    shown = world.api.get(f"/v1/webhooks/{endpoint['id']}").json()["data"]
    assert (shown["active"], shown["disabled_reason"]) == (False, "gone")
    assert [d["state"] for d in world.deliveries(endpoint)] == ["failed"]


def test_blocked_destination_fails_without_a_connection(world, receiver, settings):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = False
    world.record()
    drain()
    assert receiver.received == []
    (delivery,) = world.deliveries(endpoint)
    assert (delivery["state"], delivery["attempt_log"][0]["error"]) == ("failed", "blocked_destination")


def test_suspended_tenant_is_paused_and_resumed(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    Tenant.objects.filter(pk=world.tenant.id).update(status="suspended")
    world.record()
    drain()
    assert receiver.received == []
    assert [row.state for row in world.rows(Delivery)] == [states.PENDING]
    Tenant.objects.filter(pk=world.tenant.id).update(status="active")
    world.make_due()
    drain()
    assert len(receiver.received) == 1
    (delivery,) = world.deliveries(endpoint)
    assert (delivery["state"], delivery["attempts"]) == ("delivered", 1)


def test_disabling_freezes_and_enabling_resumes(world):
    with Receiver(script=lambda arrival, number: Reply(status=500 if number == 1 else 200)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        path = f"/v1/webhooks/{endpoint['id']}"
        world.record()
        drain()
        assert world.api.patch(path, json={"active": False}).status_code == 200
        assert world.rows(DueDelivery) == []
        world.record()
        drain()
        assert [d["state"] for d in world.deliveries(endpoint)] == ["retrying"]
        assert world.api.patch(path, json={"active": True}).json()["data"]["disabled_reason"] == ""
        world.make_due()
        drain()
        assert len(receiver.received) == 2
    assert [d["state"] for d in world.deliveries(endpoint)] == ["delivered"]


def test_deleting_ends_what_is_unfinished_and_keeps_history(world):
    with Receiver(script=lambda arrival, number: Reply(status=500)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        world.record()
        drain()
        assert world.api.delete(f"/v1/webhooks/{endpoint['id']}").status_code == 204
        world.record()
        drain()
        assert len(receiver.received) == 1
    (delivery,) = world.deliveries(endpoint)
    assert (delivery["state"], len(delivery["attempt_log"])) == ("failed", 1)
    assert world.rows(DueDelivery) == []
    assert all(secret.expires_at for secret in world.rows(Secret))


def test_endpoint_hears_of_others_but_never_of_itself(world, receiver):
    first = world.endpoint(receiver.url, events=["webhook_endpoint.*"])
    second = world.endpoint(receiver.url + "/2", events=["product.*"])
    drain()
    about = [(a.event()["type"], a.event()["data"]["object"]["id"]) for a in receiver.received]
    assert about == [("webhook_endpoint.created", second["id"])]
    assert first["id"] != second["id"]


def test_rotation_signs_with_both_keys_until_the_overlap_ends(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    path = f"/v1/webhooks/{endpoint['id']}/rotate-secret"
    rotated = world.api.post(path, json={"overlap_seconds": 3600}).json()["data"]["secret"]
    world.record()
    drain()
    latest = world.api.post(path, json={"overlap_seconds": 0}).json()["data"]["secret"]
    world.record()
    drain()
    during, after = receiver.received
    assert [during.verified_by([secret]) for secret in (endpoint["secret"], rotated)] == [True, True]
    assert [after.verified_by([secret]) for secret in (endpoint["secret"], rotated, latest)] == [False, False, True]


def test_delivery_is_signed_by_private_and_shared_keys_alike(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    key = signing.new_signing_key()
    add_key(world, UUID(endpoint["id"]), key)
    world.record()
    drain()
    (arrival,) = receiver.received
    assert arrival.verified_by([endpoint["secret"]])
    assert holds(signing.public_key_text(key), arrival.headers, arrival.body)


@pytest.mark.usefixtures("each_number_of_lanes")
def test_two_dispatchers_deliver_everything_once(world, receiver):
    from threading import Thread

    world.endpoint(receiver.url, events=["product.*"])
    for _ in range(60):
        world.record()
    threads = [Thread(target=drain) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [arrival.message_id for arrival in receiver.received]
    assert (len(ids), len(set(ids))) == (60, 60)
    assert world.rows(DueDelivery) == []


def test_killed_worker_is_made_good_when_its_lease_ends(world, service_environment, tmp_path):
    lease = 4
    replies = {1: Reply(delay_seconds=30)}
    with Receiver(script=lambda arrival, number: replies.get(number, Reply())) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        world.record()
        extra = {"WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS": "true", "WEBHOOKS_LEASE_SECONDS": str(lease)}
        command = [sys.executable, "manage.py", "webhooks_dispatch", "--forever"]
        with part(command, {**os.environ, **service_environment, **extra}, tmp_path) as child:
            assert len(receiver.wait(1)) == 1
            os.kill(child.process.pid, signal.SIGKILL)
            child.process.wait()
        drain()
        assert len(receiver.received) == 1, "the lease still holds"
        time.sleep(lease)
        drain()
        assert len(receiver.received) == 2
        assert len({arrival.message_id for arrival in receiver.received}) == 1
    (delivery,) = world.deliveries(endpoint)
    assert (delivery["state"], delivery["attempts"]) == ("delivered", 1)
    assert world.rows(Attempt)[0].number == 1
