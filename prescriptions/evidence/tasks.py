"""Celery tasks of evidence; each is safe to run twice."""

import logging

from celery import shared_task

from core import clock

from .checkpoints import make_checkpoints

CHECKPOINT = "prescriptions.checkpoint"

log = logging.getLogger(__name__)


@shared_task(name=CHECKPOINT, ignore_result=True, acks_late=False)
def checkpoint() -> None:
    """Seal the audit histories up to now; runs every hour."""
    if made := make_checkpoints(at=clock.now()):
        log.info("audit checkpoints made", extra={"count": made})
