"""Four lanes: dispatchers of one lane each or of all, killed in turn; and lanes that are flooded beside quiet ones."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from bench.receiver import Receiver, Reply
from core.lanes import lanes
from devtools.places import ROOT
from tests.webhooks.engine import Engine, lane_of, run_as_owner
from tests.webhooks.worlds import World, drain, new_world
from webhooks import states
from webhooks.models import Delivery, DueDelivery

LANES = 4
LEASE_SECONDS = 2
LEAST_EVENTS = 20  # in each lane: a fast machine has seen every dispatcher killed before there are so many
LONGEST_WAIT_SECONDS = 10.0  # a killed dispatcher's lease, five times over for a busy machine


@pytest.fixture(autouse=True)
def four_lanes(settings):
    settings.LANES = LANES


def worlds_in_lanes(each: int) -> dict[int, list[World]]:
    """So many tenants in each lane, by its number; where a tenant falls is chance."""
    found: dict[int, list[World]] = defaultdict(list)
    while sum(len(found[number]) >= each for number in range(LANES)) < LANES:
        world = new_world()
        found[lane_of(world.tenant).number].append(world)
    return {number: found[number][:each] for number in range(LANES)}


@dataclass
class Committed:
    """Events that are committed all the time, a tenant of each lane in turn, and when each of them was."""

    worlds: dict[int, list[World]]
    at: dict[UUID, float] = field(default_factory=dict)
    lane: dict[UUID, int] = field(default_factory=dict)

    @contextmanager
    def meanwhile(self):
        over = threading.Event()
        faults: list[Exception] = []

        def work():
            try:
                while not over.is_set():
                    self.commit_one_each()
                    time.sleep(0.01)
            except Exception as fault:
                faults.append(fault)
            finally:
                connection.close()

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        assert faults == []

    def commit_one_each(self):
        for number, worlds in self.worlds.items():
            resource = worlds[len(self.at) // LANES % len(worlds)].record()
            self.at[resource], self.lane[resource] = time.time(), number

    def of_lane(self, number):
        return {resource for resource, lane in list(self.lane.items()) if lane == number}


def arrivals(receiver) -> dict[UUID, list[float]]:
    """When each event's resource was told of: once for each time that it was sent."""
    found = defaultdict(list)
    for arrival in list(receiver.received):
        found[UUID(arrival.event()["data"]["object"]["id"])].append(arrival.at)
    return found


# Each line it reads starts a dispatcher with these options. What the dispatchers share was loaded before the first one.
_DISPATCHERS = """
import os, signal, sys
import django
django.setup()
from django.core.management import call_command
from devtools.processes import die_with_parent
from webhooks import dispatcher
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
follow = die_with_parent()
for line in sys.stdin:
    pid = os.fork()
    if not pid:
        follow()
        call_command("webhooks_dispatch", "--forever", *line.split())
        os._exit(0)
    print(pid, flush=True)
"""


class Dispatchers:
    """Four real dispatchers, started again after each kill."""

    def __init__(self, environment, options: list[str]) -> None:
        extra = {
            "LANES": str(LANES),
            "WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS": "true",
            "WEBHOOKS_LEASE_SECONDS": str(LEASE_SECONDS),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        command = [sys.executable, "-c", _DISPATCHERS]
        variables = {**os.environ, **environment, **extra}
        self._nursery = subprocess.Popen(
            command, env=variables, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._options = options
        self._pids = [self._start(line) for line in options]

    def _start(self, line):
        self._nursery.stdin.write(f"{line}\n")
        self._nursery.stdin.flush()
        return int(self._nursery.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        until(lambda: not any(map(is_running, self._pids)), seconds=20)
        with self._nursery:
            self._nursery.kill()

    def kill(self, number):
        os.kill(self._pids[number], signal.SIGKILL)
        assert until(lambda: not is_running(self._pids[number]))

    def start_again(self, number):
        self._pids[number] = self._start(self._options[number])

    def are_running(self):
        return all(map(is_running, self._pids))


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def until(condition, *, seconds=40.0):
    """Wait for a condition; tell whether it came."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(condition())


def all_lanes_are_served(receiver, committed):
    """Tell whether an event of each lane that is committed from now on arrives."""
    began = time.time()

    def served():
        told = arrivals(receiver)
        return {committed.lane[one] for one in told if committed.at.get(one, 0.0) > began} == set(range(LANES))

    return until(served)


def kill_each(dispatchers, receiver, committed, *, rounds, is_exclusive):
    """Kill each in turn while events are committed; the others' lanes go on, and the next one catches up."""
    for number in [number for _ in range(rounds) for number in range(LANES)]:
        dispatchers.kill(number)
        if is_exclusive:
            waiting = set(range(LANES)) - {number}
            began = time.time()
            told = before = set(arrivals(receiver))
            while not waiting <= {committed.lane[one] for one in told - before if committed.at[one] > began}:
                assert time.time() < began + LONGEST_WAIT_SECONDS, "a lane waited for another lane's dispatcher"
                time.sleep(0.05)
                told = set(arrivals(receiver))
            late = {one for one in told & committed.of_lane(number) if committed.at[one] > began}
            assert late == set(), "nobody else serves the lane of the killed one"
        dispatchers.start_again(number)
        assert all_lanes_are_served(receiver, committed)


@pytest.mark.parametrize(
    ("options", "is_exclusive"),
    [([f"--lane {number}" for number in range(LANES)], True), ([""] * LANES, False)],
    ids=["a lane each", "all lanes each"],
)
def test_dispatchers_that_are_killed_in_turn_lose_nothing_and_starve_no_lane(
    service_environment, long, options, is_exclusive
):
    worlds = worlds_in_lanes(8 if long else 2)
    with Receiver(script=lambda arrival, number: Reply(delay_seconds=0.05)) as receiver:
        for world in all_of(worlds):
            world.endpoint(receiver.url, events=["product.*"], max_inflight=64)
        committed = Committed(worlds)
        with Dispatchers(service_environment, options) as dispatchers:
            with committed.meanwhile():
                assert all_lanes_are_served(receiver, committed)
                kill_each(dispatchers, receiver, committed, rounds=5 if long else 1, is_exclusive=is_exclusive)
                assert until(lambda: all(len(committed.of_lane(number)) > LEAST_EVENTS for number in range(LANES)))
            assert until(lambda: set(arrivals(receiver)) >= set(committed.at)), "events were lost"
            assert dispatchers.are_running()
            assert until(lambda: not [row for world in all_of(worlds) for row in world.rows(DueDelivery)])
        told = arrivals(receiver)
    assert set(told) == set(committed.at)
    for number in range(LANES):
        waits = [min(told[one]) - committed.at[one] for one in committed.of_lane(number)]
        assert len(waits) > LEAST_EVENTS
        assert max(waits) < LONGEST_WAIT_SECONDS
    kinds = {row.state for world in all_of(worlds) for row in world.rows(Delivery)}
    assert kinds == {states.DELIVERED}


def all_of(worlds):
    return [world for found in worlds.values() for world in found]


def test_flooded_lane_does_not_hold_up_the_others():
    """One dispatcher with few places: 480 messages to slow receivers, and one in each other lane."""
    for queue in ("webhooks_delivery_due", "webhooks_event_new"):  # what other tests left makes no lane quiet
        run_as_owner(f"DELETE FROM {queue}")
    worlds = {number: found[0] for number, found in worlds_in_lanes(1).items()}
    flooded, *quiet = worlds.values()
    with Receiver(script=lambda arrival, number: Reply(delay_seconds=0.2)) as slow, Receiver() as receiver:
        for number in range(4):
            flooded.endpoint(f"{slow.url}/{number}", events=["product.*"], max_inflight=64)
        for world in quiet:
            world.endpoint(receiver.url, events=["product.*"])
        for _ in range(120):
            flooded.record()
        runner = threading.Thread(target=drain, kwargs={"seconds": 20, "concurrency": 16})
        runner.start()
        assert len(slow.wait(16)) >= 16
        for world in quiet:
            world.record()
        arrived = len(receiver.wait(len(quiet), seconds=20))
        reached = len(slow.received)
        runner.join()
        assert arrived == len(quiet)
        assert reached < 240, "the quiet lanes did not wait for the flood to end"
        assert len(slow.received) == 480


def test_long_queue_of_another_lane_stands_in_nobodys_way():
    run_as_owner("DELETE FROM webhooks_delivery_due")
    crowded, other, *_ = (found[0] for found in worlds_in_lanes(1).values())
    url = "http://127.0.0.1:9/hook"
    held, free = (world.endpoint(url, events=["product.*"]) for world in (crowded, other))
    other.record()
    with Engine(other) as engine:
        engine.fan_out()
        run_as_owner(
            "INSERT INTO webhooks_delivery_due (delivery_id, created_at, tenant_id, event_id, endpoint_id, due_at)"
            " SELECT uuidv7(), now(), %s, uuidv7(), %s, now() - interval '1 hour' FROM generate_series(1, 20000)",
            [crowded.tenant.id, held["id"]],
        )
        found = engine.claim_all(limit=100).work
    run_as_owner("DELETE FROM webhooks_delivery_due")
    assert [work.endpoint_id for work in found] == [UUID(free["id"])]


def test_claims_of_different_lanes_do_not_wait_for_each_other():
    """Somebody who holds the turn of a lane, for whatever reason, holds up nobody else's."""
    first, second, *_ = (found[0] for found in worlds_in_lanes(1).values())
    for world in (first, second):
        world.endpoint("http://127.0.0.1:9/hook", events=["product.*"])
        world.record()
    held = lane_of(first.tenant).number
    names = ("webhooks.claim", "webhooks.fan_out")
    for name in names:
        run_as_owner("SELECT pg_advisory_lock(hashtextextended(%s, %s))", [name, held])
    try:
        with Engine(second) as engine:
            assert engine.fan_out() >= 1
            assert len(engine.claim()) == 1
            assert first.rows(DueDelivery) == [], "its fan-out has its turn later"
    finally:
        for name in names:
            run_as_owner("SELECT pg_advisory_unlock(hashtextextended(%s, %s))", [name, held])
    with Engine(first) as engine:
        engine.fan_out()
        assert len(engine.claim()) == 1


def test_dispatcher_of_some_lanes_leaves_the_others_alone(receiver):
    worlds = {number: found[0] for number, found in worlds_in_lanes(1).items()}
    for world in worlds.values():
        world.endpoint(receiver.url, events=["product.*"])
        world.record()
    call_command("webhooks_dispatch", "--lane", "1", "--lane", "3")
    told = {UUID(arrival.event()["tenant_id"]) for arrival in receiver.received}
    assert told == {worlds[1].tenant.id, worlds[3].tenant.id}
    drain()
    assert len(receiver.received) == len(lanes())


@pytest.mark.parametrize("number", ["4", "-1"])
def test_dispatcher_of_an_unknown_lane_is_refused(number):
    with pytest.raises(CommandError, match="LANES is 4"):
        call_command("webhooks_dispatch", f"--lane={number}")
