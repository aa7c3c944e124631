"""Both parties at once, and processes that die in the middle: the copies always equal their owner's rows."""

import json
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from core import clock
from core.db import tenant_context
from devtools.places import ROOT
from devtools.processes import die_with_parent
from organizations.received.rebuilding import rebuild as rebuilt
from tests.organizations.received.parcels import Parcel, ReceivedParcel
from tests.organizations.received.sides import broken, data, draft, told
from tests.races import race

WRITER = "tests.organizations.received.writer"


def weighed(world):
    with tenant_context(world.sender.id):
        own = Parcel.objects.get(pk=world.id).weighed
    with tenant_context(world.carrier.id):
        return own, ReceivedParcel.objects.get(pk=world.id).weighed


def numbers(side, world):
    return [one.sequence for one in told(side, world.id)]


def test_sixteen_threads_from_both_sides(sender, carrier, long):
    """Parcels go both ways, so that each tenant is owner of one and other party of the other."""
    rounds = 20 if long else 5
    worlds = draft(sender, carrier), draft(carrier, sender)
    for world in worlds:
        data(world.sender.api.post(f"{world.own}/send"))

    def write(side, world, number):
        path = world.own if side is world.sender else world.copy
        api, statuses = side.client(), []
        for turn in range(rounds):
            answer = api.post(f"{path}/weigh", headers={"Idempotency-Key": f"{number}-{turn}"})
            statuses.append(answer.status_code)
            if side is world.sender:
                api.post(f"{path}/note", json={"text": f"{number}-{turn}"})
        return statuses

    def prove():
        found = []
        for _ in range(rounds):
            found += broken(sender, carrier)
        return found

    def rebuild():
        return [
            one.rewritten for _ in range(rounds) for side in (sender, carrier) for one in rebuilt(side.id, clock.now)
        ]

    pairs = [(side, world) for side in (sender, carrier) for world in worlds] * 4
    works = [lambda given=(*pair, number): write(*given) for number, pair in enumerate(pairs)]
    *answers, found, rewritten = race(*works, prove, rebuild)

    assert len(works) == 16
    assert answers == [[200] * rounds] * 16
    assert found == []
    assert set(rewritten) == {0}
    assert broken(sender, carrier) == []
    for world in worlds:
        assert weighed(world) == (8 * rounds, 8 * rounds)
        assert numbers(world.sender, world) == [*range(1, 1 + 12 * rounds + 1)]
        assert numbers(world.carrier, world) == [*range(1, 1 + 8 * rounds + 1)]


def test_two_that_accept_at_once_are_not_both_right(sent):
    answers = race(*[lambda: sent.carrier.client().post(f"{sent.copy}/accept")] * 8)
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    assert [one.type for one in told(sent.sender, sent.id)] == ["test_parcel.sent", "test_parcel.accepted"]
    assert broken(sent.sender, sent.carrier) == []


@contextmanager
def writer(environment, side, key, trips, *paths):
    """Run a process that writes as a side, and kill it at the end."""
    command = [sys.executable, "-m", WRITER, json.dumps(side.api.headers), key, str(trips), *paths]
    options = {"stdout": subprocess.PIPE, "text": True, "preexec_fn": die_with_parent()}
    with subprocess.Popen(command, env=environment, cwd=ROOT, **options) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("trips", [1, 2, 3, 4, 5])
def test_process_killed_after_any_trip_has_written_all_or_nothing(sent, service_environment, trips):
    with writer(service_environment, sent.carrier, "k", trips, f"{sent.copy}/weigh") as process:
        assert process.stdout.readline() == "stopped\n"

    committed = trips == 5
    assert broken(sent.sender, sent.carrier) == []
    assert weighed(sent) == ((1, 1) if committed else (0, 0))

    answer = sent.carrier.api.post(f"{sent.copy}/weigh", headers={"Idempotency-Key": "k-0"})
    assert data(answer)["weighed"] == 1
    assert ("Idempotency-Replayed" in answer.headers) is committed
    assert weighed(sent) == (1, 1)
    assert numbers(sent.sender, sent) == numbers(sent.carrier, sent) == [1, 2]
    assert broken(sent.sender, sent.carrier) == []


def test_processes_killed_at_any_moment_leave_equal_copies(sent, service_environment, long):
    for round_ in range(10 if long else 3):
        with (
            writer(service_environment, sent.carrier, f"c{round_}", 0, f"{sent.copy}/weigh") as one,
            writer(service_environment, sent.sender, f"s{round_}", 0, f"{sent.own}/weigh") as other,
        ):
            assert [process.stdout.readline() for process in (one, other)] == ["200\n"] * 2
            time.sleep(random.random() / 2)
        assert broken(sent.sender, sent.carrier) == []
        own, copy = weighed(sent)
        assert own == copy
        assert numbers(sent.sender, sent) == numbers(sent.carrier, sent) == [*range(1, own + 2)]
