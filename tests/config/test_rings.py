"""Messages to the workers outlive the wait of a worker that a busy machine gives little."""

from contextlib import suppress
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
