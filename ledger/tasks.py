"""The relay as a Celery task: rung after a commit, and swept every second by beat."""

from celery import shared_task

from . import relay
from .recording import RELAY


@shared_task(name=RELAY, ignore_result=True, acks_late=False)
def run_relay() -> None:
    """Handle due facts until none is left, ten batches at most."""
    for _ in range(10):
        if relay.run_once() == 0:
            return
