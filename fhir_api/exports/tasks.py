"""Exports as Celery tasks: rung when one is asked for, swept by beat. They may run anywhere, twice or not."""

from celery import shared_task

from core import clock

from . import upkeep, worker
from .actions import CARRY_ON, SWEEP

_BUDGET_SECONDS = 4.0  # less than beat's five: one process of a pool at most, and other rings are heard


@shared_task(name=CARRY_ON, ignore_result=True, acks_late=False)
def carry_on() -> None:
    """Carry open exports on for four seconds at most."""
    worker.carry_on(seconds=_BUDGET_SECONDS)


@shared_task(name=SWEEP, ignore_result=True, acks_late=False)
def sweep() -> None:
    """Expire exports and delete the files of those that are over."""
    upkeep.sweep(at=clock.now())
