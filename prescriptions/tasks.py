"""Celery tasks of prescriptions, imported here because Celery looks for them here; each is safe to run twice."""

from celery import shared_task

from core import clock

from .evidence.tasks import checkpoint
from .prescribing.sweeping import sweep

__all__ = ["checkpoint", "sweep_expiry"]

SWEEP = "prescriptions.sweep"


@shared_task(name=SWEEP, ignore_result=True, acks_late=False)
def sweep_expiry() -> None:
    """Stamp prescriptions that have expired, and tell which will soon; runs every minute."""
    sweep(at=clock.now())
