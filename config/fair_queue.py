"""The order in which requests get a thread: tenants in turn, so that no tenant's requests stand in front of all others'.

Alone, a tenant has every thread. While others want threads, or did so within the last second, it holds at most its share, and
a single one if it is heavy and they are not: its requests keep the cores and the interpreter busy while the others' are
answered. Those that had begun before take turns (`turns`). Spare threads serve only whoever holds none, so a newcomer need not
wait until a slow request of another ends.
"""

import itertools
import math
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

from .turns import Turn

T = TypeVar("T")

RECENT_SECONDS = 1.0
HEAVY = 0.5  # from so many threads on, held on the mean of the last second, a key is heavy

POLL_SECONDS = 0.02  # how often a job looks whether its key's turn is free


class _Worker(Generic[T]):
    """A thread, and the place where its next job is put."""

    __slots__ = ("inbox", "is_spare")

    def __init__(self, *, is_spare: bool) -> None:
        self.inbox: SimpleQueue[tuple[str, T]] = SimpleQueue()
        self.is_spare = is_spare


class _Load:
    """How many threads a key held on the mean of late; what is long ago counts little."""

    __slots__ = ("at", "mean")

    def __init__(self) -> None:
        self.at, self.mean = time.monotonic(), 0.0

    def now(self, held: int) -> float:
        """Return the mean, where so many were held since it was last asked for."""
        at = time.monotonic()
        self.mean = held + (self.mean - held) * math.exp((self.at - at) / RECENT_SECONDS)
        self.at = at
        return self.mean


class FairQueue(Generic[T]):
    """Threads that carry out jobs, each job under a key.

    :param threads: how many threads there are for everybody.
    :param share: how many of them one key holds at most while others want some.
    :param spare: further threads, which serve keys that hold none.
    """

    def __init__(self, work: Callable[[str, T], None], *, threads: int, share: int, spare: int) -> None:
        self.work = work
        self.threads, self.share, self.spare = threads, share, spare
        self._lock = threading.Lock()
        self._ended = threading.Condition(self._lock)  # told when a job has ended
        self._held_up: Counter[str] = Counter()  # jobs that let others pass
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        self._held: dict[str, int] = {}
        self._seen: OrderedDict[str, float] = (
            OrderedDict()
        )  # when each key last wanted or held a thread, the latest last
        self._loads: dict[str, _Load] = {}
        self._idle: list[_Worker[T]] = []
        self._idle_spare: list[_Worker[T]] = []

    def start(self) -> None:
        """Start the threads."""
        for number in range(self.threads + self.spare):
            worker: _Worker[T] = _Worker(is_spare=number >= self.threads)
            (self._idle_spare if worker.is_spare else self._idle).append(worker)
            threading.Thread(target=self._serve, args=(worker,), name=f"django-{number}", daemon=True).start()

    def put(self, key: str, job: T) -> None:
        """Give a job to a thread, or let it wait for its turn."""
        with self._lock:
            self._note(key)
            self._waiting.setdefault(key, deque()).append(job)
            self._feed()

    def waiting(self) -> list[T]:
        """Return the jobs that wait for a thread."""
        with self._lock:
            return [job for jobs in self._waiting.values() for job in jobs]

    def give_way(self, turn: Turn, seconds: float, must_end: Callable[[], bool], waits: bool) -> tuple[float, float]:
        """Hold a job up: for so many seconds at most while light jobs of others work, then until its heavy key's turn is its own.

        :param must_end: tells whether it is not worth waiting for the turn any more.
        :param waits: whether it may wait for the turn, which it may not while it holds what others wait for.
        :return: for how many seconds it was held up by others, and in all.
        """
        began = time.monotonic()
        with self._lock:
            self._held_up[turn.key] += 1
            while (left := began + seconds - time.monotonic()) > 0 and self._others_work(turn.key):
                self._ended.wait(left)
            yielded = time.monotonic() - began
            if turn.is_over() and self._is_limited(turn.key):
                turn.leave()
                if waits:
                    self._ended.wait(POLL_SECONDS)
            while waits and not self._may_work(turn) and not must_end():
                self._ended.wait(POLL_SECONDS)
            self._held_up[turn.key] -= 1
            if not self._held_up[turn.key]:
                del self._held_up[turn.key]
        return yielded, time.monotonic() - began

    def is_limited(self, key: str) -> bool:
        """Tell whether a key is heavy beside others that are not."""
        with self._lock:
            return self._is_limited(key)

    def _is_limited(self, key: str) -> bool:
        if not self._is_heavy(key):
            return False
        recent = time.monotonic() - RECENT_SECONDS
        late = itertools.takewhile(lambda one: one[1] > recent, reversed(self._seen.items()))
        return any(other != key and not self._is_heavy(other) for other, _ in late)

    def _others_work(self, key: str) -> bool:
        others = (other for other, held in self._held.items() if other != key and held > self._held_up[other])
        return any(not self._is_heavy(other) for other in others)

    def _may_work(self, turn: Turn) -> bool:
        if self._is_limited(turn.key):
            return turn.take()
        turn.leave()
        return True

    def _serve(self, worker: _Worker[T]) -> None:
        while True:
            key, job = worker.inbox.get()
            try:
                self.work(key, job)
            finally:
                del job
                with self._lock:
                    self._note(key)
                    self._give_back(key)
                    (self._idle_spare if worker.is_spare else self._idle).append(worker)
                    self._feed()

    def _note(self, key: str) -> None:
        self._seen[key] = time.monotonic()
        self._seen.move_to_end(key)
        while len(self._seen) > 2 and next(iter(self._seen.values())) < time.monotonic() - RECENT_SECONDS:
            gone, _ = self._seen.popitem(last=False)
            if gone not in self._held:
                self._loads.pop(gone, None)

    def _is_heavy(self, key: str) -> bool:
        load = self._loads.get(key)
        return load is not None and load.now(self._held.get(key, 0)) > HEAVY

    def _give_back(self, key: str) -> None:
        held = self._held[key]
        self._loads[key].now(held)
        left = held - 1
        if left:
            self._held[key] = left
        else:
            del self._held[key]
        if self._held_up:
            self._ended.notify_all()

    def _feed(self) -> None:
        """Hand out what may be taken now."""
        while self._waiting and self._idle and (key := self._next(self._may_hold)) is not None:
            self._hand_over(key, self._idle.pop())
        while self._waiting and self._idle_spare and (key := self._next(self._holds_none)) is not None:
            self._hand_over(key, self._idle_spare.pop())

    def _next(self, allowed: Callable[[str], bool]) -> str | None:
        """Return the key whose turn it is: the one that may take a thread and has waited for its turn longest."""
        return next((key for key in self._waiting if allowed(key)), None)

    def _hand_over(self, key: str, worker: _Worker[T]) -> None:
        jobs = self._waiting[key]
        held = self._held.get(key, 0)
        self._loads.setdefault(key, _Load()).now(held)
        self._held[key] = held + 1
        worker.inbox.put((key, jobs.popleft()))
        if jobs:
            self._waiting.move_to_end(key)
        else:
            del self._waiting[key]

    def _may_hold(self, key: str) -> bool:
        held = self._held.get(key, 0)
        share = 1 if self._is_limited(key) else self.share
        return held < share or (held < self.threads and self._is_alone(key))

    def _holds_none(self, key: str) -> bool:
        return key not in self._held

    def _is_alone(self, key: str) -> bool:
        """Tell whether no other key wants, holds or lately held a thread."""
        if len(self._waiting) > 1 or len(self._held) > 1 or (self._held and key not in self._held):
            return False
        latest = next((seen for other, seen in reversed(self._seen.items()) if other != key), 0.0)
        return latest < time.monotonic() - RECENT_SECONDS


class Streams:
    """The threads that send answers part by part: a slow reader holds one for long, so they are bounded, also by key."""

    def __init__(self, *, most: int, share: int) -> None:
        self.most, self.share = most, share
        self._held: dict[str, int] = {}
        self._freed = threading.Condition()

    def acquire(self, key: str, *, timeout: float) -> bool:
        """Wait for a thread of the key's share; False if there was none in time."""
        with self._freed:
            if not self._freed.wait_for(lambda: self._may(key), timeout):
                return False
            self._held[key] = self._held.get(key, 0) + 1
            return True

    def release(self, key: str) -> None:
        """Give a thread back."""
        with self._freed:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
            self._freed.notify_all()

    def _may(self, key: str) -> bool:
        return sum(self._held.values()) < self.most and self._held.get(key, 0) < self.share
