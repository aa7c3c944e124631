"""Two dispatchers at full speed while the endpoint is switched, rotated and deleted: nothing is stuck, nobody deadlocks."""

import threading
import time

import pytest
from django.db import connection, transaction

from bench.receiver import Receiver, Reply
from core.db import tenant_context
from tests.webhooks.engine import run_as_owner
from tests.webhooks.worlds import drain
from webhooks import states
from webhooks.models import Delivery, DueDelivery, EndpointHealth


@pytest.fixture
def flaky():
    """A receiver that answers every fifth request with 503."""
    with Receiver(script=lambda arrival, number: Reply(status=503 if number % 5 == 0 else 200)) as found:
        yield found


class Crew:
    """Dispatchers in threads, for as long as the block lasts."""

    def __init__(self, count=2):
        self.over = threading.Event()
        self.faults = []
        self.threads = [threading.Thread(target=self._work) for _ in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _work(self):
        try:
            while not self.over.is_set():
                drain(2)
        except Exception as fault:
            self.faults.append(fault)
        finally:
            connection.close()


def settle(world, endpoint):
    """Let retries and circuits come due until nothing is queued."""
    for _ in range(40):
        with tenant_context(world.tenant.id):
            EndpointHealth._base_manager.filter(endpoint_id=endpoint["id"]).delete()
        world.make_due()
        drain()
        if not world.rows(DueDelivery, endpoint_id=endpoint["id"]):
            return
    raise AssertionError("something is stuck")


def during(world, path, patches, crew_size=2):
    """Record facts and send requests to the interface while a crew delivers."""
    with Crew(crew_size) as crew:
        for number, (method, suffix, body) in enumerate(patches):
            for _ in range(5):
                world.record()
            answer = world.api.call(method, f"{path}{suffix}", json=body)
            assert answer.status_code < 300, (number, answer.content)
            time.sleep(0.05)
    assert crew.faults == []


def test_switching_while_dispatchers_work_loses_nothing(world, flaky):
    endpoint = world.endpoint(flaky.url, events=["product.*"])
    path = f"/v1/webhooks/{endpoint['id']}"
    during(world, path, [("PATCH", "", {"active": number % 2 == 1}) for number in range(12)])
    assert world.api.patch(path, json={"active": True}).status_code == 200
    settle(world, endpoint)
    assert {row.state for row in world.rows(Delivery, endpoint_id=endpoint["id"])} <= {states.DELIVERED}


def test_rotating_while_dispatchers_work_signs_every_message_with_a_live_key(world, flaky):
    endpoint = world.endpoint(flaky.url, events=["product.*"])
    path = f"/v1/webhooks/{endpoint['id']}"
    during(world, path, [("POST", "/rotate-secret", {"overlap_seconds": 60})] * 6)
    settle(world, endpoint)
    assert {row.state for row in world.rows(Delivery, endpoint_id=endpoint["id"])} == {states.DELIVERED}
    assert all(arrival.headers["webhook-signature"] for arrival in flaky.received)


def test_deleting_while_dispatchers_work_leaves_nothing_unfinished(world, flaky):
    for _ in range(4):
        endpoint = world.endpoint(flaky.url, events=["product.*"])
        with Crew() as crew:
            for _ in range(20):
                world.record()
            assert world.api.delete(f"/v1/webhooks/{endpoint['id']}").status_code == 204
            time.sleep(0.3)
        assert crew.faults == []
        drain()
        rows = world.rows(Delivery, endpoint_id=endpoint["id"])
        assert {row.state for row in rows} <= {states.DELIVERED, states.FAILED}
        assert world.rows(DueDelivery, endpoint_id=endpoint["id"]) == []


def test_event_fanned_out_while_its_endpoint_is_deleted_has_failed(world, receiver):
    """The fan-out saw the endpoint alive and waits for its key; the deletion commits first."""
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    world.record()
    with transaction.atomic(using="owner"):
        run_as_owner("SELECT 1 FROM webhooks_endpoint WHERE id = %s FOR UPDATE", [endpoint["id"]])
        runner = threading.Thread(target=drain)
        runner.start()
        time.sleep(0.5)
        run_as_owner("UPDATE webhooks_endpoint SET active = false, deleted_at = now() WHERE id = %s", [endpoint["id"]])
    runner.join()
    drain()
    assert [row.state for row in world.rows(Delivery, endpoint_id=endpoint["id"])] == [states.FAILED]
    assert world.rows(DueDelivery, endpoint_id=endpoint["id"]) == []
    assert receiver.received == []
