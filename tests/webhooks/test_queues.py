"""The dispatcher's statements under trouble: late workers, vanished ones, disabled endpoints, a broken connection."""

import asyncio
import threading
import time
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection

from bench.receiver import Receiver, Reply, answers_after
from core.db import tenant_context
from core.lanes import lanes
from tests.webhooks.engine import lane_of, outcome, run_as_owner
from tests.webhooks.worlds import drain
from webhooks import states
from webhooks.models import Attempt, Delivery, DueDelivery, Endpoint, Secret
from webhooks.queues import APPLICATION_NAME, Queues, Share


async def claim_mine(queues, world, *, lease_seconds=60.0):
    """Claim everything and keep this test's rows; other tests' rows are let go."""
    lane = await asyncio.to_thread(lane_of, world.tenant)
    await queues.fan_out(lane, limit=1000)
    claim = await queues.claim(lane, Share(500, 350, lease_seconds))
    return [work for work in claim.work if work.tenant_id == world.tenant.id]


@pytest.mark.usefixtures("each_number_of_lanes")
def test_late_worker_cannot_overwrite(world, receiver):
    world.endpoint(receiver.url, events=["product.*"])
    world.record()

    async def scene():
        late, prompt = Queues(lease=uuid4()), Queues(lease=uuid4())
        (work,) = await claim_mine(late, world, lease_seconds=0)
        (again,) = await claim_mine(prompt, world)
        await late.finish([outcome(work, state=states.FAILED, status=500)])
        assert [row.state for row in await rows(world, Delivery)] == [states.PENDING]
        await prompt.finish([outcome(again)])
        await late.finish([outcome(work, state=states.RETRYING, delay_seconds=5.0, status=500)])
        await late.close()
        await prompt.close()

    asyncio.run(scene())
    assert [(row.state, row.attempts) for row in world.rows(Delivery)] == [(states.DELIVERED, 1)]
    assert world.rows(DueDelivery) == []
    assert len(world.rows(Attempt)) == 3, "every request that was sent is on record"


async def rows(world, model):
    def read():
        try:
            return world.rows(model)
        finally:
            connection.close()

    return await asyncio.to_thread(read)


@pytest.mark.usefixtures("each_number_of_lanes")
def test_row_is_claimed_by_one_worker_only(world, receiver):
    world.endpoint(receiver.url, events=["product.*"])
    for _ in range(20):
        world.record()

    lane = lane_of(world.tenant)

    async def scene():
        workers = [Queues(lease=uuid4()) for _ in range(4)]
        await workers[0].fan_out(lane, limit=1000)
        claims = await asyncio.gather(*(worker.claim(lane, Share(5, 5, 60)) for worker in workers))
        for worker in workers:
            await worker.close()
        return [work.delivery_id for claim in claims for work in claim.work]

    ids = asyncio.run(scene())
    assert len(ids) == len(set(ids))


def test_worker_that_never_comes_back_costs_an_attempt(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    world.record()
    asyncio.run(only_fan_out())
    with tenant_context(world.tenant.id):
        DueDelivery.objects.filter(tenant_id=world.tenant.id).update(claims=5)
    drain()
    assert receiver.received == []
    (delivery,) = world.deliveries(endpoint)
    assert (delivery["state"], delivery["attempt_log"][0]["error"]) == ("retrying", "worker_lost")
    world.make_due()
    drain()
    assert [d["state"] for d in world.deliveries(endpoint)] == ["delivered"]


async def only_fan_out():
    queues = Queues(lease=uuid4())
    for lane in lanes():
        await queues.fan_out(lane, limit=1000)
    await queues.close()


@pytest.mark.usefixtures("each_number_of_lanes")
def test_claimed_delivery_of_a_disabled_endpoint_is_frozen(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    world.record()
    asyncio.run(only_fan_out())
    with tenant_context(world.tenant.id):
        Endpoint._base_manager.filter(id=endpoint["id"]).update(active=False)
    drain()
    assert receiver.received == []
    assert world.rows(DueDelivery) == []
    assert [row.state for row in world.rows(Delivery)] == [states.PENDING]
    world.api.patch(f"/v1/webhooks/{endpoint['id']}", json={"active": True})
    drain()
    assert [d["state"] for d in world.deliveries(endpoint)] == ["delivered"]


@pytest.mark.usefixtures("each_number_of_lanes")
def test_unreadable_secret_is_an_attempt_and_stops_nobody(world, receiver):
    broken = world.endpoint(receiver.url, events=["product.*"])
    healthy = world.endpoint(receiver.url, events=["product.*"])
    with tenant_context(world.tenant.id):
        Secret._base_manager.filter(endpoint_id=broken["id"]).update(sealed_key=b"nonsense")
    world.record()
    drain()
    assert len(receiver.received) == 1
    assert world.deliveries(healthy)[0]["state"] == "delivered"
    (delivery,) = world.deliveries(broken)
    assert (delivery["state"], delivery["attempt_log"][0]["error"]) == ("retrying", "no_usable_secret")


def test_dispatcher_survives_a_broken_connection(world):
    with Receiver(script=lambda arrival, number: Reply(delay_seconds=0.5)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        world.record()
        runner = threading.Thread(target=drain)
        runner.start()
        assert len(receiver.wait(1)) == 1
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE application_name = %s AND datname = current_database()",
                [APPLICATION_NAME],
            )
            assert cursor.fetchone()[0] >= 1
        runner.join()
        assert len(receiver.received) == 1, "what was sent is written down, not sent again"
    assert [d["state"] for d in world.deliveries(endpoint)] == ["delivered"]


def test_answer_is_written_down_while_a_claim_waits(world):
    with Receiver(script=lambda arrival, number: Reply(delay_seconds=0.3)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        world.record()
        runner = threading.Thread(target=drain)
        runner.start()
        assert len(receiver.wait(1)) == 1
        run_as_owner("SELECT pg_advisory_lock(hashtextextended('webhooks.claim', 0))")
        try:
            end = time.monotonic() + 1.8  # a claim waits for two seconds at most
            while world.deliveries(endpoint)[0]["state"] != "delivered" and time.monotonic() < end:
                time.sleep(0.05)
            assert world.deliveries(endpoint)[0]["state"] == "delivered"
        finally:
            run_as_owner("SELECT pg_advisory_unlock(hashtextextended('webhooks.claim', 0))")
            runner.join()


def test_healthy_endpoints_do_not_wait_for_a_hanging_one(world, receiver, settings):
    settings.WEBHOOKS_TIMEOUT_SECONDS = 60
    is_over = threading.Event()
    with Receiver(script=answers_after(is_over)) as hanging:
        world.endpoint(hanging.url, events=["product.*"])
        world.endpoint(receiver.url, events=["product.*"])
        for _ in range(30):
            world.record()
        runner = threading.Thread(target=drain)
        runner.start()
        arrived = len(receiver.wait(30, seconds=40))
        is_over.set()
        runner.join()
    assert arrived == 30


@pytest.mark.parametrize("model", ["webhooks_event", "webhooks_attempt"])
def test_history_cannot_be_rewritten(world, receiver, model):
    world.endpoint(receiver.url, events=["product.*"])
    world.record()
    drain()
    for statement in (f"UPDATE {model} SET created_at = now()", f"DELETE FROM {model}", f"TRUNCATE {model}"):
        with pytest.raises(DatabaseError):
            execute_as(world, statement)


def execute_as(world, statement):
    with tenant_context(world.tenant.id), connection.cursor() as cursor:
        cursor.execute(statement)
