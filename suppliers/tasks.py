"""Celery tasks of suppliers, imported here because Celery looks for them here; each is safe to run twice."""

from celery import shared_task

from core import clock
from core.rounds import SLICE_SECONDS, until

from .inventory import sweeping

__all__ = ["expire_reservations", "tell_levels"]


@shared_task(name="suppliers.expire_reservations", ignore_result=True, acks_late=False)
def expire_reservations() -> None:
    """End the reservations whose time is over; runs every five seconds."""
    sweeping.expire_reservations(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.tell_levels", ignore_result=True, acks_late=False)
def tell_levels() -> None:
    """Tell of levels that have changed since they were told of; runs every second."""
    sweeping.tell_levels(at=clock.now(), go_on=until(SLICE_SECONDS))
