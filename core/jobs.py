"""Doorbell of the workers: a message after the commit. State lives in PostgreSQL, so a lost message loses nothing."""

import logging
from typing import Any

from celery import current_app
from django.db import transaction

log = logging.getLogger(__name__)


def enqueue(task: str, *, expires_seconds: int | None = None, **arguments: Any) -> None:
    """Send a task by name once the open transaction is committed; a broker that is away is only logged."""

    def send() -> None:
        try:
            current_app.send_task(task, kwargs=arguments, expires=expires_seconds, ignore_result=True, retry=False)
        except Exception as error:  # the sweep does the work later whatever the broker's client raised
            log.warning("doorbell not rung", extra={"task": task, "error": type(error).__name__})

    transaction.on_commit(send, robust=True)
