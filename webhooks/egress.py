"""The only way out: what the platform may connect to when a user names the address, and how it does so.

The check of the text is a courtesy to whoever types it; what holds is the check of every resolved address directly
before the connection. Source: webhooks contract, "The guard against server-side request forgery".
"""

import ipaddress
import re
import socket
import ssl
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, ClassVar, Self

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import AddrInfoType
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


class GuardedResolver(AbstractResolver):
    """Refuses a name when any of its addresses is not public: a mixed answer is a trick, not a choice."""

    def __init__(self, inner: AbstractResolver) -> None:
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Look a name up.

        :raises BlockedDestination: at least one answer is not public.
        """
        answers = await self._inner.resolve(host, port, family)
        if not all(is_public(answer["host"]) for answer in answers):
            raise BlockedDestination
        return answers

    async def close(self) -> None:
        """Close the resolver behind this one."""
        await self._inner.close()


def guarded_socket(address: AddrInfoType) -> socket.socket:
    """Open a socket for one resolved address; the last look before the connection.

    :raises BlockedDestination: the address is not public, whichever way it was found.
    """
    family, kind, protocol, _, target = address
    if not is_public(str(target[0])):
        raise BlockedDestination
    return socket.socket(family=family, type=kind, proto=protocol)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, or what went wrong: `error` is one of the few words a client may see."""

    status: int | None
    error: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    excerpt: str = ""


class Egress:
    """A pool of guarded connections. No redirects, no proxies of the environment, no cookies, no decompression."""

    def __init__(
        self,
        *,
        allow_private: bool,
        connections: int = 256,
        resolver: AbstractResolver | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._allow_private = allow_private
        self._connections = connections
        self._resolver = resolver
        self._trust = trust
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        inner = self._resolver or aiohttp.ThreadedResolver()
        guards: dict[str, Any] = {"resolver": inner}
        if not self._allow_private:
            guards = {"resolver": GuardedResolver(inner), "socket_factory": guarded_socket}
        connector = aiohttp.TCPConnector(
            limit=self._connections, ttl_dns_cache=30, ssl=self._trust if self._trust is not None else True, **guards
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
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
        try:
            check_url(url, allow_private=self._allow_private)
            request = self._session.post(
                URL(url, encoded=True),
                data=body,
                headers=headers | {"accept-encoding": "identity"},
                allow_redirects=False,
            )
            async with request as response:
                return await _read(response)
        except (TimeoutError, aiohttp.ClientError, BlockedDestination, OSError, ValueError) as error:
            return Answer(status=None, error=_name_of(error))


async def _read(response: aiohttp.ClientResponse) -> Answer:
    """Keep the first 4 KiB; a connection that still has more to say is closed, not drained."""
    excerpt = b""
    while len(excerpt) < EXCERPT_BYTES:
        piece = await response.content.read(EXCERPT_BYTES - len(excerpt))
        if not piece:
            break
        excerpt += piece
    if not response.content.at_eof():
        response.close()
    kept = {name: _storable(response.headers[name][:200]) for name in KEPT_HEADERS if name in response.headers}
    return Answer(status=response.status, headers=kept, excerpt=_storable(excerpt.decode("utf-8", "replace")))


def _storable(text: str) -> str:
    """Replace what PostgreSQL's text cannot hold: NUL, and the lone surrogates that stand for broken UTF-8 in headers."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _name_of(error: BaseException) -> str:
    """The few words of `Answer.error`; order matters, because aiohttp's classes derive from one another."""
    names: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
        (BlockedDestination, "blocked_destination"),
        (TimeoutError, "timeout"),
        (aiohttp.ClientConnectorDNSError, "dns_failed"),
        ((aiohttp.ClientSSLError, ssl.SSLError), "tls_failed"),
        (aiohttp.ClientConnectorError, "connection_refused"),
        (aiohttp.ClientPayloadError, "broken_answer"),
        (aiohttp.ClientResponseError, "broken_answer"),
        ((aiohttp.InvalidURL, ValueError), "invalid_url"),
    )
    return next((name for kinds, name in names if isinstance(error, kinds)), "connection_lost")
