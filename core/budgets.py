"""The time that one request may use, over all its statements, and how its work is ended from outside.

The thread that answers a request holds a `Budget`. `core.pipeline` looks at it before each trip, and a `Watchdog` cancels the
statement that runs when the time is used up or the client has gone. Source: PostgreSQL manual, "Canceling Commands in
Progress".
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections

from .errors import Unavailable

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.05
CANCEL_SECONDS = 1.0
AGAIN_SECONDS = 0.5  # what is done about the first cancel, as rolling back, must not be cancelled by the next
GRACE_SECONDS = 5.0
PATIENT_SECONDS = 0.05  # how long a request works before it lets others pass
AT_ONCE_SECONDS = 0.05


class TooCostly(Unavailable):
    """The request has used up the time that it may take; nothing is done, or what a batch answers as done."""

    code = "too_costly"
    title = "The request takes more time than it may; ask for less."


class Ended(StrEnum):
    """Why the work of a request was ended."""

    TIME = "time"
    CLIENT = "client"


# Takes how long to let others pass at most, what tells that it is not worth waiting any more, and whether to wait for a turn
# among the tenant's own requests; returns for how many seconds it let others pass, and waited in all.
Way = Callable[[float, Callable[[], bool], bool], tuple[float, float]]


class Budget:
    """The time of one request, from the moment that a thread takes it."""

    __slots__ = (
        "cancelled_at",
        "connection",
        "ended",
        "is_gone",
        "lock",
        "over",
        "path",
        "patient_seconds",
        "seconds",
        "started",
        "until",
        "waited",
        "way",
        "yielded",
    )

    def __init__(self, seconds: float, path: str = "") -> None:
        self.seconds = seconds
        self.path = path
        self.started = time.monotonic()
        self.until = self.started + seconds
        self.is_gone = False  # set by the event loop when the client has disconnected
        self.ended: Ended | None = None
        self.cancelled_at = 0.0
        self.over = False
        self.lock = threading.Lock()
        self.connection: Any = None
        self.way: Way | None = None  # holds the thread up
        self.patient_seconds = PATIENT_SECONDS  # of work, until it lets others pass
        self.waited = 0.0
        self.yielded = 0.0  # of that, to light requests of others

    def give_way(self, *, waits: bool) -> None:
        """Let others pass, if this request has worked for long.

        Light requests of other tenants cost it half of its pace at most. If it `waits`, other requests of its own tenant may
        have their turn first: it may wait for as long as it may work, no longer.
        """
        worked = time.monotonic() - self.started - self.waited
        if self.way is None or worked < self.patient_seconds:
            return
        until, latest = self.until, max(self.until, self.started + 2 * self.seconds)
        self.until = latest  # what waits is not ended for it
        yielded, waited = self.way(max(0.0, min(AT_ONCE_SECONDS, worked - self.yielded)), self.is_spent, waits)
        self.yielded += yielded
        self.waited += waited
        self.until = min(until + waited, latest)

    def hurry(self) -> None:
        """Give way no more."""
        self.way = None

    def is_spent(self) -> bool:
        """Tell whether the request must do no more."""
        return self.ended is not None or self.is_gone or time.monotonic() > self.until

    def cancel(self, reason: Ended) -> bool:
        """End the statement that runs, if the request is not answered yet; return whether this is the first time.

        The lock holds the thread at the end of its request, so that the next request's statement is never cancelled.
        """
        with self.lock:
            if self.over or time.monotonic() < self.cancelled_at + AGAIN_SECONDS:
                return False
            is_first, self.ended = not self.cancelled_at, reason
            self.cancelled_at = time.monotonic()
            held = self.connection.connection
            if held is not None and not held.closed:
                with suppress(psycopg.Error, OSError):  # the server is away: its statement ends without us
                    held.cancel_safe(timeout=CANCEL_SECONDS)
        return is_first


class _OfThread(threading.local):
    budget: Budget | None = None


_of_thread = _OfThread()


def begin(budget: Budget) -> None:
    """Let this thread work within a budget until `end`."""
    budget.connection = connections[DEFAULT_DB_ALIAS]
    _of_thread.budget = budget


def end() -> None:
    """End the work of this thread. A connection on which a statement was cancelled is closed: a late cancel dies with it."""
    budget = _of_thread.budget
    if budget is None:
        return
    _of_thread.budget = None
    with budget.lock:
        budget.over = True
    if budget.cancelled_at:
        budget.connection.close()


def check() -> None:
    """Refuse to go on where the time of this thread's request is used up, or its client has gone.

    :raises TooCostly: as said.
    """
    budget = _of_thread.budget
    if budget is not None:
        # In a transaction it holds locks: who waits for them, of this tenant or another, must not wait for its turn as well.
        budget.give_way(waits=not budget.connection.in_atomic_block)
        if budget.is_spent():
            raise refusal()


def give_way() -> None:
    """Let others pass: for loops of many reads or much computing, whose transaction holds no lock that others wait for."""
    budget = _of_thread.budget
    if budget is not None:
        budget.give_way(waits=True)


def hurry() -> None:
    """Let this thread's request give way no more: from its next trip on it holds a lock that others of its kind wait for.

    While they wait they seem to work, and would then give way in their turn, each holding the lock meanwhile.
    """
    budget = _of_thread.budget
    if budget is not None:
        budget.hurry()


def is_spent() -> bool:
    """Tell whether `check` would refuse."""
    budget = _of_thread.budget
    return budget is not None and budget.is_spent()


def refusal() -> TooCostly:
    """Return the refusal of a request whose time is used up."""
    budget = _of_thread.budget
    seconds = f"{budget.seconds:g} " if budget else ""
    return TooCostly(f"The request may take {seconds}seconds; ask for less at once.", headers={"Retry-After": "5"})


def raise_to(seconds: float | None) -> None:
    """Give this thread's request as many seconds as its tenant is entitled to, if that is more."""
    budget = _of_thread.budget
    if budget is not None and seconds and seconds > budget.seconds:
        budget.seconds, budget.until = seconds, budget.started + seconds


def finish() -> None:
    """Grant the seconds that it takes to keep and answer what is done, whatever was refused."""
    budget = _of_thread.budget
    if budget is not None:
        with budget.lock:
            budget.until = max(budget.until, time.monotonic() + GRACE_SECONDS)
            budget.ended = None


def unbounded() -> None:
    """Stop counting, and giving way: what follows is bounded by itself, as a streamed answer is."""
    budget = _of_thread.budget
    if budget is not None:
        budget.until = float("inf")
        budget.hurry()


class Watchdog:
    """A thread that looks at all budgets of this process and cancels what must end."""

    def __init__(self, told: Callable[[Budget], None]) -> None:
        self.budgets: set[Budget] = set()
        self.told = told  # called once with each budget whose work was ended

    def start(self) -> None:
        """Look until the process ends."""
        threading.Thread(target=self._look, name="watchdog", daemon=True).start()

    def _look(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            now = time.monotonic()
            for budget in self.budgets.copy():
                if budget.is_gone or now > budget.until:
                    try:
                        if budget.cancel(Ended.CLIENT if budget.is_gone else Ended.TIME):
                            self.told(budget)
                    except Exception:
                        log.exception("a statement could not be cancelled")
