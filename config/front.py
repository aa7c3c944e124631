"""The HTTP front: an RSGI application that calls Django's handler, `granian --interface rsgi config.front:app`.

Before a thread is used, the headers are checked and the whole body is read within limits of size and time, so a slow
client occupies a coroutine, never a thread. A request that breaks a rule still passes Django's outermost middleware,
with the refusal in its environ, so that its answer has the same problem document, headers and log line as every other.
"""

import asyncio
import gc
import io
import json
import logging
import multiprocessing
import os
import sys
import time
from collections import deque
from contextlib import suppress
from functools import partial
from typing import Any

from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished
from django.db import DEFAULT_DB_ALIAS, close_old_connections, connections
from django.http.response import StreamingHttpResponse
from django.urls import get_resolver
from granian.rsgi import HTTPProtocol, ProtocolClosed, Scope

from api.transport import REFUSAL, DuplicateHeader, HeaderNotAscii, HeadersTooLarge, Overloaded, RequestTimedOut
from api.url_areas import area_of
from core import budgets, jobs
from core.budgets import Budget, Watchdog
from core.errors import Malformed, PlatformError, TooLarge

from . import occupancy
from .bounds import body_limit, request_seconds, spooled_limit
from .callers import Callers
from .fair_queue import FairQueue, Streams
from .orphans import end_with_parent
from .probes import LIVE, READY, answer_live
from .turns import Turn
from .uploads import Spooled, Uploads
from .wsgi import application

THREADS = int(os.environ.get("WEB_THREADS") or 8)
SHARE = int(os.environ.get("WEB_SHARE") or 0) or max(1, THREADS // 3)
BODY_SECONDS = float(os.environ.get("WEB_BODY_SECONDS") or 10)
QUEUE_SECONDS = 10.0
STREAM_SECONDS = 30.0
SWEEP_SECONDS = 0.02
WATCH_SECONDS = 0.2
HEADER_BYTES = 32_768
DRAIN_BYTES = 64 * 1_048_576

SINGLE = frozenset(
    {
        "authorization",
        "content-length",
        "content-type",
        "host",
        "idempotency-key",
        "if-match",
        "if-modified-since",
        "if-none-exist",
        "if-none-match",
        "if-unmodified-since",
        "origin",
        "range",
        "traceparent",
        "x-api-key",
        "x-http-method-override",
        "x-membership-id",
        "x-request-id",
        "x-tenant-id",
    }
)
ACTED_UPON = SINGLE | {"prefer", "x-break-glass-reason", "x-forwarded-for", "x-forwarded-proto"}
DROPPED = frozenset({"connection", "keep-alive", "proxy", "te", "upgrade"})

log = logging.getLogger(__name__)
_Environ = dict[str, Any]


class HeaderNames(dict[str, str | None]):
    """CGI names by header name; None for headers that never reach Django. Bounded, since clients choose the names."""

    def __missing__(self, name: str) -> str | None:
        cgi = None if "_" in name or name in DROPPED else "HTTP_" + name.upper().replace("-", "_")
        if name in ("content-type", "content-length"):
            cgi = name.upper().replace("-", "_")
        if len(self) < 512:
            self[name] = cgi
        return cgi


class _Job:
    """One request that waits for its answer."""

    __slots__ = (
        "budget",
        "done",
        "environ",
        "is_gone",
        "key",
        "loop",
        "path",
        "protocol",
        "queued_at",
        "turn",
        "watcher",
    )

    def __init__(self, protocol: HTTPProtocol, environ: _Environ, key: str, path: str) -> None:
        self.protocol, self.environ, self.key, self.path = protocol, environ, key, path
        self.loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = self.loop.create_future()
        self.queued_at = time.monotonic()
        self.budget: Budget | None = None
        self.turn = Turn(key)
        self.is_gone = False
        self.watcher: asyncio.Task[None] | None = None

    async def watch(self) -> None:
        """Notice that the client has disconnected."""
        await self.protocol.client_disconnect()
        self.is_gone = True
        if self.budget is not None:
            self.budget.is_gone = True


class Front:
    """The RSGI application."""

    def __init__(self, *, threads: int = THREADS, share: int = SHARE) -> None:
        self.names = HeaderNames()
        self.callers = Callers()
        self.uploads = Uploads()
        self.queue: FairQueue[_Job] = FairQueue(self._work, threads=threads, share=share, spare=share)
        self.probes: FairQueue[_Job] = FairQueue(self._work, threads=1, share=1, spare=0)
        self.watchdog = Watchdog(occupancy.count_ended)
        self.answered: deque[_Job] = deque()
        self.young: deque[_Job] = deque()  # not old enough to be watched
        self.open = 0
        self.streams = Streams(most=max(1, threads // 2), share=share)
        self.base: _Environ = {
            "SCRIPT_NAME": "",
            "SERVER_NAME": "none.invalid",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.version": (1, 0),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
        }

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the threads in the serving process, after everything is imported."""
        server = multiprocessing.parent_process()
        if server is not None and server.pid is not None:
            end_with_parent(server.pid)
        from api.metrics import start_metrics_server  # imports models, which only `wsgi` has made possible

        start_metrics_server()
        _ = get_resolver().url_patterns  # imported now, not in the first request
        # The threads serve only requests, and `_release` cleans up after each; these receivers are not needed.
        for receiver in (close_old_connections, close_caches, reset_urlconf):
            request_finished.disconnect(receiver)
        self.queue.start()
        self.probes.start()
        self.watchdog.start()
        jobs.send_behind()
        occupancy.show(
            lambda: [job.path for job in self.queue.waiting()],
            lambda: [one.path for one in self.watchdog.budgets.copy()],
        )
        gc.collect()
        gc.freeze()

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        """Answer one request."""
        environ = self.base.copy()
        refusal = self._read_head(scope, environ)
        if scope.path == LIVE and refusal is None and scope.method in ("GET", "HEAD"):
            answer_live(protocol, environ)
            return
        body: io.BytesIO | Spooled = io.BytesIO()
        length = environ.get("CONTENT_LENGTH")
        if refusal is None and (length or "HTTP_TRANSFER_ENCODING" in environ or scope.http_version[0] != "1"):
            try:
                body = await self._receive(scope, protocol, environ)
            except PlatformError as error:
                refusal = error
            except ProtocolClosed:
                return  # the client disconnected before its body was complete
        if refusal is not None:
            environ[REFUSAL] = refusal
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        environ["wsgi.input"] = body
        environ["CONTENT_LENGTH"] = str(body.seek(0, io.SEEK_END) or "")
        body.seek(0)
        job = _Job(protocol, environ, self.callers.key_of(environ), scope.path)
        (self.probes if scope.path == READY else self.queue).put(job.key, job)
        self._open(job)
        await job.done

    async def _receive(self, scope: Scope, protocol: HTTPProtocol, environ: _Environ) -> io.BytesIO | Spooled:
        length, media = environ.get("CONTENT_LENGTH"), environ.get("CONTENT_TYPE") or ""
        if spooled := spooled_limit(scope.method, scope.path, media, announced=length):
            return await self.uploads.receive(protocol, announced=length, limit=spooled)
        limit = body_limit(scope.method, scope.path, announced=length)
        return io.BytesIO(await _read_body(protocol, announced=length, limit=limit))

    def _open(self, job: _Job) -> None:
        """Count one more open request, and schedule the sweep if it is the only one."""
        loop = job.loop
        self.young.append(job)
        self.open += 1
        if self.open == 1:
            loop.call_later(SWEEP_SECONDS, self._sweep, loop)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the coroutines of answered requests; the answers are sent already, so one wake-up for many is enough."""
        while self.answered:
            job = self.answered.popleft()
            self.open -= 1
            if job.watcher is not None:
                job.watcher.cancel()
            if not job.done.done():
                job.done.set_result(None)
        aged = time.monotonic() - WATCH_SECONDS
        while self.young and (self.young[0].done.done() or self.young[0].queued_at < aged):
            job = self.young.popleft()
            if not job.done.done():
                job.watcher = loop.create_task(job.watch())
        if self.open:
            loop.call_later(SWEEP_SECONDS, self._sweep, loop)

    def _read_head(self, scope: Scope, environ: _Environ) -> PlatformError | None:
        path = scope.path
        environ["REQUEST_METHOD"] = scope.method
        environ["PATH_INFO"] = path if path.isascii() else path.encode("utf-8", "replace").decode("latin-1")
        environ["QUERY_STRING"] = scope.query_string
        environ["REMOTE_ADDR"] = scope.client.rpartition(":")[0].strip("[]")
        environ["wsgi.url_scheme"] = scope.scheme
        refusal: PlatformError | None = None
        total = 0
        names = self.names
        seen = set()
        for name, value in scope.headers.items():
            total += len(name) + len(value)
            seen.add(name)
            cgi = names[name]
            if cgi is None:
                continue
            if cgi not in environ:
                environ[cgi] = value
            elif name in SINGLE:
                refusal = DuplicateHeader(f"The header {name} occurs more than once.")
            else:
                environ[cgi] += ("; " if name == "cookie" else ",") + value
        if len(seen) < len(scope.headers):  # Granian leaves out values that are not ASCII
            for name in ACTED_UPON.intersection(scope.headers.keys()) - seen:
                refusal = HeaderNotAscii(f"The header {name} holds characters beyond ASCII.")
        if total > HEADER_BYTES:
            refusal = HeadersTooLarge(f"The headers exceed {HEADER_BYTES} bytes.")
        return refusal

    def _work(self, key: str, job: _Job) -> None:
        try:
            if job.is_gone:
                return
            if time.monotonic() - job.queued_at > QUEUE_SECONDS:
                job.environ[REFUSAL] = Overloaded(headers={"Retry-After": "2"})
            self._budgeted(key, job)
        except ProtocolClosed:
            pass  # the client disconnected
        except Exception:  # Django answers errors of views itself; this one came from elsewhere
            log.exception("the HTTP front failed")
            _fail(job.protocol)
        finally:
            job.environ["wsgi.input"].close()
            self.answered.append(job)

    def _budgeted(self, key: str, job: _Job) -> None:
        """Answer within the time that the request may take."""
        job.budget = budget = Budget(request_seconds(job.environ["REQUEST_METHOD"], job.path), job.path)
        budget.is_gone = job.is_gone
        budget.way = partial(self.queue.give_way, job.turn)
        if self.queue.is_limited(key):
            budget.patient_seconds = 0.0
        budgets.begin(budget)
        self.watchdog.budgets.add(budget)
        try:
            self._call(job)
        finally:
            self.watchdog.budgets.discard(budget)
            budgets.end()
            job.turn.leave()
            _release(job.environ)

    def _call(self, job: _Job) -> None:
        environ = job.environ
        answer = application.respond(environ)
        self.callers.learn(environ, answer.status_code)
        headers = [*answer.headers._store.values()]  # what `items` gives, without a look-up for each name
        headers += [("Set-Cookie", cookie.output(header="")) for cookie in answer.cookies.values()]
        if REFUSAL in environ:
            headers.append(("Connection", "close"))
        try:
            if isinstance(answer, StreamingHttpResponse):
                self._stream(job, answer, headers)
            else:
                job.protocol.response_bytes(answer.status_code, headers, answer.content)
        finally:
            answer.close()

    def _stream(self, job: _Job, answer: StreamingHttpResponse, headers: list[tuple[str, str]]) -> None:
        """Send a streaming answer from this thread, whose database connection its generator uses."""
        budgets.unbounded()  # each part has its own time
        job.turn.leave()  # who reads slowly keeps no other request waiting
        key = self.callers.key_of(job.environ)
        if not self.streams.acquire(key, timeout=QUEUE_SECONDS):  # slow readers must never occupy all threads
            job.protocol.response_empty(503, [("Retry-After", "5"), ("Connection", "close")])
            return
        try:
            transport = job.protocol.response_stream(answer.status_code, headers)
            for part in answer:
                if part:
                    asyncio.run_coroutine_threadsafe(_send(transport, part), job.loop).result(STREAM_SECONDS)
        except TimeoutError:
            log.warning("a client read a streamed answer too slowly; the answer was cut off")
        finally:
            self.streams.release(key)


async def _read_body(protocol: HTTPProtocol, *, announced: str | None, limit: int) -> bytes:
    """Return the whole body.

    :raises Malformed: Content-Length is not a number.
    :raises TooLarge: the body has more than `limit` bytes.
    :raises RequestTimedOut: the body did not arrive in time.
    :raises ProtocolClosed: the client disconnected.
    """
    if announced and not (announced.isascii() and announced.isdigit()):
        raise Malformed("Content-Length is not a number.")
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            if announced and int(announced) <= limit:
                whole: bytes = await protocol()
                return whole
            async for part in protocol:
                size += len(part)
                if size > DRAIN_BYTES:
                    break
                if size <= limit:
                    parts.append(bytes(part))
                else:
                    parts.clear()
    except TimeoutError:
        raise RequestTimedOut(f"The body did not arrive within {BODY_SECONDS:g} seconds.") from None
    if announced or size > limit:  # read to its end first: a client that is still sending reads no answer
        raise TooLarge(f"The body may have at most {limit} bytes here.", limit_bytes=limit)
    return b"".join(parts)


async def _send(transport: Any, part: bytes) -> None:
    await transport.send_bytes(part)


def _fail(protocol: HTTPProtocol) -> None:
    problem = {
        "type": "/problems/internal_error",
        "title": "An unexpected error occurred; it has been recorded.",
        "status": 500,
    }
    problem |= {"detail": problem["title"], "code": "internal_error", "success": False, "errors": []}
    with suppress(Exception):  # the answer may have begun, or the client may have disconnected
        protocol.response_str(500, [("content-type", "application/problem+json")], json.dumps(problem))


def _release(environ: _Environ) -> None:
    """Close database connections that are broken, too old, or were used by a page; cheaper than checking all."""
    held = connections[DEFAULT_DB_ALIAS]
    spent = held.errors_occurred or held.in_atomic_block
    aged = held.close_at is not None and time.monotonic() >= held.close_at
    if spent or aged or area_of(environ["PATH_INFO"]).pages:
        close_old_connections()


app = Front()
