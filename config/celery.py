"""The Celery application. All state of jobs lives in PostgreSQL; a message only starts the work sooner."""

import os
from typing import Any

from celery import Celery, bootsteps
from celery.signals import (
    after_task_publish,
    beat_init,
    task_postrun,
    worker_init,
    worker_process_init,
    worker_shutting_down,
)
from django.conf import settings

from core import jobs

from . import acknowledging, pulse
from .orphans import end_with_parent
from .schedule import ROUTES, SCHEDULE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

acknowledging.install()
app = Celery("health_procurement")
app.conf.update(settings.CELERY)
app.conf.beat_schedule = SCHEDULE
app.conf.task_routes = ROUTES
app.autodiscover_tasks()

_LOADED_BY = os.getpid()  # the worker; its pool processes are forked later


@worker_process_init.connect
def _end_with_the_worker(**_: Any) -> None:
    """End a pool process when its worker is killed; without a worker it would get no work and never stop."""
    end_with_parent(_LOADED_BY)


@worker_init.connect
def _share_the_end(**_: Any) -> None:
    """Make what tells the pool's processes that the worker ends, before they are forked."""
    jobs.share_ending()


@worker_shutting_down.connect
def _tell_the_end(**_: Any) -> None:
    """Have tasks that run for seconds end early: a worker that stops waits for them."""
    jobs.tell_ending()


class Pulse(bootsteps.StartStopStep):
    """Notes every few seconds that the worker's loop turns, from the time on at which it takes messages."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._timer: Any = None

    def start(self, consumer: Any) -> None:
        """Begin to note."""
        name = _name(consumer.hostname)
        pulse.beat(name)
        self._timer = consumer.timer.call_repeatedly(pulse.EVERY_SECONDS, pulse.beat, (name,))

    def stop(self, consumer: Any) -> None:
        """Note no more; the worker takes no messages now."""
        if self._timer is not None:
            consumer.timer.cancel(self._timer)
            self._timer = None


app.steps["consumer"].add(Pulse)


@task_postrun.connect
def _note_work(*, task: Any, state: str | None = None, **_: Any) -> None:
    """Note that a process of the pool has done a task."""
    if state == "SUCCESS" and task.request.hostname:
        pulse.worked(_name(task.request.hostname))


@beat_init.connect
def _note_messages(**_: Any) -> None:
    """Note each message that beat has handed to the broker."""
    after_task_publish.connect(_note_message)


def _note_message(**_: Any) -> None:
    pulse.beat(pulse.BEAT)


def _name(hostname: str) -> str:
    return hostname.partition("@")[0]
