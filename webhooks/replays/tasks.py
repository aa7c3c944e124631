"""Replays as a Celery task: rung when one is asked for, swept by beat. It may run anywhere, twice or not."""

from celery import shared_task

from core.rounds import SLICE_SECONDS, until

from . import worker
from .actions import CARRY_ON


@shared_task(name=CARRY_ON, ignore_result=True, acks_late=False)
def carry_on() -> None:
    """Carry open replays on for four seconds at most."""
    worker.carry_on(go_on=until(SLICE_SECONDS))
