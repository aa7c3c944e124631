"""The relay as a Celery task: sent after a commit that recorded events, and every second by beat."""

from celery import shared_task

from . import relay
from .recording import RELAY


@shared_task(name=RELAY, ignore_result=True, acks_late=False)
def run_relay() -> None:
    """Handle due events until none is left, at most ten batches of each lane."""
    for _ in range(10):
        if relay.run_once() == 0:
            return
