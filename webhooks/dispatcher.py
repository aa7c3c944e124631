"""The loop that delivers: fan out, claim, send, finish. Any number of them may run; leases keep them apart."""

import asyncio
import contextlib
import gc
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

import psycopg
from django.conf import settings
from django.db import DatabaseError, connection

from core import clock

from . import health, meters, schedule
from .deliveries import deliver, signing_keys
from .egress import Egress, way_out
from .meters import Meters
from .queues import Outcome, Queues, Share, Target, Work
from .signing import SigningKey

log = logging.getLogger(__name__)

Result = TypeVar("Result")

_PATIENCE = 10
_HOT_FOR_SECONDS = 10.0
_NOTE_SECONDS = 60.0
_NOTES = 100_000


@dataclass(frozen=True, slots=True)
class Pace:
    """How much at once and how long to wait. The lease must outlast a POST (15 s) and its flush with a wide margin."""

    concurrency: int = 256
    first_share: float = 0.7
    fan_out: int = 1000
    lease_seconds: float = 60.0
    hot_seconds: float = 0.05
    idle_seconds: float = 0.25
    linger_seconds: float = 0.5
    away_seconds: float = 1.0
    gather_seconds: float = 0.004
    watch_seconds: float | None = None  # how often to look after failing endpoints; None leaves that to beat


class Dispatcher:
    """One process's share of the work."""

    def __init__(self, egress: Egress, *, pace: Pace, steps: Sequence[float]) -> None:
        self._egress = egress
        self._pace = pace
        self._steps = steps
        self._queues = Queues(lease=uuid4())
        self._sending: set[asyncio.Task[None]] = set()
        self._first_tries = 0
        self._key_notes = KeyNotes()
        self._meters = Meters()
        self._metered_at = 0.0
        self._watching: asyncio.Task[None] | None = None
        self._watched_at = time.monotonic()
        self._gone = False
        self._outcomes: list[Outcome] = []
        self._wake = asyncio.Event()
        self._moved_at = time.monotonic()
        self._away = 0
        self.sent = 0

    async def run(self, go_on: Callable[[float], bool]) -> int:
        """Work while `go_on(seconds without work)` says so, then finish what is in flight; tell how many were sent.

        A database that is away is waited for; what was sent meanwhile is written down when it is back.
        """
        try:
            while self._sending or self._outcomes or go_on(time.monotonic() - self._moved_at):
                taking = go_on(time.monotonic() - self._moved_at)
                await self._breathe(await self._round(taking=taking))
            if self._watching is not None:
                await self._watching
            await self._count(at_once=True)
        finally:
            for task in self._sending:
                task.cancel()
            await self._queues.close()
        return self.sent

    async def _round(self, *, taking: bool) -> bool:
        """One turn; tell whether anything moved.

        :raises psycopg.OperationalError: the end has come and the database stays away; the leases bring the rest back.
        """
        try:
            moved = await self._flush()
            self._watch()
            await self._count()
            if taking:
                moved = bool(await self._queues.fan_out(limit=self._pace.fan_out)) or moved
                moved = await self._take() or moved
        except psycopg.OperationalError as error:
            self._away += 1
            if not taking and self._away > _PATIENCE:
                raise
            log.warning("database away", extra={"error": type(error).__name__})
            await self._queues.close()  # whatever is wrong with this connection or its plans, the next has not
            await asyncio.sleep(self._pace.away_seconds)
            return False
        self._away = 0
        return moved

    async def _breathe(self, moved: bool) -> None:
        """Wait for an answer or the next turn; a moment of gathering makes one statement of several answers."""
        if moved or self._sending:
            self._moved_at = time.monotonic()
        if moved and not self._sending:
            return
        if not self._outcomes:
            quiet = time.monotonic() - self._moved_at
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                wait = self._pace.hot_seconds if quiet < _HOT_FOR_SECONDS else self._pace.idle_seconds
                await asyncio.wait_for(self._wake.wait(), wait)
        await asyncio.sleep(self._pace.gather_seconds)

    async def _flush(self) -> bool:
        outcomes = list(self._outcomes)
        if not outcomes:
            return False
        await self._queues.finish(outcomes)
        del self._outcomes[: len(outcomes)]
        self._meters.finished(outcomes)
        self._gone |= any(outcome.status == schedule.GONE for outcome in outcomes)
        return True

    async def _count(self, *, at_once: bool = False) -> None:
        """Hand the figures to monitoring once a second; those of a lost connection are handed over with the next."""
        now = time.monotonic()
        if not at_once and now - self._metered_at < meters.EVERY_SECONDS:
            return
        self._metered_at = now
        if figures := self._meters.take():
            try:
                await self._queues.count(figures)
            except psycopg.OperationalError:
                self._meters.put_back(figures)

    def _watch(self) -> None:
        """Have the endpoints looked after beside the loop: when one said 410, and now and then where beat may be away."""
        often = self._pace.watch_seconds
        due = often is not None and time.monotonic() - self._watched_at >= often
        if (self._gone or due) and (self._watching is None or self._watching.done()):
            self._gone, self._watched_at = False, time.monotonic()
            self._watching = asyncio.create_task(asyncio.to_thread(_watch_endpoints))

    async def _take(self) -> bool:
        free = self._pace.concurrency - len(self._sending)
        if free < max(1, self._pace.concurrency // 8):
            return False
        first = max(round(self._pace.concurrency * self._pace.first_share) - self._first_tries, 0)
        claim = await self._queues.claim(Share(free, first, self._pace.lease_seconds))
        self._meters.claimed(claim.work)
        if claim.inactive:
            await self._queues.freeze(claim.inactive)
        if not claim.work:
            return False
        targets = await self._queues.targets(list({work.endpoint_id for work in claim.work}))
        silent = [work for work in claim.work if not targets[work.endpoint_id].active]
        if silent:  # disabled since the claim
            await self._queues.release(silent)
        keys = {target.id: signing_keys(target) for target in targets.values() if target.active}
        for work in claim.work:
            if work.endpoint_id in keys:
                self._start(work, targets[work.endpoint_id].url, keys[work.endpoint_id])
        if used := self._key_notes.stale(targets.values(), at=time.monotonic()):
            await self._queues.use_keys(used)
        return True

    def _start(self, work: Work, url: str, keys: Sequence[SigningKey]) -> None:
        task = asyncio.create_task(self._send(work, url, keys))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, work: Work, url: str, keys: Sequence[SigningKey]) -> None:
        first = work.attempts <= work.attempts_before
        self._first_tries += first
        try:
            self._outcomes.append(await deliver(self._egress, work, url, keys, steps=self._steps))
            self.sent += 1
        except Exception:  # a fault of ours must not stop the others; the lease brings this one back
            log.exception("delivery broke", extra={"delivery": str(work.delivery_id)})
        finally:
            self._first_tries -= first
            self._wake.set()


class KeyNotes:
    """Which keys were noted as used of late, so that each is written at most once a minute."""

    def __init__(self) -> None:
        self._noted: dict[UUID, float] = {}

    def stale(self, targets: Iterable[Target], *, at: float) -> list[UUID]:
        """Tell which keys of the targets are to be noted now, at a moment of the monotonic clock."""
        keys = {secret_id for target in targets if target.active for secret_id, _, _ in target.sealed_keys}
        found = sorted(key for key in keys if self._noted.get(key, -_NOTE_SECONDS) <= at - _NOTE_SECONDS)
        if found and len(self._noted) > _NOTES:
            self._noted.clear()
        self._noted.update(dict.fromkeys(found, at))
        return found


def _watch_endpoints() -> None:
    """Look after failing endpoints in a thread of the loop; the next look makes good what a fault left undone."""
    try:
        health.watch(at=clock.now())
    except DatabaseError as error:
        log.warning("endpoints not watched", extra={"error": type(error).__name__})
    finally:
        connection.close()  # the thread may be another one next time


async def dispatch(go_on: Callable[[float], bool], *, pace: Pace) -> int:
    """Run one dispatcher with the platform's settings until `go_on` says no."""
    steps = settings.WEBHOOKS_RETRY_SCHEDULE_SECONDS or schedule.DEFAULT
    async with way_out(connections=pace.concurrency) as egress:
        return await Dispatcher(egress, pace=pace, steps=steps).run(go_on)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run the loop on uvloop where that is installed."""
    with _seldom_collecting():
        try:
            import uvloop
        except ImportError:
            return asyncio.run(work)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(work)


@contextlib.contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Spare the garbage collector what lives as long as the process, and the POSTs in flight, which leave few cycles.

    Looking through them again and again took a fifth of the sender's time.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def default_pace() -> Pace:
    """The pace with the lease of the settings.

    :raises ValueError: the lease is not longer than one POST may take.
    """
    lease, longest = settings.WEBHOOKS_LEASE_SECONDS, settings.WEBHOOKS_TIMEOUT_SECONDS
    if lease <= longest and not settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS:
        raise ValueError(f"WEBHOOKS_LEASE_SECONDS must be more than {longest:g}")
    return Pace(lease_seconds=lease)
