"""Messages to the workers, sent after the commit. State lives in PostgreSQL, so a lost message loses nothing."""

import logging
import time
from typing import Any

from celery import current_app
from django.db import transaction

log = logging.getLogger(__name__)

_QUIET_SECONDS = 5.0
_quiet_until = 0.0


def enqueue(task: str, *, expires_seconds: int | None = None, **arguments: Any) -> None:
    """Send a task by name once the open transaction is committed; a broker that does not answer is only logged."""

    def send() -> None:
        global _quiet_until
        if time.monotonic() < _quiet_until:
            return  # a broker that hangs delays one request every five seconds, not every request
        try:
            current_app.send_task(task, kwargs=arguments, expires=expires_seconds, ignore_result=True, retry=False)
        except Exception as error:  # whatever the broker's client raises: a periodic sweep does the work later
            _quiet_until = time.monotonic() + _QUIET_SECONDS
            log.warning("task message not sent", extra={"task": task, "error": type(error).__name__})

    transaction.on_commit(send, robust=True)
