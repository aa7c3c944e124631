"""What a claim takes: caps, rates, shares and order, over all dispatchers; and what it passes over."""

import time
from collections import Counter
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from core import lanes as lanes_module
from core.clock import now
from core.db import tenant_context
from tests.races import race
from tests.webhooks.engine import Engine, change_endpoint, health_of, judged, lane_of, outcome, run_as_owner
from tests.webhooks.worlds import new_world
from webhooks import states
from webhooks.models import DueDelivery, EndpointHealth

pytestmark = pytest.mark.usefixtures("each_number_of_lanes")

URL = "http://127.0.0.1:9/hook"


def uuid_of(endpoint):
    return UUID(endpoint["id"])


def by_endpoint(works):
    return Counter(work.endpoint_id for work in works)


@pytest.fixture
def engine(world):
    run_as_owner("DELETE FROM webhooks_delivery_due")  # what other tests left would take slots
    with Engine(world) as found:
        yield found


def queue(world, engine, *, endpoints=1, events=1, **columns):
    """Make endpoints with that many due deliveries each."""
    made = [world.endpoint(f"{URL}/{number}", events=["product.*"]) for number in range(endpoints)]
    for endpoint in made:
        change_endpoint(world, endpoint, **columns)
    for _ in range(events):
        world.record()
    engine.fan_out()
    return made


def test_cap_of_an_endpoint_holds_over_several_dispatchers(world, engine):
    (endpoint,) = queue(world, engine, events=10, max_inflight=3)
    with Engine(world) as other:
        assert (len(engine.claim()), len(other.claim())) == (3, 0)
        first = world.rows(DueDelivery, lease__isnull=False)
        assert len(first) == 3
    assert uuid_of(endpoint) in {row.endpoint_id for row in first}


def test_cap_holds_when_dispatchers_claim_at_once(world, engine):
    queue(world, engine, events=40, max_inflight=5)
    engines = [Engine(world) for _ in range(4)]
    found = race(*(dispatcher.claim for dispatcher in engines))
    assert sum(len(works) for works in found) == 5
    for dispatcher in engines:
        dispatcher.__exit__()


def test_place_is_free_again_when_its_delivery_is_finished(world, engine):
    queue(world, engine, events=3, max_inflight=1)
    for _ in range(3):
        (work,) = engine.claim()
        assert engine.claim() == []
        engine.finish(outcome(work))
    assert engine.claim() == []


def test_lease_that_ended_frees_its_place(world, engine):
    queue(world, engine, events=1, max_inflight=1)
    (lost,) = engine.claim(lease_seconds=0)
    (again,) = engine.claim()
    assert (again.delivery_id, again.claims) == (lost.delivery_id, 2)


def claimed_soon(engine):
    """What there is to claim once PostgreSQL has noticed that a connection is gone."""
    end = time.monotonic() + 20
    while not (found := engine.claim()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def test_killed_dispatcher_frees_its_places_at_once_and_its_rows_later(world, engine):
    queue(world, engine, events=5, max_inflight=2)
    killed = Engine(world)
    lost = {work.delivery_id for work in killed.claim()}
    assert (len(lost), engine.claim()) == (2, [])
    killed.__exit__()
    first = claimed_soon(engine)
    assert len(first) == 2
    assert not lost & {work.delivery_id for work in first}, "their POSTs may have been received: the lease holds"
    assert engine.claim() == []


def test_killed_dispatcher_does_not_keep_the_only_probe(world, engine):
    (endpoint,) = queue(world, engine, events=3)
    with tenant_context(world.tenant.id):
        EndpointHealth.objects.create(
            endpoint_id=endpoint["id"], tenant_id=world.tenant.id, circuit_until=now(), circuit_state=states.OPEN
        )
    killed = Engine(world)
    assert [work.trigger for work in killed.claim()] == [states.PROBE]
    assert engine.claim() == []
    killed.__exit__()
    assert [work.trigger for work in claimed_soon(engine)] == [states.PROBE]


def test_failing_endpoint_gets_fewer_places(world, engine):
    (endpoint,) = queue(world, engine, events=20, max_inflight=8)
    works = engine.claim()
    engine.finish(*(judged(work, status=500) for work in works[:2]))
    engine.release(*works[2:])
    assert len(engine.claim()) == 2, "8 places halved twice"
    assert health_of(endpoint).consecutive_failures == 2


@pytest.mark.parametrize(("rate", "burst"), [(20, 2), (1, 1)])
def test_rate_holds_over_several_dispatchers(world, engine, rate, burst):
    queue(world, engine, events=60, max_rps=rate, max_inflight=64)
    began = time.monotonic()
    with Engine(world) as other:
        first = len(engine.claim())
        more = len([*other.claim(), *engine.claim(), *other.claim()])
    assert first == burst, "a tenth of a second of the rate at once, or one"
    assert more <= (time.monotonic() - began) * rate


@pytest.mark.parametrize("columns", [{"paused_until": 60}, {"circuit_until": 60, "circuit_state": states.OPEN}])
def test_held_endpoint_is_passed_over(world, engine, columns):
    held, free = queue(world, engine, endpoints=2, events=2)
    values = {
        name: now() + timedelta(seconds=value) if isinstance(value, int) else value for name, value in columns.items()
    }
    with tenant_context(world.tenant.id):
        EndpointHealth.objects.create(endpoint_id=held["id"], tenant_id=world.tenant.id, **values)
    assert by_endpoint(engine.claim()) == {uuid_of(free): 2}


def test_first_tries_and_retries_share_the_slots(world, engine):
    queue(world, engine, endpoints=4, events=16, max_inflight=64)
    works = engine.claim()
    assert len(works) == 64
    engine.finish(
        *(outcome(work, state=states.RETRYING, status=500, delay_seconds=0, asked=False) for work in works[:32])
    )
    engine.release(*works[32:])
    taken = engine.claim(limit=20, first=14)
    assert Counter(work.attempts > work.attempts_before for work in taken) == {False: 14, True: 6}


@pytest.mark.parametrize(("finished", "expected"), [(0, {False: 8}), (8, {True: 8})])
def test_share_that_is_not_used_goes_to_the_other(world, engine, finished, expected):
    queue(world, engine, endpoints=1, events=8, max_inflight=64)
    works = engine.claim()
    retried = [outcome(work, state=states.RETRYING, status=500, delay_seconds=0, asked=False) for work in works]
    engine.finish(*retried[:finished])
    engine.release(*works[finished:])
    assert Counter(work.attempts > work.attempts_before for work in engine.claim(limit=8, first=6)) == expected


def test_ordered_endpoint_gets_one_of_a_resource_at_a_time(world, engine):
    queue(world, engine, events=0, endpoints=1, ordered=True)
    one, other = uuid4(), uuid4()
    for resource in (one, one, other, one):
        world.record(resource)
    engine.fan_out()
    works = engine.claim()
    assert len(works) == 2, "the first of each resource"
    first = next(work for work in works if sequence_of(work) == 1 and resource_of(world, work) == one)
    engine.finish(judged(first, status=500))
    assert engine.claim() == [], "the first is unfinished"
    world.make_due()
    (again,) = engine.claim()
    assert again.delivery_id == first.delivery_id
    engine.finish(outcome(again))
    (second,) = engine.claim()
    assert sequence_of(second) == 2
    engine.finish(outcome(second))
    assert [sequence_of(work) for work in engine.claim()] == [3]


def sequence_of(work):
    import json

    return int(json.loads(work.body)["sequence"])


def resource_of(world, work):
    (row,) = world.rows(DueDelivery, delivery_id=work.delivery_id)
    return row.resource_id


def test_unordered_endpoint_sends_a_resources_events_side_by_side(world, engine):
    queue(world, engine, events=0, endpoints=1)
    resource = uuid4()
    for _ in range(3):
        world.record(resource)
    engine.fan_out()
    assert len(engine.claim()) == 3


def test_disabled_endpoint_is_told_and_frozen(world, engine):
    (endpoint,) = queue(world, engine, events=2)
    change_endpoint(world, endpoint, active=False)
    claim = engine.claim_all()
    assert uuid_of(endpoint) in claim.inactive
    assert not [work for work in claim.work if work.tenant_id == world.tenant.id]
    engine.freeze(uuid_of(endpoint))
    assert world.rows(DueDelivery) == []


def test_long_queue_of_a_held_endpoint_stands_in_nobodys_way(world, engine):
    held, free = queue(world, engine, endpoints=2, events=1)
    with tenant_context(world.tenant.id):
        EndpointHealth.objects.create(
            endpoint_id=held["id"], tenant_id=world.tenant.id, paused_until=now() + timedelta(hours=1)
        )
    run_as_owner(
        "INSERT INTO webhooks_delivery_due (delivery_id, created_at, tenant_id, event_id, endpoint_id, due_at)"
        " SELECT uuidv7(), now(), %s, uuidv7(), %s, now() - interval '1 hour' FROM generate_series(1, 5000)",
        [world.tenant.id, held["id"]],
    )
    assert by_endpoint(engine.claim(limit=100)) == {uuid_of(free): 1}
    run_as_owner("DELETE FROM webhooks_delivery_due")


def test_queue_that_was_empty_when_it_was_analysed_is_claimed_by_its_index(world, engine):
    """Statistics of an emptied table once led to a plan whose time grew with the square of the queue."""
    fill = (
        "INSERT INTO webhooks_delivery_due (delivery_id, created_at, tenant_id, event_id, endpoint_id, due_at)"
        " SELECT uuidv7(), now(), %s, uuidv7(), %s, now() - interval '1 hour' FROM generate_series(1, 8000)"
    )
    (endpoint,) = queue(world, engine)
    run_as_owner(fill, [world.tenant.id, endpoint["id"]])
    run_as_owner("DELETE FROM webhooks_delivery_due")
    run_as_owner("ANALYZE webhooks_delivery_due")
    run_as_owner(fill, [world.tenant.id, endpoint["id"]])
    assert by_endpoint(engine.claim(limit=100)) == {uuid_of(endpoint): 8}
    run_as_owner("DELETE FROM webhooks_delivery_due")


# -- the queue before the claim: events that are not matched with endpoints yet ------------------------------------------


def test_backlog_of_one_tenant_stands_in_front_of_no_other(world, engine):
    busy = next(other for other in iter(new_world, None) if lane_of(other.tenant) == engine.lane)
    engine.fan_out()
    with tenant_context(busy.tenant.id):
        run_as_owner(
            "INSERT INTO webhooks_event_new (id, created_at, tenant_id, type, resource_id)"
            " SELECT uuidv7(), now() - interval '1 hour', %s, 'product.created', uuidv7() FROM generate_series(1, 20000)",
            [busy.tenant.id],
        )
    world.endpoint(URL, events=["product.*"])
    world.record()
    fanned = engine.fan_out_once()
    assert (len(world.rows(DueDelivery)), fanned.more) == (1, True)
    assert 500 <= fanned.events <= 1100
    run_as_owner("DELETE FROM webhooks_event_new")


def test_tenant_with_many_endpoints_has_fewer_events_of_a_batch(world, engine):
    engine.fan_out()
    for number in range(10):
        world.endpoint(f"{URL}/{number}", events=["product.*"])
    engine.fan_out()
    for _ in range(150):
        world.record()
    fanned = engine.fan_out_once()
    assert (fanned.events, fanned.more, len(world.rows(DueDelivery))) == (100, True, 1000)
    engine.fan_out()
    assert len(world.rows(DueDelivery)) == 1500
    run_as_owner("DELETE FROM webhooks_delivery_due")


def test_more_tenants_than_a_walk_has_steps_are_all_served(world, engine, monkeypatch):
    engine.fan_out()
    monkeypatch.setattr(lanes_module, "_HOPS", 2)
    monkeypatch.setattr(lanes_module, "_MOST_HOPS", 2)
    run_as_owner(
        "INSERT INTO webhooks_event_new (id, created_at, tenant_id, type, resource_id)"
        " SELECT uuidv7(), now(), gen_random_uuid(), 'product.created', uuidv7() FROM generate_series(1, 25)"
    )
    assert engine.fan_out() == 25
