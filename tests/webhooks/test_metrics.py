"""What Prometheus sees of the webhooks, read by the web process from the database."""

from datetime import timedelta

import pytest
from prometheus_client import generate_latest

from api import metrics
from bench.receiver import Receiver, Reply
from core.clock import now
from tests.webhooks.engine import Engine, judged, make_ill, run_as_owner
from tests.webhooks.worlds import drain
from webhooks.backlogs import backlog
from webhooks.metrics import WORST


def shown():
    """The series with their values."""
    lines = generate_latest(metrics.registry()).decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line.startswith("hp_webhooks")}


@pytest.fixture(autouse=True)
def empty_queue(world):
    run_as_owner("DELETE FROM webhooks_delivery_due")
    run_as_owner("DELETE FROM webhooks_event_new")
    run_as_owner("DELETE FROM webhooks_endpoint_health")


def test_dispatchers_sums_are_counted(world):
    before = shown()
    with Receiver(script=lambda arrival, number: Reply(status=500 if number == 1 else 200)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        for _ in range(3):
            world.record()
        drain()
    after = shown()

    def more(name):
        return after[name] - before.get(name, 0)

    assert more("hp_webhooks_claims_total") == more("hp_webhooks_finishes_total") == 3
    assert more('hp_webhooks_deliveries_total{result="delivered"}') == 2
    assert more('hp_webhooks_attempts_total{class="2xx"}') == 2
    assert more('hp_webhooks_attempts_total{class="5xx"}') == 1
    assert more('hp_webhooks_attempt_seconds_bucket{le="+Inf"}') == 3
    assert after.get("hp_webhooks_circuits_open") == 0
    assert endpoint["id"] not in "".join(name for name in after if "ratio" not in name)


def test_queues_and_circuits_are_shown_as_they_stand(world):
    world.endpoint("http://127.0.0.1:9/1", events=["product.*"])
    ill = world.endpoint("http://127.0.0.1:9/2", events=["api_key.*"])
    make_ill(world, ill, hours=1, failures=10, circuit_state="open")
    with Engine(world) as engine:
        engine.fan_out()
        for _ in range(4):
            world.record()
        assert shown()["hp_webhooks_fan_out_pending"] == 4
        engine.fan_out()
        assert shown()['hp_webhooks_due{kind="first"}'] == 4
        work = engine.claim(limit=1, first=1)
        found = shown()
        assert (found["hp_webhooks_in_flight"], found["hp_webhooks_circuits_open"]) == (1, 1)
        assert found['hp_webhooks_due_oldest_seconds{kind="first"}'] > 0
        engine.finish(judged(work[0], status=500))


@pytest.mark.parametrize("why", ["circuit", "suspended tenant"])
def test_work_that_is_held_back_is_not_due(world, why):
    endpoint = world.endpoint("http://127.0.0.1:9/1", events=["product.*"])
    with Engine(world) as engine:
        world.record()
        engine.fan_out()
    assert (shown()['hp_webhooks_due{kind="first"}'], shown()["hp_webhooks_held_back"]) == (1, 0)
    if why == "circuit":
        make_ill(world, endpoint, hours=1, failures=10, circuit_state="open", circuit_until=now() + timedelta(hours=1))
    else:
        run_as_owner("UPDATE organizations_tenant SET status = 'suspended' WHERE id = %s", [world.tenant.id])
    found = shown()
    assert (found['hp_webhooks_due{kind="first"}'], found["hp_webhooks_held_back"]) == (0, 1)
    assert found['hp_webhooks_due_oldest_seconds{kind="first"}'] == 0
    assert (backlog().due, backlog().held_back) == (0, 1)


def test_lost_leases_are_counted(world, receiver):
    world.endpoint(receiver.url, events=["product.*"])
    world.record()
    before = shown().get("hp_webhooks_leases_lost_total", 0)
    with Engine(world) as engine:
        engine.fan_out()
        assert len(engine.claim(lease_seconds=0)) == 1
    drain()
    assert shown()["hp_webhooks_leases_lost_total"] - before == 1


def test_only_the_worst_endpoints_are_named(world):
    with Engine(world) as engine:
        for number in range(WORST + 3):
            world.endpoint(f"http://127.0.0.1:9/{number}", events=["product.*"])
        world.record()
        engine.fan_out()
        engine.finish(*(judged(work, status=500) for work in engine.claim()))
    assert len([name for name in shown() if name.startswith("hp_webhooks_endpoint_success_ratio{")]) == WORST
