"""The guard at the moment of connecting, and the clock beside it: each sees names, sockets and handshakes pass."""

import socket
import ssl
import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import AddrInfoType, Connection

from .destinations import BlockedDestination, is_public


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
course_of_request: ContextVar[Course] = ContextVar("course")


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
        course = course_of_request.get(None) or Course()
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
    course = course_of_request.get(None) or Course()
    course.connecting = course.connecting or time.perf_counter()
    course.remote_ip = str(target[0])
    return socket.socket(family=family, type=kind, proto=protocol)


class _Trust(ssl.SSLContext):
    """Whom we believe to be who they say; notes when a handshake begins."""

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        (course_of_request.get(None) or Course()).shaking_hands = time.perf_counter()
        return super().wrap_bio(*args, **options)


def trust(ca_file: str) -> ssl.SSLContext:
    """Believe the certificates of one file, or those of the system; TLS is 1.2 or later.

    A name must be among a certificate's alternative names; its common name is no proof. Source: RFC 9525 section 6.3.
    """
    found = _Trust(ssl.PROTOCOL_TLS_CLIENT)
    found.hostname_checks_common_name = False
    found.minimum_version = ssl.TLSVersion.TLSv1_2
    found.set_alpn_protocols(["http/1.1"])
    if ca_file:
        found.load_verify_locations(ca_file)
    else:
        found.load_default_certs()
    return found


class NotedResponse(aiohttp.ClientResponse):
    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Await the head of the answer; afterwards a short answer has given its connection back already.

        :raises aiohttp.ClientConnectionError: the other side spoke before it was asked, so its words answer nothing.
        """
        if connection.protocol is None or connection.protocol.should_close:
            raise aiohttp.ClientConnectionError("spoke unasked")
        course = course_of_request.get(None) or Course()
        course.sending = time.perf_counter()
        peer = connection.transport.get_extra_info("peername") if connection.transport else None
        course.remote_ip = str(peer[0]) if peer else course.remote_ip
        response = await super().start(connection)
        course.answered = time.perf_counter()
        return response
