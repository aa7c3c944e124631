"""Messages to the workers outlive the wait of a worker that a busy machine gives little."""

from datetime import datetime, timedelta

import orjson
import pytest
import redis
from django.conf import settings

from config.celery import app
from config.schedule import SCHEDULE
from core import clock, jobs
from fhir_api.exports.actions import CARRY_ON, SWEEP
from ledger.recording import RELAY
from webhooks.handlers import DISPATCH, _Doorbell
from webhooks.replays.tasks import CARRY_ON as REPLAY

LEAST = timedelta(seconds=45)  # the longest that a worker under load was seen to take


@pytest.fixture
def broker():
    """Return the broker with the queues as this test alone fills them; no worker takes from this run's database."""
    found = redis.Redis.from_url(settings.REDIS_URL)
    found.delete("celery", "webhooks")
    yield found
    found.delete("celery", "webhooks")


def lives(broker, queue):
    message = orjson.loads(broker.lpop(queue))
    return datetime.fromisoformat(message["headers"]["expires"]) - clock.now()


def test_ring_of_a_commit_waits_for_a_starved_worker(broker):
    _Doorbell().ring()
    assert lives(broker, "webhooks") > LEAST


@pytest.mark.parametrize("task", [RELAY, CARRY_ON, SWEEP, REPLAY])
def test_message_of_beat_and_of_actions_waits_too(broker, task):
    jobs.enqueue(task, expires_seconds=jobs.RING_SECONDS)
    assert lives(broker, "celery") > LEAST


def test_no_periodic_message_expires_before_a_starved_worker_sees_it():
    short = {name: entry["options"]["expires"] for name, entry in SCHEDULE.items()}
    assert {name for name, seconds in short.items() if timedelta(seconds=seconds) < LEAST} == set()
    app.loader.import_default_modules()
    own = {name: task.expires for name, task in app.tasks.items() if task.expires is not None}
    assert DISPATCH in own
    assert {name for name, seconds in own.items() if timedelta(seconds=seconds) < LEAST} == set()
