"""Endpoints that do badly: circuit, probes, Retry-After, farewell, the warning and the end after three days."""

from datetime import timedelta

import pytest

from core.clock import now
from core.db import tenant_context
from tests.races import race
from tests.webhooks.engine import Engine, health_of, judged, make_ill, outcome, run_as_owner
from webhooks import health, schedule, states
from webhooks.models import Attempt, Delivery, DueDelivery, Endpoint, EndpointHealth, EndpointHour, Event

URL = "http://127.0.0.1:9/hook"


@pytest.fixture
def engine(world):
    run_as_owner("DELETE FROM webhooks_delivery_due")
    with Engine(world) as found:
        yield found


def queue(world, engine, events=1):
    endpoint = world.endpoint(URL, events=["product.*"])
    with tenant_context(world.tenant.id):
        Endpoint._base_manager.filter(id=endpoint["id"]).update(max_inflight=64)
    for _ in range(events):
        world.record()
    engine.fan_out()
    return endpoint


def change_health(endpoint, **values):
    EndpointHealth.objects.using("platform").filter(endpoint_id=endpoint["id"]).update(**values)


def seconds_until(moment):
    return (moment - now()).total_seconds()


def facts(world, kind):
    import json

    return [json.loads(bytes(row.body))["data"]["object"] for row in world.rows(Event) if row.type == kind]


def open_circuit(world, engine, events=12):
    endpoint = queue(world, engine, events)
    works = engine.claim()
    engine.finish(*(judged(work, status=500) for work in works[: schedule.CIRCUIT_FAILURES]))
    engine.release(*works[schedule.CIRCUIT_FAILURES :])
    return endpoint


def test_success_of_a_healthy_endpoint_writes_no_health(world, engine):
    endpoint = queue(world, engine)
    engine.finish(*(outcome(work) for work in engine.claim()))
    assert health_of(endpoint) is None


def test_success_wipes_the_slate(world, engine):
    endpoint = queue(world, engine, 3)
    works = engine.claim()
    engine.finish(judged(works[0], status=500), judged(works[1], status=None))
    assert (health_of(endpoint).consecutive_failures, health_of(endpoint).failing_since is None) == (2, False)
    engine.finish(outcome(works[2]))
    found = health_of(endpoint)
    assert (found.consecutive_failures, found.failing_since, found.circuit_state) == (0, None, states.CLOSED)


def test_failure_after_a_success_of_the_same_batch_counts(world, engine):
    endpoint = queue(world, engine, 3)
    works = engine.claim()
    at = now()
    early, late = at - timedelta(seconds=2), at - timedelta(seconds=1)
    engine.finish(
        judged(works[0], status=500, at=early), outcome(works[1], at=late), judged(works[2], status=500, at=at)
    )
    assert (health_of(endpoint).consecutive_failures, health_of(endpoint).failing_since) == (1, at)


def test_circuit_opens_after_ten_failures_and_holds_everything(world, engine):
    endpoint = open_circuit(world, engine)
    found = health_of(endpoint)
    assert (found.circuit_state, found.circuit_openings) == (states.OPEN, 1)
    assert 25 < seconds_until(found.circuit_until) <= 30
    world.make_due()
    assert engine.claim() == []


def test_late_failures_do_not_open_an_open_circuit_again(world, engine):
    endpoint = queue(world, engine, 12)
    works = engine.claim()
    engine.finish(*(judged(work, status=500) for work in works[:10]))
    engine.finish(*(judged(work, status=500) for work in works[10:]))
    assert (health_of(endpoint).circuit_openings, health_of(endpoint).consecutive_failures) == (1, 12)


def test_half_open_circuit_lets_one_probe_pass_and_success_closes_it(world, engine):
    endpoint = open_circuit(world, engine)
    change_health(endpoint, circuit_until=now())
    world.make_due()
    (probe,) = engine.claim()
    assert (probe.trigger, health_of(endpoint).circuit_state) == (states.PROBE, states.HALF_OPEN)
    with Engine(world) as other:
        assert other.claim() == [], "one probe at a time, over all dispatchers"
    engine.finish(outcome(probe))
    found = health_of(endpoint)
    assert (found.circuit_state, found.circuit_until, found.circuit_openings) == (states.CLOSED, None, 0)
    assert len(engine.claim()) == 11


def test_failed_probe_costs_no_attempt_of_the_schedule_and_doubles_the_wait(world, engine):
    endpoint = open_circuit(world, engine)
    change_health(endpoint, circuit_until=now())
    world.make_due()
    (probe,) = engine.claim()
    engine.finish(judged(probe, status=503))
    found = health_of(endpoint)
    assert (found.circuit_state, found.circuit_openings) == (states.OPEN, 2)
    assert 55 < seconds_until(found.circuit_until) <= 60
    (row,) = world.rows(Delivery, id=probe.delivery_id)
    assert row.attempts - row.attempts_before == probe.attempts - probe.attempts_before
    assert (row.state, row.attempts) == (states.RETRYING, probe.attempts + 1)
    numbers = sorted((a.number, a.trigger) for a in world.rows(Attempt, delivery_id=probe.delivery_id))
    assert numbers[-1] == (probe.attempts + 1, states.PROBE)


def test_failed_probe_goes_behind_the_others(world, engine):
    endpoint = open_circuit(world, engine, 11)
    seen = set()
    for _ in range(3):
        change_health(endpoint, circuit_until=now())
        run_as_owner(
            "UPDATE webhooks_delivery_due SET due_at = now() - interval '1 minute'"
            " WHERE endpoint_id = %s AND due_at < now() + interval '10 years' AND attempts_before = 0",
            [endpoint["id"]],
        )
        (probe,) = engine.claim()
        seen.add(probe.delivery_id)
        engine.finish(judged(probe, status=500))
    assert len(seen) == 3, "one message that breaks the receiver does not hold the circuit open"


def test_wait_of_the_circuit_has_an_end(world, engine):
    endpoint = open_circuit(world, engine)
    change_health(endpoint, circuit_until=now(), circuit_openings=400)
    world.make_due()
    engine.finish(*(judged(probe, status=500) for probe in engine.claim()))
    assert 590 < seconds_until(health_of(endpoint).circuit_until) <= schedule.CIRCUIT_LONGEST_SECONDS


@pytest.mark.parametrize(
    ("status", "retry_after", "expected"), [(429, "120", 120), (503, "1", 5), (503, "999999", 43_200), (500, "120", 0)]
)
def test_retry_after_rests_the_whole_endpoint(world, engine, status, retry_after, expected):
    endpoint = queue(world, engine, 2)
    works = engine.claim()
    engine.finish(judged(works[0], status=status, retry_after=retry_after))
    engine.release(works[1])
    paused = health_of(endpoint).paused_until
    assert (paused is None) == (expected == 0)
    if paused:
        assert expected - 5 < seconds_until(paused) <= expected
    assert len(engine.claim()) == (0 if expected else 1)


def test_attempts_that_never_reached_out_do_not_count_against_the_endpoint(world, engine):
    endpoint = queue(world, engine)
    (work,) = engine.claim()
    engine.finish(outcome(work, state=states.RETRYING, status=None, error="worker_lost", delay_seconds=5, asked=False))
    assert health_of(endpoint) is None


def test_repeated_finish_counts_once(world, engine):
    endpoint = queue(world, engine, 2)
    works = engine.claim()
    outcomes = [judged(works[0], status=500), outcome(works[1], duration_ms=30)]
    engine.finish(*outcomes)
    engine.finish(*outcomes)
    (hour,) = EndpointHour.objects.using("platform").filter(endpoint_id=endpoint["id"])
    assert (hour.attempts, hour.delivered, hour.failed, hour.duration_ms) == (2, 1, 0, 31)
    assert (sum(hour.duration_buckets), hour.duration_buckets[:4]) == (2, [1, 0, 0, 1])
    assert len(world.rows(Attempt)) == 2


def test_given_up_deliveries_are_counted_as_failed(world, engine):
    endpoint = queue(world, engine)
    (work,) = engine.claim()
    engine.finish(outcome(work, state=states.FAILED, status=None, error="blocked_destination"))
    (hour,) = EndpointHour.objects.using("platform").filter(endpoint_id=endpoint["id"])
    assert (hour.attempts, hour.delivered, hour.failed) == (1, 0, 1)
    (row,) = world.rows(Delivery)
    assert (row.state, row.last_error) == (states.FAILED, "blocked_destination")


def test_gone_holds_everything_before_it_is_disabled(world, engine):
    endpoint = queue(world, engine, 3)
    works = engine.claim()
    engine.finish(judged(works[0], status=410))
    engine.release(*works[1:])
    assert engine.claim() == []
    assert health.watch(at=now()) == 1
    assert health.watch(at=now()) == 0
    shown = world.api.get(f"/v1/webhooks/{endpoint['id']}").json()["data"]
    assert (shown["active"], shown["disabled_reason"]) == (False, "gone")
    (fact,) = facts(world, "webhook_endpoint.disabled")
    assert (fact["id"], fact["reason"], fact["by"], fact["last_status"], fact["waiting"], fact["event_type"]) == (
        endpoint["id"], "gone", "platform", 410, 2, "product.created",
    )  # fmt: skip
    assert health_of(endpoint) is None


def test_disabled_endpoint_resumes_when_its_owner_enables_it(world, engine):
    endpoint = queue(world, engine, 3)
    works = engine.claim()
    engine.finish(judged(works[0], status=410))
    engine.release(*works[1:])
    health.watch(at=now())
    claim = engine.claim_all()
    engine.freeze(*claim.inactive)
    assert world.rows(DueDelivery) == []
    assert sorted(row.state for row in world.rows(Delivery)) == [states.FAILED, states.PENDING, states.PENDING]
    assert world.api.patch(f"/v1/webhooks/{endpoint['id']}", json={"active": True}).status_code == 200
    assert len(engine.claim()) == 2


@pytest.mark.parametrize(
    ("hours", "failures", "last_hours", "expected"),
    [
        (23.9, 50, 0, ""),
        (24.1, 50, 0, "failing"),
        (24.1, 1, 24.1, ""),
        (71.9, 50, 0, "failing"),
        (72.1, 19, 0, "failing"),
        (72.1, 50, 61, "failing"),
        (72.1, 20, 0, "disabled"),
    ],
)
def test_watch_warns_after_a_day_and_disables_after_three(world, hours, failures, last_hours, expected):
    endpoint = world.endpoint(URL, events=["product.*"])
    make_ill(world, endpoint, hours=hours, failures=failures, last_hours=last_hours)
    for _ in range(2):
        health.watch(at=now())
    told = {kind: facts(world, f"webhook_endpoint.{kind}") for kind in ("failing", "disabled")}
    assert {kind: len(found) for kind, found in told.items() if found} == ({expected: 1} if expected else {})
    shown = world.api.get(f"/v1/webhooks/{endpoint['id']}").json()["data"]
    assert (shown["active"], shown["disabled_reason"]) == (expected != "disabled", "failing" * (expected == "disabled"))
    if expected == "disabled":
        with tenant_context(world.tenant.id):
            row = Endpoint.objects.get(id=endpoint["id"])
        assert (row.disabled_by, row.version) == ("platform", 2)


def test_warning_comes_again_after_a_recovery(world, engine):
    endpoint = queue(world, engine)
    make_ill(world, endpoint, hours=30, failures=5)
    assert health.watch(at=now()) == 1
    engine.finish(outcome(engine.claim()[0]))
    make_ill(world, endpoint, hours=30, failures=5)
    assert health.watch(at=now()) == 1


def test_watchers_at_once_tell_it_once(world):
    endpoint = world.endpoint(URL, events=["product.*"])
    make_ill(world, endpoint, hours=80, failures=30)
    results = race(*[lambda: health.watch(at=now())] * 4)
    assert sorted(results) == [0, 0, 0, 1]
    assert len(facts(world, "webhook_endpoint.disabled")) == 1
