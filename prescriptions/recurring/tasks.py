"""Celery tasks of recurring treatments; each is safe to run twice."""

from celery import shared_task

from core import clock
from core.rounds import SLICE_SECONDS, until

from .drafting import make_drafts

MAKE_DRAFTS = "recurring.make_drafts"


@shared_task(name=MAKE_DRAFTS, ignore_result=True, acks_late=False)
def make_recurring_drafts() -> None:
    """Make the drafts of recurring treatments that are due; runs every five seconds."""
    make_drafts(at=clock.now(), go_on=until(SLICE_SECONDS))
