"""Replays: what they queue, how they are paced, that nobody's death makes a double or a gap."""

import os
import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from uuid import uuid4

import pytest

from bench.receiver import Receiver, Reply
from core.clock import now, rfc3339
from core.db import tenant_context
from core.rounds import until
from tests.factories import Api, api_key, as_member
from tests.races import race
from tests.webhooks.worlds import drain, new_world
from webhooks import states
from webhooks.events import EndpointUpdated
from webhooks.models import Delivery, DueDelivery, Event, Replay
from webhooks.replays import tasks, worker


def ask(world, endpoint, *, api=None, headers=None, **body):
    body = {"since": rfc3339(now() - timedelta(hours=1)), **body}
    return (api or world.api).post(f"/v1/webhooks/{endpoint['id']}/replay", json=body, headers=headers)


def requested(world, endpoint, **body):
    answer = ask(world, endpoint, **body)
    assert answer.status_code == 202, answer.content
    return answer.json()["data"]


def read(world, replay):
    answer = world.api.get(f"/v1/webhooks/{replay['endpoint_id']}/replays/{replay['id']}")
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def carry_on(world):
    """Carry replays on until this world's have ended; other tests' may be among those that are open."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        worker.carry_on(go_on=until(10))
        if not [row for row in world.rows(Replay) if row.state in states.REPLAYING]:
            return


def due(world):
    with tenant_context(world.tenant.id):
        return list(DueDelivery.objects.filter(tenant_id=world.tenant.id))


@pytest.fixture
def deaf(world, receiver):
    """An endpoint that was disabled while three products were made, and is active again."""
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    world.api.patch(f"/v1/webhooks/{endpoint['id']}", json={"active": False})
    for _ in range(3):
        world.record()
    drain()
    world.api.patch(f"/v1/webhooks/{endpoint['id']}", json={"active": True})
    assert world.deliveries(endpoint) == []
    return endpoint


def test_missing_makes_deliveries_of_what_happened_while_it_was_disabled(world, receiver, deaf):
    answer = ask(world, deaf, only="missing")
    assert answer.status_code == 202, answer.content
    replay = answer.json()["data"]
    assert answer["Location"] == f"/v1/webhooks/{deaf['id']}/replays/{replay['id']}"
    assert (replay["state"], replay["examined"], replay["queued"], replay["types"]) == ("queued", 0, 0, [])
    (fact,) = world.rows_of_facts("webhook_endpoint.replay_requested")
    assert (fact.data["replay_id"], fact.data["only"]) == (replay["id"], "missing")
    carry_on(world)
    ended = read(world, replay)
    assert (ended["state"], ended["queued"], ended["error"]) == ("completed", 3, None)
    assert ended["examined"] == sum(event.created_at < last_until(world) for event in world.rows(Event))
    assert ended["started_at"] is not None
    assert ended["finished_at"] is not None
    drain()
    assert [d["state"] for d in world.deliveries(deaf)] == ["delivered"] * 3
    assert {arrival.message_id for arrival in receiver.received} == {d["event_id"] for d in world.deliveries(deaf)}
    assert len(receiver.received) == 3
    requested(world, deaf, only="missing")
    carry_on(world)
    drain()
    assert len(receiver.received) == 3, "what is there is not missing"


def last_until(world):
    return world.rows(Replay)[-1].until


def test_missing_reaches_behind_the_endpoints_own_beginning(world, receiver):
    for _ in range(2):
        world.record()
    drain()
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    requested(world, endpoint, only="missing")
    carry_on(world)
    drain()
    assert len(receiver.received) == 2


def test_missing_leaves_to_the_fan_out_what_it_will_queue(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    world.record()
    requested(world, endpoint, only="missing")
    carry_on(world)
    assert (due(world), world.rows(Delivery)) == ([], [])
    drain()
    assert len(receiver.received) == 1


def test_types_narrow_and_patterns_of_the_endpoint_hold(world, receiver, deaf):
    world.record(event=EndpointUpdated(active=True, changed=["url"]))
    drain()
    requested(world, deaf, only="all", types=["webhook_endpoint.*"])
    carry_on(world)
    assert due(world) == [], "the endpoint does not want them"
    requested(world, deaf, only="all", types=["product.deleted"])
    carry_on(world)
    assert due(world) == []
    requested(world, deaf, only="all", types=["product.created", "product.deleted"])
    carry_on(world)
    assert len(due(world)) == 3


def test_failed_sends_only_what_has_failed(world, settings):
    settings.WEBHOOKS_RETRY_SCHEDULE_SECONDS = [3600]
    with Receiver(script=lambda arrival, number: Reply(500 if 2 < number < 5 else 200)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        for _ in range(4):
            world.record()
            drain()
        world.make_due()
        broken = [d for d in world.deliveries(endpoint) if d["state"] == "retrying"]
        assert len(broken) == 2
        with tenant_context(world.tenant.id):  # they fail for good
            DueDelivery.objects.filter(tenant_id=world.tenant.id).delete()
            Delivery._base_manager.filter(state=states.RETRYING).update(state=states.FAILED, done_at=now())
        replay = requested(world, endpoint)
        assert replay["only"] == "failed"
        carry_on(world)
        assert (read(world, replay)["examined"], read(world, replay)["queued"]) == (4, 2)
        rows = [row for row in world.rows(Delivery) if row.state == states.RETRYING]
        assert [(row.attempts, row.attempts_before, row.done_at) for row in rows] == [(1, 1, None)] * 2
        drain()
        assert [d["state"] for d in world.deliveries(endpoint)] == ["delivered"] * 4
        assert sorted(d["attempts"] for d in world.deliveries(endpoint)) == [1, 1, 2, 2]
        assert len(receiver.received) == 6


def test_all_sends_delivered_ones_too_and_nothing_that_is_on_its_way(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    for _ in range(2):
        world.record()
    drain()
    (first, _) = world.deliveries(endpoint)
    path = f"/v1/webhooks/{endpoint['id']}/deliveries/{first['id']}/redeliver"
    assert world.api.post(path).status_code == 202
    replay = requested(world, endpoint, only="all")
    carry_on(world)
    assert read(world, replay)["queued"] == 1
    drain()
    assert len(receiver.received) == 4


def test_until_ends_the_stretch(world, receiver, deaf):
    middle = world.rows(Event, type="product.created")[1].created_at
    replay = requested(world, deaf, only="missing", until=middle.isoformat())
    carry_on(world)
    assert read(world, replay)["queued"] == 1


def test_batches_go_on_where_the_last_one_ended(world, deaf, monkeypatch):
    monkeypatch.setattr(worker, "BATCH", 2)
    replay = requested(world, deaf, only="missing")
    seen = []
    while read(world, replay)["state"] in states.REPLAYING:
        (row,) = world.rows(Replay)
        worker.advance(row.tenant_id, row.id, at=now())
        seen.append((read(world, replay)["state"], read(world, replay)["examined"]))
    assert seen[0] == ("running", 2)
    assert seen[-1][0] == "completed"
    assert read(world, replay)["queued"] == len(due(world)) == 3


def test_full_queue_holds_a_replay_back(world, deaf, monkeypatch):
    monkeypatch.setattr(worker, "BATCH", 1)
    monkeypatch.setattr(worker, "MOST_DUE", 1)
    replay = requested(world, deaf, only="missing")
    for _ in range(30):
        worker.carry_on(go_on=until(5))
    assert (read(world, replay)["state"], len(due(world))) == ("running", 2)
    drain()
    for _ in range(30):
        worker.carry_on(go_on=until(5))
    assert read(world, replay)["state"] == "completed"
    drain()
    assert {d["state"] for d in world.deliveries(deaf)} == {"delivered"}


def test_workers_at_the_same_replay_never_do_a_batch_twice(world, receiver, monkeypatch):
    monkeypatch.setattr(worker, "BATCH", 7)
    for _ in range(60):
        world.record()
    drain()
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    replay = requested(world, endpoint, only="missing")
    outcomes = race(*[lambda: worker.carry_on(go_on=until(15))] * 4)
    assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    carry_on(world)
    ended = read(world, replay)
    assert (ended["state"], ended["queued"], len(due(world)), len(world.rows(Delivery))) == ("completed", 60, 60, 60)
    assert ended["examined"] == sum(event.created_at < last_until(world) for event in world.rows(Event))


# Each line it reads starts a worker; whoever started it kills it. What the workers share was loaded before the first one.
_WORKERS = """
import os, sys
import django
django.setup()
from core.rounds import ever
from webhooks.replays import worker
worker.BATCH = 3
for line in sys.stdin:
    pid = os.fork()
    while not pid:
        worker.carry_on(go_on=ever)
    print(pid, flush=True)
    os.waitpid(pid, 0)
"""


def test_killed_workers_leave_neither_doubles_nor_gaps(world, receiver, service_environment, long):
    count = 600 if long else 150
    for _ in range(count):
        world.record()
    drain(30)
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    replay = requested(world, endpoint, only="missing")
    kills, moved, longest = 0, 0, 0.1
    environment = {**os.environ, **service_environment, "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", _WORKERS]
    with subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as workers:
        while (now_so := read(world, replay))["state"] in states.REPLAYING:
            longest = 0.1 if now_so["examined"] > moved else longest * 1.2  # a busy machine needs longer for a batch
            moved = now_so["examined"]
            workers.stdin.write("one more\n")
            workers.stdin.flush()
            pid = int(workers.stdout.readline())
            try:
                time.sleep(random.uniform(0.005, longest))
            finally:
                os.kill(pid, signal.SIGKILL)
            kills += 1
            assert kills < 400
    assert kills > 3
    ended = read(world, replay)
    assert (ended["queued"], len(due(world)), len(world.rows(Delivery))) == (count, count, count)
    assert ended["examined"] == sum(event.created_at < last_until(world) for event in world.rows(Event))


def test_second_replay_is_refused_while_one_is_open(world, deaf):
    replay = requested(world, deaf, only="missing")
    answer = ask(world, deaf, only="all")
    assert (answer.status_code, answer.json()["code"], answer.json()["replay_id"]) == (
        409, "replay_in_progress", replay["id"],
    )  # fmt: skip
    carry_on(world)
    assert ask(world, deaf, only="all").status_code == 202


def test_of_two_who_ask_at_once_one_is_refused(world, deaf):
    def once():
        return ask(world, deaf, api=Api(key=world.api.headers["X-API-Key"], tenant=world.tenant)).status_code

    assert sorted(race(once, once, once)) == [202, 409, 409]
    assert len(world.rows(Replay)) == len(world.rows_of_facts("webhook_endpoint.replay_requested")) == 1


def test_cancelling_stops_it_and_keeps_what_was_queued(world, deaf, monkeypatch):
    monkeypatch.setattr(worker, "BATCH", 1)
    replay = requested(world, deaf, only="missing")
    (row,) = world.rows(Replay)
    while not due(world):
        worker.advance(row.tenant_id, row.id, at=now())
    path = f"/v1/webhooks/{deaf['id']}/replays/{replay['id']}/cancel"
    answer = world.api.post(path)
    assert (answer.status_code, answer.json()["data"]["state"]) == (200, "cancelled")
    assert answer.json()["data"]["finished_at"] is not None
    carry_on(world)
    assert (read(world, replay)["state"], len(due(world))) == ("cancelled", 1)
    assert (world.api.post(path).status_code, world.api.post(path).json()["code"]) == (409, "invalid_transition")
    assert len(world.rows_of_facts("webhook_endpoint.replay_cancelled")) == 1
    assert ask(world, deaf).status_code == 202


@pytest.mark.usefixtures("each_number_of_lanes")
def test_disabling_ends_a_replay_with_its_reason(world, deaf):
    replay = requested(world, deaf, only="missing")
    world.api.patch(f"/v1/webhooks/{deaf['id']}", json={"active": False})
    carry_on(world)
    assert (read(world, replay)["state"], read(world, replay)["error"]) == ("failed", "endpoint_inactive")
    assert due(world) == []
    assert ask(world, deaf).json()["code"] == "endpoint_inactive"


def test_deleting_cancels_a_replay_and_keeps_its_record(world, deaf):
    replay = requested(world, deaf, only="missing")
    world.api.delete(f"/v1/webhooks/{deaf['id']}")
    carry_on(world)
    assert (read(world, replay)["state"], read(world, replay)["error"]) == ("cancelled", "endpoint_deleted")
    assert world.rows(Delivery) == []
    assert ask(world, deaf).status_code == 404


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"since": None}, "since", "null"),
        ({"since": "yesterday"}, "since", "invalid"),
        ({"since": "0001-01-01T00:00:00Z"}, "since", "past_retention"),
        ({"since": "2999-01-01T00:00:00Z"}, "until", "not_after_since"),
        ({"until": "2026-01-02T00:00:00Z"}, "until", "not_after_since"),
        ({"until": 5}, "until", "invalid"),
        ({"types": ["product.creatd"]}, "types.0", "unknown_event_type"),
        ({"only": "some"}, "only", "invalid_choice"),
        ({"limit": 5}, "limit", "unknown_field"),
    ],
)
def test_faulty_wish_is_refused_and_nothing_begins(world, deaf, body, field, code):
    answer = ask(world, deaf, **body)
    assert answer.status_code == 400, answer.content
    assert [(error["field"], error["code"]) for error in answer.json()["errors"]] == [(field, code)]
    assert world.rows(Replay) == []


def test_replays_of_others_are_not_found(world, receiver, deaf):
    replay = requested(world, deaf)
    other, stranger = world.endpoint(receiver.url), new_world()
    for api, endpoint in ((world.api, other), (stranger.api, deaf)):
        path = f"/v1/webhooks/{endpoint['id']}/replays/{replay['id']}"
        assert api.get(path).status_code == 404
        assert api.post(f"{path}/cancel").status_code == 404
    assert ask(world, deaf, api=stranger.api).status_code == 404
    assert stranger.api.get(f"/v1/webhooks/{deaf['id']}/replays").status_code == 404
    assert world.api.post(f"/v1/webhooks/{deaf['id']}/replays/{uuid4()}/cancel").status_code == 404
    assert read(world, replay)["state"] == "queued"


def test_replays_are_listed_for_both_credentials_and_demand_their_scopes(world, deaf):
    replay = requested(world, deaf)
    path = f"/v1/webhooks/{deaf['id']}/replays"
    listed = world.api.get(path).json()["data"]
    assert (listed["total"], listed["items"]) == (1, [read(world, replay)])
    assert as_member(world.tenant).get(f"{path}?state=queued").json()["data"] == listed["items"]
    assert world.api.get(f"{path}?state=completed").json()["data"]["items"] == []
    reader = Api(key=api_key(world.tenant, scopes=["webhooks:read"]), tenant=world.tenant)
    assert reader.get(path).status_code == 200
    assert ask(world, deaf, api=reader).json()["code"] == "insufficient_scope"
    assert reader.post(f"{path}/{replay['id']}/cancel").json()["code"] == "insufficient_scope"


def test_repeated_wish_with_one_key_is_one_replay(world, deaf):
    since = rfc3339(now() - timedelta(hours=1))
    first = ask(world, deaf, since=since, headers={"Idempotency-Key": "p"})
    again = ask(world, deaf, since=since, headers={"Idempotency-Key": "p"})
    assert (again.status_code, again.content, again["Idempotency-Replayed"]) == (202, first.content, "true")
    assert again["Location"] == first["Location"]
    assert len(world.rows(Replay)) == 1


@pytest.mark.usefixtures("each_number_of_lanes")
def test_task_carries_replays_on(world, deaf):
    replay = requested(world, deaf, only="missing")
    tasks.carry_on()
    assert read(world, replay)["state"] == "completed"


def test_trouble_is_shown_and_after_an_hour_it_has_failed(world, deaf):
    replay = requested(world, deaf, only="missing")
    (row,) = world.rows(Replay)
    worker._note(row.tenant_id, row.id, "OperationalError", now())
    assert (read(world, replay)["state"], read(world, replay)["error"]) == ("queued", "OperationalError")
    worker._note(row.tenant_id, row.id, "OperationalError", now() + timedelta(hours=2))
    assert (read(world, replay)["state"], read(world, replay)["error"]) == ("failed", "OperationalError")
