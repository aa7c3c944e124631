"""Celery tasks of procurement; each is safe to run twice."""

from celery import shared_task

from core import clock
from core.rounds import SLICE_SECONDS, until

from .approvals import sweeping


@shared_task(name=sweeping.TELL, ignore_result=True, acks_late=False)
def tell_approvals() -> None:
    """Tell buyers of approvals that are overdue; runs every minute."""
    sweeping.tell_approvals(at=clock.now(), go_on=until(SLICE_SECONDS))
