"""The client that goes out: one POST or GET through the guard, and in few words what became of it."""

import ssl
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver
from django.conf import settings
from yarl import URL

from .destinations import BlockedDestination, Rules, check_url, rules
from .guard import Course, GuardedResolver, NotedResponse, course_of_request, guarded_socket, open_socket, trust
from .lookups import resolver as configured_resolver

TOTAL_SECONDS = 15.0
CONNECT_SECONDS = 5.0
EXCERPT_BYTES = 4096
HEADER_BYTES = 8190
HEADER_COUNT = 100
KEPT_HEADERS = ("content-type", "content-length", "date", "retry-after", "server", "x-request-id", "traceparent")
CACHE_HEADERS = ("cache-control", "age")

# What OpenSSL says of a certificate that it does not believe. Source: OpenSSL, X509_STORE_CTX_get_error(3).
_EXPIRED = frozenset({9, 10})  # not yet valid, no longer valid
_OTHER_NAME = frozenset({62, 64})
_PROXY_SAYS_NO = frozenset({403, 407})
_FAILURES = (TimeoutError, aiohttp.ClientError, BlockedDestination, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, or what went wrong: `error` is one of the few words a client may see.

    `timings` holds the milliseconds `dns_ms`, `connect_ms`, `tls_ms` and `ttfb_ms` as far as they are known, and
    `remote_ip` where the request went, or was to go. Nothing of a blocked destination is told.
    """

    status: int | None
    error: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    excerpt: str = ""
    timings: dict[str, int] = field(default_factory=dict)
    remote_ip: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """What a GET brought: the whole body and the headers about its age, or why not.

    `error` is a word of `Answer.error`, or `too_long`.
    """

    status: int | None
    error: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Egress:
    """A pool of guarded connections. No redirects, no proxies of the environment, no cookies, no decompression."""

    def __init__(
        self,
        way: Rules,
        *,
        connections: int = 256,
        resolver: AbstractResolver | None = None,
        total_seconds: float = TOTAL_SECONDS,
    ) -> None:
        self._way = way
        self._connections = connections
        self._resolver = resolver
        self._total_seconds = total_seconds
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        way = self._way
        # Behind an outer proxy every connection goes to the proxy, which is the operator's and may be private.
        open_way = way.allow_private or bool(way.proxy_url)
        connector = aiohttp.TCPConnector(
            limit=self._connections,
            ttl_dns_cache=30,
            ssl=trust(way.ca_file),
            resolver=GuardedResolver(self._resolver or configured_resolver()(), allow_private=open_way),
            socket_factory=open_socket if open_way else guarded_socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            response_class=NotedResponse,
            auto_decompress=False,
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
            max_headers=HEADER_COUNT,
            skip_auto_headers=("Accept", "User-Agent"),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def post(self, url: str, *, body: bytes, headers: dict[str, str]) -> Answer:
        """Send one POST and tell what became of it; it never raises for what a receiver can do.

        A connection from an earlier POST may be closed by the other side while it is used again; then the POST is sent
        once more, which the message's id makes harmless. Source: RFC 9110 section 9.2.2.
        """
        course, until = Course(), time.monotonic() + self._total_seconds
        answer = await self._post(url, body, headers, course, until)
        if answer.error == "connection_lost" and not course.connecting:
            return await self._post(url, body, headers, Course(), until)
        return answer

    async def get(self, url: str, *, headers: dict[str, str], longest_bytes: int) -> Document:
        """Send one GET and read the whole answer; it never raises for what a server can do.

        An answer longer than `longest_bytes` is not read to its end.
        """
        course_of_request.set(Course())
        try:
            async with self._request("GET", url, headers, time.monotonic() + self._total_seconds) as response:
                body = await _whole(response, longest_bytes)
                if body is None:
                    return Document(status=response.status, error="too_long")
                kept = {name: response.headers[name] for name in CACHE_HEADERS if name in response.headers}
                return Document(status=response.status, headers=kept, body=body)
        except _FAILURES as error:
            return Document(status=None, error=_name_of(error))

    async def _post(self, url: str, body: bytes, headers: dict[str, str], course: Course, until: float) -> Answer:
        course_of_request.set(course)
        try:
            async with self._request("POST", url, headers, until, body) as response:
                excerpt = await _begin_of(response)
                return self._answer(response, excerpt, course)
        except _FAILURES as error:
            return self._failure(error, course)

    def _request(
        self, method: str, url: str, headers: dict[str, str], until: float, body: bytes | None = None
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        if self._session is None:
            raise RuntimeError("Egress is used outside `async with`")
        check_url(url, self._way)
        return self._session.request(
            method,
            URL(url, encoded=True),
            data=body,
            headers=headers | {"accept-encoding": "identity"},
            allow_redirects=False,
            proxy=self._way.proxy_url or None,
            timeout=aiohttp.ClientTimeout(total=max(0.001, until - time.monotonic()), sock_connect=CONNECT_SECONDS),
        )

    def _answer(self, response: aiohttp.ClientResponse, excerpt: bytes, course: Course) -> Answer:
        kept = {name: _storable(response.headers[name][:200]) for name in KEPT_HEADERS if name in response.headers}
        return Answer(
            status=response.status,
            headers=kept,
            excerpt=_storable(excerpt.decode("utf-8", "replace")),
            timings=course.timings(),
            remote_ip=self._shown(course),
        )

    def _failure(self, error: Exception, course: Course) -> Answer:
        name = _name_of(error)
        if name == "connection_refused" and course.shaking_hands:
            name = "tls_failed"  # whoever listens hung up on the handshake
        if name == "blocked_destination":
            return Answer(status=None, error=name)
        return Answer(status=None, error=name, timings=course.timings(), remote_ip=self._shown(course))

    def _shown(self, course: Course) -> str:
        """The address without its scope, which no database knows; that of an outer proxy is nobody's business."""
        return "" if self._way.proxy_url else course.remote_ip.partition("%")[0]


def way_out(*, connections: int = 256) -> Egress:
    """Return a pool with the operator's rules."""
    return Egress(rules(), connections=connections, total_seconds=settings.WEBHOOKS_TIMEOUT_SECONDS)


async def _begin_of(response: aiohttp.ClientResponse) -> bytes:
    """Read at most 4 KiB; a connection that has more to say is closed, not drained.

    The head alone decides: a body that is cut or comes too slowly only makes the excerpt shorter. Source: Standard
    Webhooks 1.0.0, "Delivery success and failure".
    """
    excerpt = b""
    try:
        while len(excerpt) < EXCERPT_BYTES:
            piece = await response.content.read(EXCERPT_BYTES - len(excerpt))
            if not piece:
                break
            excerpt += piece
    except (TimeoutError, aiohttp.ClientError, OSError):
        response.close()
    if not response.content.at_eof():
        response.close()
    return excerpt


async def _whole(response: aiohttp.ClientResponse, longest_bytes: int) -> bytes | None:
    """Read a body; None if it is too long, and then the connection is closed, not drained."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > longest_bytes:
            response.close()
            return None
    return bytes(body)


def _storable(text: str) -> str:
    """Replace what PostgreSQL's text cannot hold: NUL, and the lone surrogates that stand for broken UTF-8 in headers."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _name_of(error: BaseException) -> str:
    """The few words of `Answer.error`; order matters, because aiohttp's classes derive from one another."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return _name_of_distrust(error.certificate_error)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return "blocked_destination" if error.status in _PROXY_SAYS_NO else "connection_refused"
    names: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
        (BlockedDestination, "blocked_destination"),
        (TimeoutError, "timeout"),
        (aiohttp.ClientProxyConnectionError, "proxy_away"),
        (aiohttp.ClientConnectorDNSError, "dns_failed"),
        ((aiohttp.ClientSSLError, ssl.SSLError), "tls_failed"),
        (aiohttp.ClientConnectorError, "connection_refused"),
        (aiohttp.ClientPayloadError, "broken_answer"),
        (aiohttp.ClientResponseError, "broken_answer"),
        ((aiohttp.InvalidURL, ValueError), "invalid_url"),
    )
    return next((name for kinds, name in names if isinstance(error, kinds)), "connection_lost")


def _name_of_distrust(error: Exception) -> str:
    """Tell an expired certificate, one of another name, and one of nobody we know apart: each is mended elsewhere."""
    code = getattr(error, "verify_code", 0)
    if code in _EXPIRED:
        return "certificate_expired"
    return "certificate_of_other_name" if code in _OTHER_NAME else "certificate_untrusted"
