"""Celery tasks of prescriptions, imported here because Celery looks for them here; each is safe to run twice."""

import logging

from celery import shared_task

from core import clock
from core.rounds import SLICE_SECONDS, until

from .evidence.tasks import checkpoint
from .prescribing.sweeping import sweep
from .recurring.tasks import make_recurring_drafts

__all__ = ["checkpoint", "make_recurring_drafts", "sweep_expiry"]

SWEEP = "prescriptions.sweep"

log = logging.getLogger(__name__)


@shared_task(name=SWEEP, ignore_result=True, acks_late=False)
def sweep_expiry() -> None:
    """Stamp prescriptions that have expired, and tell which will soon; runs every five seconds."""
    swept = sweep(at=clock.now(), go_on=until(SLICE_SECONDS))
    if any(swept):
        level = logging.WARNING if swept.left_out else logging.INFO
        log.log(level, "prescriptions swept", extra=swept._asdict())
