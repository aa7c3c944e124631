"""The dispatcher behind Celery: a commit rings a real worker, and a doorbell that nobody hears costs nothing."""

import os
import sys
import time

import pytest
from celery import current_app

from bench.receiver import Receiver
from tests.conftest import part, wait
from tests.webhooks.worlds import new_world
from webhooks import queries, tasks
from webhooks.models import DueDelivery

WORKER = [
    "-m",
    "celery",
    "-A",
    "config.celery",
    "worker",
    "--queues",
    "webhooks",
    "--concurrency",
    "1",
    "--loglevel",
    "warning",
]


@pytest.fixture
def worker(service_environment, tmp_path):
    """A Celery worker of the webhooks queue on this run's database and Valkey."""
    extra = {"WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS": "true"}
    with part([sys.executable, *WORKER], {**os.environ, **service_environment, **extra}, tmp_path) as child:
        wait(child, lambda: current_app.control.ping(timeout=0.3))
        yield


def test_commit_rings_a_worker_that_delivers(worker):
    with Receiver() as receiver:
        world = new_world()
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        time.sleep(1.5)  # let the worker fall asleep: the next commit has to wake it
        world.record()
        (arrival,) = receiver.wait(1)
        assert arrival.verified_by([endpoint["secret"]])
        end = time.monotonic() + 5
        while world.rows(DueDelivery) and time.monotonic() < end:
            time.sleep(0.05)
        assert [d["state"] for d in world.deliveries(endpoint)] == ["delivered"]


def test_run_dispatch_is_safe_to_run_twice(world, receiver):
    world.endpoint(receiver.url, events=["product.*"])
    world.record()
    tasks.run_dispatch()
    tasks.run_dispatch()
    assert len(receiver.received) == 1


def test_is_work_waiting_tells_of_new_events(world):
    tasks.run_dispatch()
    world.record()
    assert queries.is_work_waiting()
