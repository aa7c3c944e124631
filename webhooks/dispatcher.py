"""The loop that delivers: fan out, claim, send, finish. Any number of them may run; leases keep them apart."""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

import psycopg
from django.conf import settings

from . import schedule
from .deliveries import GONE, deliver
from .egress import TOTAL_SECONDS, Egress, way_out
from .queues import Outcome, Queues, Share, Target, Work

log = logging.getLogger(__name__)

Result = TypeVar("Result")

_PATIENCE = 10
_HOT_FOR_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How much at once and how long to wait. The lease must outlast a POST (15 s) and its flush with a wide margin."""

    concurrency: int = 256
    per_endpoint: int = 8
    fan_out: int = 1000
    lease_seconds: float = 60.0
    hot_seconds: float = 0.05
    idle_seconds: float = 0.25
    linger_seconds: float = 0.5
    away_seconds: float = 1.0
    gather_seconds: float = 0.004


class Dispatcher:
    """One process's share of the work."""

    def __init__(self, egress: Egress, *, pace: Pace, steps: Sequence[float]) -> None:
        self._egress = egress
        self._pace = pace
        self._steps = steps
        self._queues = Queues(lease=uuid4())
        self._inflight: Counter[UUID] = Counter()
        self._sending: set[asyncio.Task[None]] = set()
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
            if taking:
                moved = bool(await self._queues.fan_out(limit=self._pace.fan_out)) or moved
                moved = await self._take() or moved
        except psycopg.OperationalError as error:
            self._away += 1
            if not taking and self._away > _PATIENCE:
                raise
            log.warning("database away", extra={"error": type(error).__name__})
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
        gone = sorted({outcome.endpoint_id for outcome in outcomes if outcome.status == GONE})
        if gone:
            await self._queues.silence(gone)
        return True

    async def _take(self) -> bool:
        free = self._pace.concurrency - len(self._sending)
        if free < max(1, self._pace.concurrency // 8):
            return False
        share = Share(free, self._pace.per_endpoint, self._pace.lease_seconds)
        claimed = await self._queues.claim(share, self._inflight)
        if not claimed:
            return False
        targets = await self._queues.targets(list({work.endpoint_id for work in claimed}))
        await self._set_aside(claimed, targets)
        for work in claimed:
            target = targets[work.endpoint_id]
            if target.active and target.tenant_active:
                self._start(work, target)
        return True

    async def _set_aside(self, claimed: Sequence[Work], targets: dict[UUID, Target]) -> None:
        """Give back what must not be sent now: endpoints that were disabled, tenants that are suspended."""
        silent = [work for work in claimed if not targets[work.endpoint_id].active]
        paused = [
            work for work in claimed if targets[work.endpoint_id].active and not targets[work.endpoint_id].tenant_active
        ]
        if silent:
            await self._queues.freeze(silent)
        if paused:
            await self._queues.pause(paused)

    def _start(self, work: Work, target: Target) -> None:
        self._inflight[work.endpoint_id] += 1
        task = asyncio.create_task(self._send(work, target))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, work: Work, target: Target) -> None:
        try:
            self._outcomes.append(await deliver(self._egress, work, target, steps=self._steps))
            self.sent += 1
        except Exception:  # a fault of ours must not stop the others; the lease brings this one back
            log.exception("delivery broke", extra={"delivery": str(work.delivery_id)})
        finally:
            self._inflight[work.endpoint_id] -= 1
            if not self._inflight[work.endpoint_id]:
                del self._inflight[work.endpoint_id]
            self._wake.set()


async def dispatch(go_on: Callable[[float], bool], *, pace: Pace) -> int:
    """Run one dispatcher with the platform's settings until `go_on` says no."""
    steps = settings.WEBHOOKS_RETRY_SCHEDULE_SECONDS or schedule.DEFAULT
    async with way_out(connections=pace.concurrency) as egress:
        return await Dispatcher(egress, pace=pace, steps=steps).run(go_on)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run the loop on uvloop where that is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def default_pace() -> Pace:
    """The pace with the lease of the settings.

    :raises ValueError: the lease is not longer than one POST may take.
    """
    lease = settings.WEBHOOKS_LEASE_SECONDS
    if lease <= TOTAL_SECONDS and not settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS:
        raise ValueError(f"WEBHOOKS_LEASE_SECONDS must be more than {TOTAL_SECONDS:.0f}")
    return Pace(lease_seconds=lease)
