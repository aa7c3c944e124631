"""The dispatcher as a Celery task: rung after a commit, swept every second by beat. It may run anywhere, twice or not."""

import time

from celery import shared_task

from . import dispatcher, queries
from .handlers import DISPATCH
from .history.tasks import keep
from .replays.tasks import carry_on

__all__ = ["carry_on", "keep", "run_dispatch"]

_BUDGET_SECONDS = 8.0


@shared_task(name=DISPATCH, ignore_result=True, acks_late=False, expires=2)
def run_dispatch() -> None:
    """Deliver what is due for eight seconds at most, or until nothing is left."""
    if not queries.is_work_waiting():
        return
    pace = dispatcher.default_pace()
    end = time.monotonic() + _BUDGET_SECONDS

    def go_on(quiet_seconds: float) -> bool:
        return time.monotonic() < end and quiet_seconds < pace.linger_seconds

    dispatcher.run(dispatcher.dispatch(go_on, pace=pace))
