"""Celery tasks of the app; each is safe to run twice."""

from celery import shared_task

from core import clock

from .actions import entitlements, upkeep
from .signin.tasks import send_mails, sweep_credentials

__all__ = ["expire", "send_mails", "sweep_credentials"]


@shared_task(name="organizations.expire", ignore_result=True, acks_late=False)
def expire() -> None:
    """Expire keys, memberships and entitlements, and announce keys that expire soon; runs every minute."""
    at = clock.now()
    upkeep.expire_keys(at=at)
    upkeep.expire_memberships(at=at)
    upkeep.announce_keys(at=at)
    entitlements.end_expired(at=at)
