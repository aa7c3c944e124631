"""Replays as a Celery task: rung when one is asked for, swept by beat. It may run anywhere, twice or not."""

from celery import shared_task

from . import worker
from .actions import CARRY_ON

_BUDGET_SECONDS = 20.0


@shared_task(name=CARRY_ON, ignore_result=True, acks_late=False)
def carry_on() -> None:
    """Carry open replays on for twenty seconds at most."""
    worker.carry_on(seconds=_BUDGET_SECONDS)
