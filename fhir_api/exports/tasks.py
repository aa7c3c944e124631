"""Exports as Celery tasks: rung when one is asked for, swept by beat. They may run anywhere, twice or not."""

from celery import shared_task

from core import clock
from core.rounds import SLICE_SECONDS, until

from . import upkeep, worker
from .actions import CARRY_ON, SWEEP


@shared_task(name=CARRY_ON, ignore_result=True, acks_late=False)
def carry_on() -> None:
    """Carry open exports on for four seconds at most."""
    worker.carry_on(go_on=until(SLICE_SECONDS))


@shared_task(name=SWEEP, ignore_result=True, acks_late=False)
def sweep() -> None:
    """Expire exports and delete the files of those that are over."""
    upkeep.sweep(at=clock.now())
