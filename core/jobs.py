"""Messages to the workers, sent after the commit. State lives in PostgreSQL, so a lost message loses nothing."""

import logging
import mmap
import time
from typing import Any

from celery import current_app
from django.db import transaction

log = logging.getLogger(__name__)

# How long a message waits for its worker. One that a busy machine gives little must still find it: it does the work of all
# messages that wait, and finds nothing left for the others, each a query.
RING_SECONDS = 60
_QUIET_SECONDS = 5.0
_quiet_until = 0.0
_ending: mmap.mmap | None = None


def enqueue(task: str, *, expires_seconds: int | None = None, **arguments: Any) -> None:
    """Send a task by name once the open transaction is committed; a broker that does not answer is only logged.

    A transaction sends the same message once, however often it is enqueued.
    """
    if _is_enqueued(task, arguments):
        return

    def send() -> None:
        global _quiet_until
        if time.monotonic() < _quiet_until:
            return  # a broker that hangs delays one request every five seconds, not every request
        try:
            current_app.send_task(task, kwargs=arguments, expires=expires_seconds, ignore_result=True, retry=False)
        except Exception as error:  # whatever the broker's client raises: a periodic sweep does the work later
            _quiet_until = time.monotonic() + _QUIET_SECONDS
            log.warning("task message not sent", extra={"task": task, "error": type(error).__name__})

    send.message = (task, arguments)  # type: ignore[attr-defined]
    transaction.on_commit(send, robust=True)


def _is_enqueued(task: str, arguments: dict[str, Any]) -> bool:
    """Tell whether the open transaction sends the message already, and no savepoint can take that back before its own."""
    held = transaction.get_connection()
    open_here = {*held.savepoint_ids}
    return any(
        points <= open_here and getattr(waiting, "message", None) == (task, arguments)
        for points, waiting, _ in held.run_on_commit
    )


def share_ending() -> None:
    """Make what `tell_ending` writes visible to the processes that this one forks from now on."""
    global _ending
    _ending = mmap.mmap(-1, 1)


def tell_ending() -> None:
    """Tell the forked processes that their worker ends; takes no lock, so it may run in a signal handler."""
    if _ending is not None:
        _ending[0] = 1


def is_ending() -> bool:
    """Tell whether the worker of this process ends; a task that runs for seconds then ends early."""
    return _ending is not None and _ending[0] != 0
