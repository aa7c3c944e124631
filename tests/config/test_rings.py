"""Messages to the workers outlive the wait of a worker that a busy machine gives little."""

import time
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

import orjson
import pytest
import redis
from django.conf import settings
from django.db import transaction

from config.celery import app
from config.schedule import SCHEDULE
from core import clock, jobs
from fhir_api.exports.actions import CARRY_ON, SWEEP
from ledger.recording import RELAY
from webhooks.handlers import DISPATCH, _Doorbell
from webhooks.replays.tasks import CARRY_ON as REPLAY

QUEUES = ("celery", "bulk", "webhooks")
LEAST = timedelta(seconds=45)  # the longest that a worker under load was seen to take


@pytest.fixture
def broker():
    """Return the broker with the queues as this test alone fills them; no worker takes from this run's database."""
    found = redis.Redis.from_url(settings.REDIS_URL)
    found.delete(*QUEUES)
    yield found
    found.delete(*QUEUES)


def lives(broker, queue):
    message = orjson.loads(broker.lpop(queue))
    return datetime.fromisoformat(message["headers"]["expires"]) - clock.now()


def test_ring_of_a_commit_waits_for_a_starved_worker(broker):
    _Doorbell().ring()
    assert lives(broker, "webhooks") > LEAST


@pytest.mark.parametrize(("task", "queue"), [(RELAY, "celery"), (CARRY_ON, "bulk"), (SWEEP, "bulk"), (REPLAY, "bulk")])
def test_message_of_beat_and_of_actions_waits_too(broker, task, queue):
    jobs.enqueue(task, expires_seconds=jobs.RING_SECONDS)
    assert lives(broker, queue) > LEAST


def test_only_what_ends_at_once_shares_a_queue_with_mails():
    app.loader.import_default_modules()
    ours = [name for name in app.tasks if not name.startswith("celery.")]
    queues = {name: app.amqp.router.route({}, name)["queue"].name for name in ours}
    assert {name for name, queue in queues.items() if queue == "celery"} == {
        "ledger.relay",
        "organizations.expire",
        "organizations.send_mails",
    }
    assert {name for name, queue in queues.items() if queue == "webhooks"} == {DISPATCH, "webhooks.watch_endpoints"}
    assert set(queues.values()) == set(QUEUES)


def test_no_periodic_message_expires_before_a_starved_worker_sees_it():
    short = {name: entry["options"]["expires"] for name, entry in SCHEDULE.items()}
    assert {name for name, seconds in short.items() if timedelta(seconds=seconds) < LEAST} == set()
    app.loader.import_default_modules()
    own = {name: task.expires for name, task in app.tasks.items() if task.expires is not None}
    assert DISPATCH in own
    assert {name for name, seconds in own.items() if timedelta(seconds=seconds) < LEAST} == set()


def test_a_transaction_rings_once(broker):
    with transaction.atomic():
        for _ in range(3):
            jobs.enqueue(RELAY, expires_seconds=jobs.RING_SECONDS)
            jobs.enqueue(CARRY_ON, expires_seconds=jobs.RING_SECONDS)
        assert (broker.llen("celery"), broker.llen("bulk")) == (0, 0)
    assert (broker.llen("celery"), broker.llen("bulk")) == (1, 1)
    with transaction.atomic():
        jobs.enqueue(RELAY, expires_seconds=jobs.RING_SECONDS)
    assert broker.llen("celery") == 2


def test_what_a_savepoint_takes_back_is_rung_for_others(broker):
    with transaction.atomic():
        with suppress(LookupError), transaction.atomic():
            jobs.enqueue(RELAY, expires_seconds=jobs.RING_SECONDS)
            raise LookupError
        jobs.enqueue(RELAY, expires_seconds=jobs.RING_SECONDS)
    assert broker.llen("celery") == 1
    with transaction.atomic():
        with transaction.atomic():
            jobs.enqueue(RELAY, expires_seconds=jobs.RING_SECONDS)
        with suppress(LookupError), transaction.atomic():
            jobs.enqueue(RELAY, expires_seconds=jobs.RING_SECONDS)
            raise LookupError
    assert broker.llen("celery") == 2


@pytest.fixture
def behind(monkeypatch):
    """Let this process send its messages as a web process does."""
    monkeypatch.setattr(jobs, "_behind", None)
    jobs.send_behind()


def rung(broker, queue, number):
    """Return how many messages a queue has, once it has so many."""
    end = time.monotonic() + 20
    while broker.llen(queue) < number and time.monotonic() < end:
        time.sleep(0.005)
    return broker.llen(queue)


def commit(task=RELAY):
    with transaction.atomic():
        jobs.enqueue(task, expires_seconds=jobs.RING_SECONDS)


@contextmanager
def paused(broker):
    """Let the broker answer nobody who writes."""
    broker.client_pause(20_000, all=False)
    try:
        yield
    finally:
        broker.client_unpause()


@pytest.mark.usefixtures("behind")
def test_commit_of_a_web_process_does_not_wait_for_the_broker(broker):
    with paused(broker):
        commit()
        assert broker.llen("celery") == 0
    assert rung(broker, "celery", 1) == 1


@pytest.mark.usefixtures("behind")
def test_commits_of_one_moment_ring_together_and_the_last_is_heard(broker):
    with paused(broker):
        for _ in range(50):
            commit()
            commit(CARRY_ON)
    assert rung(broker, "bulk", 1) >= 1
    time.sleep(0.5)
    assert 1 <= broker.llen("celery") <= 2, "the first, and all that came while it was sent"
    before = broker.llen("celery")
    commit()
    assert rung(broker, "celery", before + 1) == before + 1
