"""Celery tasks of appointments; each is safe to run twice."""

from celery import shared_task

from core import clock
from core.rounds import SLICE_SECONDS, until

from .reminders import remind

REMIND = "appointments.remind"


@shared_task(name=REMIND, ignore_result=True, acks_late=False)
def remind_patients() -> None:
    """Tell the reminders that are due; runs every five seconds."""
    remind(at=clock.now(), go_on=until(SLICE_SECONDS))
