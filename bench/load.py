"""A small load generator: some keep-alive connections, each sending the next prepared request when its answer is whole."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import uvloop

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"content-length: "
_PATIENCE_SECONDS = 30


@dataclass
class Outcome:
    """What was answered within the measured time."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    sample: bytes = b""

    @property
    def count(self) -> int:
        """How many answers came."""
        return len(self.latencies)

    @property
    def per_second(self) -> float:
        """Answers a second."""
        return self.count / self.seconds

    def percentile(self, share: float) -> float:
        """A latency in milliseconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


def request(method: str, path: str, *, headers: dict[str, str], body: bytes = b"") -> bytes:
    """The bytes of one request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + _END_OF_HEAD + body


class _Client(asyncio.Protocol):
    """One connection; with an `interval`, a request is due each so many seconds, and waits if the one before is late."""

    def __init__(
        self,
        requests: Iterator[bytes],
        outcome: Outcome,
        until: float,
        done: "asyncio.Future[None]",
        interval: float = 0.0,
    ) -> None:
        self.requests, self.outcome, self.until, self.done = requests, outcome, until, done
        self.interval = interval
        self.buffer = b""
        self.sent_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._next()

    def data_received(self, data: bytes) -> None:
        self.buffer = self.buffer + data if self.buffer else data
        head = self.buffer.find(_END_OF_HEAD)
        if head < 0:
            return
        start = self.buffer.lower().find(_LENGTH, 0, head + 2)
        length = int(self.buffer[start + len(_LENGTH) : self.buffer.find(b"\r", start)]) if start >= 0 else 0
        if len(self.buffer) < head + 4 + length:
            return
        now = time.perf_counter()
        self.outcome.latencies.append(now - self.sent_at)
        self.outcome.statuses[int(self.buffer[9:12])] += 1
        self.outcome.sample = self.buffer[head + 4 :]
        self.buffer = b""
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed the connection"))

    def _next(self) -> None:
        """Send the next request, at once or when it is due; its latency counts from then."""
        now, was_due = time.perf_counter(), self.sent_at
        self.sent_at = was_due + self.interval if self.interval and was_due else now
        if self.sent_at > now:
            asyncio.get_running_loop().call_later(self.sent_at - now, self._send)
        else:
            self._send()

    def _send(self) -> None:
        following = next(self.requests, None) if time.perf_counter() < self.until else None
        if following is None:
            if not self.done.done():
                self.done.set_result(None)
            self.transport.close()
        else:
            self.transport.write(following)


async def _run(port: int, requests: Iterator[bytes], seconds: float, connections: int, per_second: float) -> Outcome:
    loop = asyncio.get_running_loop()
    outcome = Outcome()
    started = time.perf_counter()
    interval = connections / per_second if per_second else 0.0
    waiting = []
    for _ in range(connections):
        done = loop.create_future()
        waiting.append(done)
        await loop.create_connection(
            lambda done=done: _Client(requests, outcome, started + seconds, done, interval), "127.0.0.1", port
        )
    async with asyncio.timeout(seconds + _PATIENCE_SECONDS):
        await asyncio.gather(*waiting)
    outcome.seconds = time.perf_counter() - started
    return outcome


def run(
    port: int,
    requests: Sequence[bytes],
    *,
    seconds: float,
    connections: int,
    once: bool = False,
    per_second: float = 0.0,
) -> Outcome:
    """Send the requests, again and again unless `once`, for some seconds.

    :param per_second: how many of all connections are due in a second; without, each is sent when the one before is answered.

    :raises ConnectionError: the server closed a connection.
    :raises TimeoutError: it stopped answering.
    """
    chosen = iter(requests) if once else itertools.cycle(requests)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_run(port, chosen, seconds, connections, per_second))
