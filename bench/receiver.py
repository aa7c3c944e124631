"""A local receiver of webhooks: verifies with the PyPI `standardwebhooks` library and keeps what arrived.

In a process of its own: `python -m bench.receiver --port 8900`; `PUT /secret {"secret": "whsec_…"}` tells it a key,
`GET /received` shows everything, `DELETE /received` forgets it. In a test: `with Receiver() as receiver: …`.
"""

import argparse
import asyncio
import json
import random
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

LARGEST_BODY = 1024 * 1024


@dataclass(frozen=True)
class Arrival:
    """One request as it came in, byte for byte."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float = field(default_factory=time.time)

    @property
    def message_id(self) -> str:
        """The `webhook-id`, the same on every retry."""
        return self.headers.get("webhook-id", "")

    def event(self) -> dict[str, Any]:
        """The envelope."""
        found: dict[str, Any] = json.loads(self.body)
        return found

    def verified_by(self, secrets: Iterable[str]) -> bool:
        """Tell whether the library accepts the message with one of the secrets."""
        return any(_accepts(secret, self) for secret in secrets)


@dataclass(frozen=True)
class Reply:
    """What the receiver says."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"ok"
    delay_seconds: float = 0.0


Script = Callable[[Arrival, int], Reply]


def _all_is_well(arrival: Arrival, number: int) -> Reply:
    return Reply()


def answers_after(happened: threading.Event) -> Script:
    """Make a script that keeps every request waiting until something has happened, a minute at most."""

    def script(arrival: Arrival, number: int) -> Reply:
        happened.wait(60)
        return Reply()

    return script


def _accepts(secret: str, arrival: Arrival) -> bool:
    try:
        Webhook(secret).verify(arrival.body, dict(arrival.headers))
    except WebhookVerificationError:
        return False
    return True


class Receiver:
    """An HTTP server on the loopback; `script(arrival, number)` decides the reply to the number-th request (from 1)."""

    def __init__(self, *, port: int = 0, script: Script | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.port = port
        self._tls = tls
        self.secrets: list[str] = []
        self.received: list[Arrival] = []
        self._script = script or _all_is_well
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}/hook"

    async def start(self) -> web.AppRunner:
        """Listen; the caller's loop serves."""
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_put("/secret", self._learn)
        app.router.add_get("/received", self._show)
        app.router.add_delete("/received", self._forget)
        app.router.add_post("/{path:.*}", self._receive)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port, ssl_context=self._tls).start()
        self.port = int(runner.addresses[0][1])
        return runner

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        if not ready.wait(10):
            raise RuntimeError("the receiver did not start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)

    def wait(self, count: int, *, seconds: float = 60.0) -> list[Arrival]:
        """Wait until so many requests have come; return all that came, be it fewer."""
        with self._changed:
            self._changed.wait_for(lambda: len(self.received) >= count, seconds)
            return list(self.received)

    def summary(self) -> list[dict[str, Any]]:
        """Everything that came, with the library's judgement."""
        return [
            {
                "path": arrival.path,
                "verified": arrival.verified_by(self.secrets),
                "headers": {name: value for name, value in arrival.headers.items() if name.startswith("webhook-")},
                "event": arrival.event(),
            }
            for arrival in self.received
        ]

    def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.new_event_loop()
        runner = self._loop.run_until_complete(self.start())
        ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    async def _receive(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        arrival = Arrival(request.path, headers, await request.read())
        with self._changed:
            self.received.append(arrival)
            number = len(self.received)
            self._changed.notify_all()
        reply = self._script(arrival, number)
        if reply.delay_seconds:
            await asyncio.sleep(reply.delay_seconds)
        return web.Response(status=reply.status, headers=reply.headers, body=reply.body)

    async def _learn(self, request: web.Request) -> web.Response:
        self.secrets.append((await request.json())["secret"])
        return web.Response(status=204)

    async def _show(self, request: web.Request) -> web.Response:
        return web.json_response(self.summary())

    async def _forget(self, request: web.Request) -> web.Response:
        self.received.clear()
        return web.Response(status=204)


def _script_of(options: argparse.Namespace) -> Script:
    def script(arrival: Arrival, number: int) -> Reply:
        status = 503 if random.random() < options.fail_rate else 200
        return Reply(status=status, delay_seconds=options.delay_ms / 1000)

    return script


async def _forever(receiver: Receiver) -> None:
    await receiver.start()
    print(f"listening on {receiver.url}", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Run until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--secret", action="append", default=[], help="a key to verify with; may be repeated")
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--fail-rate", type=float, default=0, help="share of requests answered 503")
    options = parser.parse_args()
    receiver = Receiver(port=options.port, script=_script_of(options))
    receiver.secrets += options.secret
    try:
        asyncio.run(_forever(receiver))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
