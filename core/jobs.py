"""Messages to the workers, sent after the commit. State lives in PostgreSQL, so a lost message loses nothing."""

import logging
import mmap
import threading
import time

from celery import current_app
from django.db import transaction

log = logging.getLogger(__name__)

# How long a message waits for its worker. One that a busy machine gives little must still find it: it does the work of all
# messages that wait, and finds nothing left for the others, each a query.
RING_SECONDS = 60
_QUIET_SECONDS = 5.0
_PAUSE_SECONDS = 0.02
_quiet_until = 0.0
_ending: mmap.mmap | None = None


def enqueue(task: str, *, expires_seconds: int | None = None) -> None:
    """Send a task by name once the open transaction is committed; a broker that does not answer is only logged.

    A message tells nothing but that there is work. A transaction sends the same one once, however often it is enqueued.
    """
    if _is_enqueued(task):
        return

    def send() -> None:
        if _behind is None:
            _send(task, expires_seconds)
        else:
            _behind.put(task, expires_seconds)

    send.task = task  # type: ignore[attr-defined]
    transaction.on_commit(send, robust=True)


def _is_enqueued(task: str) -> bool:
    """Tell whether the open transaction sends the message already, and no savepoint can take that back before its own."""
    held = transaction.get_connection()
    open_here = {*held.savepoint_ids}
    return any(
        points <= open_here and getattr(waiting, "task", "") == task for points, waiting, _ in held.run_on_commit
    )


def _send(task: str, expires_seconds: int | None) -> None:
    global _quiet_until
    if time.monotonic() < _quiet_until:
        return  # a broker that hangs delays one message every five seconds, not every one
    try:
        current_app.send_task(task, expires=expires_seconds, ignore_result=True, retry=False)
    except Exception as error:  # whatever the broker's client raises: a periodic sweep does the work later
        _quiet_until = time.monotonic() + _QUIET_SECONDS
        log.warning("task message not sent", extra={"task": task, "error": type(error).__name__})


class _Behind:
    """A thread that sends messages behind the requests that enqueue them: at once, and those of the next moment together."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[str, int | None] = {}
        threading.Thread(target=self._send_all, name="jobs", daemon=True).start()

    def put(self, task: str, expires_seconds: int | None) -> None:
        with self._changed:
            self._waiting[task] = expires_seconds
            self._changed.notify()

    def _send_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                taken, self._waiting = self._waiting, {}
            for task, expires_seconds in taken.items():
                _send(task, expires_seconds)
            time.sleep(_PAUSE_SECONDS)


_behind: _Behind | None = None


def send_behind() -> None:
    """Send this process's messages from a thread of their own from now on, so that no request waits for the broker.

    For processes that live on: what a thread has not sent when its process ends is found by the periodic sweeps.
    """
    global _behind
    _behind = _Behind()


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
