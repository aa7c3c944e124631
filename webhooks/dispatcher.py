"""The loops that deliver: fan out and claim, send, finish. Any number of dispatchers may run; leases keep them apart.

A dispatcher serves all lanes or some (`core.lanes`), each in its turn.
"""

import asyncio
import contextlib
import gc
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

import psycopg
from django.conf import settings
from django.db import DatabaseError, connection

from core import clock, lanes
from core.lanes import Lane, Turns

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
_STARTS = 16


@dataclass(frozen=True, slots=True)
class Pace:
    """How much at once and how long to wait. The lease must outlast a POST (15 s) and its flush with a wide margin.

    `concurrency` counts what is claimed and waits to be sent with what is in flight.
    """

    concurrency: int = 512
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

    def __init__(self, egress: Egress, *, pace: Pace, steps: Sequence[float], served: Sequence[Lane]) -> None:
        self._egress = egress
        self._pace = pace
        self._steps = steps
        lease = uuid4()
        self._claims, self._queues = Queues(lease=lease), Queues(lease=lease)  # neither waits for the other
        self._turns, self._writing_turns = Turns(served), Turns(served)
        self._claimed: deque[tuple[Lane, Work, Target, list[SigningKey]]] = deque()
        self._sending: set[asyncio.Task[None]] = set()
        self._first_tries = 0
        self._key_notes = KeyNotes()
        self._meters = Meters()
        self._metered_at = 0.0
        self._watching: asyncio.Task[None] | None = None
        self._watched_at = time.monotonic()
        self._gone = False
        self._outcomes: dict[Lane, list[Outcome]] = {lane: [] for lane in served}
        self._answered = asyncio.Event()  # there are outcomes to be written down
        self._room = asyncio.Event()  # places became free, ours or an endpoint's
        self._moved_at = time.monotonic()
        self.sent = 0

    async def run(self, go_on: Callable[[float], bool]) -> int:
        """Work while `go_on(seconds without work)` says so, then finish what is in flight; tell how many were sent.

        A database that is away is waited for; what was sent meanwhile is written down when it is back.

        :raises psycopg.OperationalError: the end has come and the database stays away; the leases bring the rest back.
        """
        taking = asyncio.create_task(self._keep_taking(go_on))
        taking.add_done_callback(lambda _: self._answered.set())
        writing = asyncio.create_task(self._keep_writing(taking))
        try:
            await asyncio.gather(taking, writing)
            if self._watching is not None:
                await self._watching
            await self._count(at_once=True)
        finally:
            self._claimed.clear()
            rest = (taking, writing, *self._sending)
            for task in rest:
                task.cancel()
            await asyncio.gather(*rest, return_exceptions=True)
            await self._claims.close()
            await self._queues.close()
        return self.sent

    async def _keep_taking(self, go_on: Callable[[float], bool]) -> None:
        """Queue new events and take due deliveries, while earlier ones are sent and written down."""
        while go_on(self._quiet_seconds()):
            try:
                more = await self._take()
            except psycopg.OperationalError as error:
                await self._wait_for_database(self._claims, error)
                continue
            if not more:
                hot = self._quiet_seconds() < _HOT_FOR_SECONDS
                await _rest(self._room, self._pace.hot_seconds if hot else self._pace.idle_seconds)

    async def _keep_writing(self, taking: "asyncio.Task[None]") -> None:
        """Write down what was answered, until nothing is taken any more and nothing is in flight.

        A moment of gathering makes one statement of several answers.

        :raises psycopg.OperationalError: nothing is taken any more and the database stays away.
        """
        away = 0
        while self._is_busy() or not taking.done():
            await _rest(self._answered, meters.EVERY_SECONDS)
            if self._sending:
                await asyncio.sleep(self._pace.gather_seconds)
            try:
                await self._flush()
                self._watch()
                await self._count()
                away = 0
            except psycopg.OperationalError as error:
                away += 1
                if taking.done() and away > _PATIENCE:
                    raise
                await self._wait_for_database(self._queues, error)
                self._answered.set()

    async def _wait_for_database(self, queues: Queues, error: psycopg.OperationalError) -> None:
        log.warning("database away", extra={"error": type(error).__name__})
        await queues.close()  # whatever is wrong with this connection or its plans, the next has not
        await asyncio.sleep(self._pace.away_seconds)

    def _quiet_seconds(self) -> float:
        """How long there has been nothing to do."""
        return 0.0 if self._is_busy() else time.monotonic() - self._moved_at

    def _is_busy(self) -> bool:
        return bool(self._claimed or self._sending or any(self._outcomes.values()))

    def _free(self) -> int:
        """How many more may be taken; answers that cannot be written down hold the sending back."""
        unwritten = sum(map(len, self._outcomes.values()))
        return self._pace.concurrency - max(len(self._claimed) + len(self._sending), unwritten)

    async def _flush(self) -> None:
        for lane in self._writing_turns.round():
            if waiting := self._outcomes[lane]:
                await self._finish(waiting)

    async def _finish(self, waiting: list[Outcome]) -> None:
        """Write down what a lane's receivers have answered by now."""
        outcomes = list(waiting)
        await self._queues.finish(outcomes)
        del waiting[: len(outcomes)]
        self._moved_at = time.monotonic()
        if self._free() >= self._pace.concurrency // 2:  # few large claims cost less than many small ones
            self._room.set()
        self._meters.finished(outcomes)
        self._gone |= any(outcome.status == schedule.GONE for outcome in outcomes)

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
        """Queue new events and start due deliveries, each lane in its turn; tell whether there is probably more."""
        turn = self._turns.round()
        more, is_room = False, None
        for lane, sharing in zip(turn, range(len(turn), 0, -1), strict=True):
            fanned = await self._claims.fan_out(lane, limit=self._pace.fan_out)
            if is_room is None:  # for all lanes alike: what the first takes must not cost the others their turn
                is_room = self._free() >= max(1, self._pace.concurrency // 8)
            works, is_full = await self._claim(lane, sharing) if is_room else ([], False)
            if fanned.events or works:
                self._moved_at = time.monotonic()
            more = more or fanned.more or is_full
        return more

    async def _claim(self, lane: Lane, sharing: int) -> tuple[Sequence[Work], bool]:
        """Start due deliveries of a lane that shares what is free with those after it; tell whether there may be more."""
        limit = -(-self._free() // sharing)
        if limit < 1:
            return [], False
        first = max(round(self._pace.concurrency * self._pace.first_share) - self._first_tries, 0)
        claim = await self._claims.claim(lane, Share(limit, -(-first // sharing), self._pace.lease_seconds))
        if claim.inactive:
            await self._claims.freeze(claim.inactive)
        if claim.work:
            await self._begin(lane, claim.work)
        return claim.work, len(claim.work) == limit

    async def _begin(self, lane: Lane, works: Sequence[Work]) -> None:
        """Hand claimed work to those who send it, with the endpoints as they are now."""
        self._meters.claimed(works)
        targets = await self._claims.targets({work.endpoint_id: work.tenant_id for work in works})
        silent = [work for work in works if not targets[work.endpoint_id].active]
        if silent:  # disabled since the claim
            await self._claims.release(silent)
        keys = {target.id: signing_keys(target) for target in targets.values() if target.active}
        idle = not self._claimed
        for work in works:
            if work.endpoint_id in keys:
                self._first_tries += _is_first(work)
                self._claimed.append((lane, work, targets[work.endpoint_id], keys[work.endpoint_id]))
        if idle:
            self._start()
        if used := self._key_notes.stale(targets.values(), at=time.monotonic()):
            await self._claims.use_keys(used)

    def _start(self) -> None:
        """Start a few and the rest in the loop's next turns, so that answers and the database need not wait for all."""
        for _ in range(min(_STARTS, len(self._claimed))):
            task = asyncio.create_task(self._send(*self._claimed.popleft()))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        if self._claimed:
            asyncio.get_running_loop().call_soon(self._start)

    async def _send(self, lane: Lane, work: Work, target: Target, keys: Sequence[SigningKey]) -> None:
        try:
            outcome = await deliver(self._egress, work, target.url, keys, steps=self._steps)
            self._outcomes[lane].append(outcome)
            self.sent += 1
        except Exception:  # a fault of ours must not stop the others; the lease brings this one back
            log.exception("delivery broke", extra={"delivery": str(work.delivery_id)})
        finally:
            self._first_tries -= _is_first(work)
            self._answered.set()


def _is_first(work: Work) -> bool:
    return work.attempts <= work.attempts_before


async def _rest(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event that is then forgotten, so long at most."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    event.clear()


class KeyNotes:
    """Which keys were noted as used of late, so that each is written at most once a minute."""

    def __init__(self) -> None:
        self._noted: dict[UUID, float] = {}

    def stale(self, targets: Iterable[Target], *, at: float) -> dict[UUID, UUID]:
        """Tell which keys of the targets, and of which tenants, are to be noted now, by the monotonic clock."""
        keys = {key: target.tenant_id for target in targets if target.active for key, _, _ in target.sealed_keys}
        due = at - _NOTE_SECONDS
        found = {key: keys[key] for key in sorted(keys) if self._noted.get(key, -_NOTE_SECONDS) <= due}
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


async def dispatch(go_on: Callable[[float], bool], *, pace: Pace, served: Sequence[Lane] = ()) -> int:
    """Run one dispatcher with the platform's settings, for some lanes or all, until `go_on` says no."""
    steps = settings.WEBHOOKS_RETRY_SCHEDULE_SECONDS or schedule.DEFAULT
    async with way_out(connections=pace.concurrency) as egress:
        return await Dispatcher(egress, pace=pace, steps=steps, served=served or lanes.lanes()).run(go_on)


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
