"""The only way out: what the platform may connect to when a user names the address, and how it does so.

The check of the text is a courtesy to whoever types it; what holds is the check of every resolved address directly
before the connection. Source: webhooks contract, "The guard against server-side request forgery".
"""

import ipaddress
import re
import socket
import ssl
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, ClassVar, Self

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import AddrInfoType, Connection
from yarl import URL

from core.errors import FieldError, InvalidFields

LONGEST_URL = 2048
TOTAL_SECONDS = 15.0
CONNECT_SECONDS = 5.0
EXCERPT_BYTES = 4096
HEADER_BYTES = 8190
KEPT_HEADERS = ("content-type", "content-length", "date", "retry-after", "server", "x-request-id", "traceparent")

_CLOSED_4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
_OPEN_6 = ipaddress.IPv6Network("2000::/3")
_CLOSED_6 = tuple(
    ipaddress.IPv6Network(text)
    for text in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
_LOW_PORTS = frozenset({443})
_FIRST_HIGH_PORT = 1024
# Databases, brokers, caches, cluster and management interfaces that often listen without a password.
_CLOSED_PORTS = frozenset(
    {1433, 1521, 1883, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4222, 4369, 5000, 5432, 5433, 5601, 5671, 5672}
    | {5900, 5984, 6000, 6379, 6380, 6443, 7000, 7001, 7199, 7474, 7687, 8009, 8020, 8086, 8200, 8300, 8500, 8529, 8983}
    | {9000, 9042, 9090, 9092, 9093, 9100, 9160, 9200, 9300, 9418, 10000, 10250, 10255, 11211, 15672, 16379, 25672}
    | {26379, 26257, 27017, 27018, 27019, 28017, 50000, 50070, 61616}
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_INNER_ENDINGS = ("internal", "local", "localhost", "localdomain", "lan", "home", "corp", "intranet")
_REFUSED = "The address must be an https URL on the public internet."


class BlockedDestination(InvalidFields):
    """The platform does not connect there. Every cause has the same words, so that nobody can map our network."""

    title: ClassVar[str] = "The destination is not allowed."

    def __init__(self, field_name: str = "url") -> None:
        super().__init__(errors=[FieldError(field_name, "blocked_destination", _REFUSED)])


def is_public(address: str) -> bool:
    """Tell whether an address literal lies on the public internet.

    Own lists, because `ipaddress.is_global` lets NAT64, 6to4, multicast and IPv4-compatible forms pass.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found.scope_id is not None:
            return False
        if found.ipv4_mapped is None:
            return found in _OPEN_6 and not any(found in closed for closed in _CLOSED_6)
        found = found.ipv4_mapped
    return not any(found in closed for closed in _CLOSED_4)


def check_url(url: str, *, allow_private: bool) -> None:
    """Check what can be known of an address without asking the network.

    `allow_private` is the developer's setting: http, literals, any port and any host are then fine.

    :raises BlockedDestination: not https, credentials inside, a port, literal or name that is not public.
    """
    parsed = _parse(url)
    if allow_private:
        return
    if parsed.scheme != "https" or not _is_open_port(parsed.port or 0) or not _is_public_name(parsed.raw_host or ""):
        raise BlockedDestination


def _parse(url: str) -> URL:
    """Read the address with the parser of the client that will dial it, so that the two cannot differ."""
    if len(url) > LONGEST_URL or not url.isascii() or re.search(r"[\x00-\x20\x7f\\]", url):
        raise BlockedDestination
    try:
        parsed = URL(url)
        port = parsed.port
    except ValueError as error:
        raise BlockedDestination from error
    credentials = parsed.raw_user is not None or parsed.raw_password is not None
    if parsed.scheme not in ("http", "https") or not parsed.raw_host or not port or credentials or "#" in url:
        raise BlockedDestination
    return parsed


def _is_open_port(port: int) -> bool:
    return port in _LOW_PORTS or (port >= _FIRST_HIGH_PORT and port not in _CLOSED_PORTS)


def _is_public_name(host: str) -> bool:
    """A name of at least two labels, no literal in any spelling, nothing that only an inner resolver knows."""
    labels = host.lower().split(".")
    if len(host) > 253 or len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels):
        return False
    # A last label that is a number makes the whole an IPv4 address to many parsers. Source: WHATWG URL, host parsing.
    return _NUMBER.fullmatch(labels[-1]) is None and labels[-1] not in _INNER_ENDINGS


@dataclass(slots=True)
class Course:
    """The moments of one request, noted by those who see it pass; 0 is what did not happen or was not seen."""

    resolving: float = 0.0
    resolved: float = 0.0
    connecting: float = 0.0
    shaking_hands: float = 0.0
    sending: float = 0.0
    answered: float = 0.0
    remote_ip: str = ""

    def timings(self) -> dict[str, int]:
        """Milliseconds of each part that came to its end; a connection or a name that was at hand took none."""
        parts = {
            "dns_ms": (self.resolving, self.resolved),
            "connect_ms": (self.connecting, self.shaking_hands or self.sending),
            "tls_ms": (self.shaking_hands, self.sending),
            "ttfb_ms": (self.sending, self.answered),
        }
        return {name: round((end - start) * 1000) for name, (start, end) in parts.items() if start and end}


# Each request runs in a context of its own, as do the tasks that aiohttp starts for it. Its own tracing sees neither
# where the handshake begins nor the address, and costs more.
_course: ContextVar[Course] = ContextVar("course")


class GuardedResolver(AbstractResolver):
    """Refuses a name when any of its addresses is not public: a mixed answer is a trick, not a choice."""

    def __init__(self, inner: AbstractResolver, *, allow_private: bool = False) -> None:
        self._inner = inner
        self._allow_private = allow_private

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Look a name up.

        :raises BlockedDestination: at least one answer is not public.
        """
        course = _course.get(None) or Course()
        course.resolving = time.perf_counter()
        answers = await self._inner.resolve(host, port, family)
        course.resolved = time.perf_counter()
        if not self._allow_private and not all(is_public(answer["host"]) for answer in answers):
            raise BlockedDestination
        return answers

    async def close(self) -> None:
        """Close the resolver behind this one."""
        await self._inner.close()


def guarded_socket(address: AddrInfoType) -> socket.socket:
    """Open a socket for one resolved address; the last look before the connection.

    :raises BlockedDestination: the address is not public, whichever way it was found.
    """
    if not is_public(str(address[4][0])):
        raise BlockedDestination
    return open_socket(address)


def open_socket(address: AddrInfoType) -> socket.socket:
    """Open a socket for one resolved address, and note where it leads."""
    family, kind, protocol, _, target = address
    course = _course.get(None) or Course()
    course.connecting = course.connecting or time.perf_counter()
    course.remote_ip = str(target[0])
    return socket.socket(family=family, type=kind, proto=protocol)


class _Trust(ssl.SSLContext):
    """Whom we believe to be who they say; notes when a handshake begins."""

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        (_course.get(None) or Course()).shaking_hands = time.perf_counter()
        return super().wrap_bio(*args, **options)


def _trust(ca_file: str) -> ssl.SSLContext:
    """Believe the certificates of one file, or those of the system; names are checked, and TLS is 1.2 or later."""
    found = _Trust(ssl.PROTOCOL_TLS_CLIENT)
    found.minimum_version = ssl.TLSVersion.TLSv1_2
    found.set_alpn_protocols(["http/1.1"])
    if ca_file:
        found.load_verify_locations(ca_file)
    else:
        found.load_default_certs()
    return found


class _NotedResponse(aiohttp.ClientResponse):
    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Await the head of the answer; afterwards a short answer has given its connection back already."""
        course = _course.get(None) or Course()
        course.sending = time.perf_counter()
        peer = connection.transport.get_extra_info("peername") if connection.transport else None
        course.remote_ip = str(peer[0]) if peer else course.remote_ip
        response = await super().start(connection)
        course.answered = time.perf_counter()
        return response


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


class Egress:
    """A pool of guarded connections. No redirects, no proxies of the environment, no cookies, no decompression."""

    def __init__(
        self,
        *,
        allow_private: bool,
        connections: int = 256,
        resolver: AbstractResolver | None = None,
        ca_file: str = "",
    ) -> None:
        self._allow_private = allow_private
        self._connections = connections
        self._resolver = resolver
        self._ca_file = ca_file
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        inner = self._resolver or aiohttp.ThreadedResolver()
        connector = aiohttp.TCPConnector(
            limit=self._connections,
            ttl_dns_cache=30,
            ssl=_trust(self._ca_file),
            resolver=GuardedResolver(inner, allow_private=self._allow_private),
            socket_factory=open_socket if self._allow_private else guarded_socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            response_class=_NotedResponse,
            timeout=aiohttp.ClientTimeout(total=TOTAL_SECONDS, sock_connect=CONNECT_SECONDS),
            auto_decompress=False,
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
            skip_auto_headers=("Accept", "User-Agent"),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def post(self, url: str, *, body: bytes, headers: dict[str, str]) -> Answer:
        """Send one POST and tell what became of it; it never raises for what a receiver can do."""
        if self._session is None:
            raise RuntimeError("Egress is used outside `async with`")
        course = Course()
        _course.set(course)
        try:
            check_url(url, allow_private=self._allow_private)
            request = self._session.post(
                URL(url, encoded=True),
                data=body,
                headers=headers | {"accept-encoding": "identity"},
                allow_redirects=False,
            )
            async with request as response:
                return await _read(response, course)
        except BlockedDestination:
            return Answer(status=None, error="blocked_destination")
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            return Answer(status=None, error=_name_of(error), timings=course.timings(), remote_ip=course.remote_ip)


async def _read(response: aiohttp.ClientResponse, course: Course) -> Answer:
    """Keep the first 4 KiB; a connection that still has more to say is closed, not drained."""
    excerpt = b""
    while len(excerpt) < EXCERPT_BYTES:
        piece = await response.content.read(EXCERPT_BYTES - len(excerpt))
        if not piece:
            break
        excerpt += piece
    if not response.content.at_eof():
        response.close()
    return Answer(
        status=response.status,
        headers={name: _storable(response.headers[name][:200]) for name in KEPT_HEADERS if name in response.headers},
        excerpt=_storable(excerpt.decode("utf-8", "replace")),
        timings=course.timings(),
        remote_ip=course.remote_ip,
    )


def _storable(text: str) -> str:
    """Replace what PostgreSQL's text cannot hold: NUL, and the lone surrogates that stand for broken UTF-8 in headers."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _name_of(error: BaseException) -> str:
    """The few words of `Answer.error`; order matters, because aiohttp's classes derive from one another."""
    names: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
        (TimeoutError, "timeout"),
        (aiohttp.ClientConnectorDNSError, "dns_failed"),
        ((aiohttp.ClientSSLError, ssl.SSLError), "tls_failed"),
        (aiohttp.ClientConnectorError, "connection_refused"),
        (aiohttp.ClientPayloadError, "broken_answer"),
        (aiohttp.ClientResponseError, "broken_answer"),
        ((aiohttp.InvalidURL, ValueError), "invalid_url"),
    )
    return next((name for kinds, name in names if isinstance(error, kinds)), "connection_lost")
