"""The dispatcher and the watch over endpoints as Celery tasks, rung by commits and by beat. They may run anywhere, twice."""

import time

from celery import shared_task

from core import clock, jobs

from . import dispatcher, health, queries
from .handlers import DISPATCH
from .history.tasks import keep
from .replays.tasks import carry_on

__all__ = ["carry_on", "keep", "run_dispatch"]

_BUDGET_SECONDS = 8.0


@shared_task(name=DISPATCH, ignore_result=True, acks_late=False, expires=jobs.RING_SECONDS)
def run_dispatch() -> None:
    """Deliver what is due for eight seconds at most, until nothing is left or the worker ends."""
    if not queries.is_work_waiting():
        return
    pace = dispatcher.default_pace()
    end = time.monotonic() + _BUDGET_SECONDS

    def go_on(quiet_seconds: float) -> bool:
        return time.monotonic() < end and quiet_seconds < pace.linger_seconds and not jobs.is_ending()

    dispatcher.run(dispatcher.dispatch(go_on, pace=pace))


@shared_task(name="webhooks.watch_endpoints", ignore_result=True, acks_late=False, expires=jobs.RING_SECONDS)
def watch_endpoints() -> None:
    """Warn of endpoints that fail and disable those that are gone or failed for too long."""
    health.watch(at=clock.now())
