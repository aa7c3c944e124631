"""The world outside as tests have it: names of our own, listeners that count, and a watch on everything that leaves."""

import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Any, ClassVar, Self

from aiohttp.abc import AbstractResolver, ResolveResult

PUBLIC = "1.1.1.1"


def answers_of(host: str, port: int, addresses: list[str]) -> list[ResolveResult]:
    """Write addresses the way a resolver answers."""
    kinds = {True: socket.AF_INET6, False: socket.AF_INET}
    return [
        ResolveResult(hostname=host, host=text, port=port, family=kinds[":" in text], proto=0, flags=0)
        for text in addresses
    ]


class FixedResolver(AbstractResolver):
    """Answers what it is told, one list of addresses after the other; the last one stays."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = answers
        self.asked = 0

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> list[ResolveResult]:
        found = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return answers_of(host, port, found)

    async def close(self) -> None:
        pass


class Names(AbstractResolver):
    """The resolver of every process of a test run: names that are not `known` do not exist, so nothing leaves the machine.

    `rebinding` gives the next lookups of a name other answers.
    """

    known: ClassVar[dict[str, list[str]]] = {}
    rebinding: ClassVar[dict[str, list[list[str]]]] = {}
    asked: ClassVar[list[str]] = []

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> list[ResolveResult]:
        self.asked.append(host)
        if self.rebinding.get(host):
            return answers_of(host, port, self.rebinding[host].pop(0))
        found = self.known.get(host)
        if not found:
            raise OSError(f"{host} does not exist")
        return answers_of(host, port, found)

    async def close(self) -> None:
        pass

    @classmethod
    def forget(cls) -> None:
        """Begin anew."""
        cls.known.clear()
        cls.rebinding.clear()
        cls.asked.clear()


@dataclass
class Listener:
    """Bare TCP listeners on one port of both loopbacks that count who connects."""

    port: int = 0
    connections: list[Any] = field(default_factory=list)
    _servers: list[socket.socket] = field(default_factory=list)

    def __enter__(self) -> Self:
        four = socket.create_server(("127.0.0.1", 0))
        self.port = four.getsockname()[1]
        self._servers = [four]
        with suppress(OSError):  # a machine without the second loopback has nobody to protect there
            self._servers.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for server in self._servers:
            threading.Thread(target=self._accept, args=(server,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.close()

    def _accept(self, server: socket.socket) -> None:
        while True:
            try:
                self.connections.append(server.accept())
            except OSError:
                return


Answering = Callable[[Callable[[bytes], Any]], Any]


@contextmanager
def server(answer: Answering) -> Iterator[tuple[str, list[list[str]]]]:
    """Serve on the loopback; `answer(write)` answers each request. Yields the address and the heads of the requests."""
    asked: list[list[str]] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked.append([line.decode().strip().lower() for line in iter(self.rfile.readline, b"\r\n")])
            with suppress(OSError):
                answer(self.wfile.write)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_address[1]}/keys", asked
        finally:
            listening.shutdown()
            thread.join()


def answering(body: bytes, *headers: str, status: str = "200 OK") -> Answering:
    """Make an answer of a server."""
    head = "\r\n".join([f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", ""])
    return lambda write: write(head.encode() + body)


_watching: list[list[tuple[str, Any]]] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching or event not in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        return
    target = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
    for seen in _watching:
        seen.append((event, target))


@cache
def _hook() -> None:
    """Listen to the interpreter, once: it forgets no listener."""
    sys.addaudithook(_note)


@contextmanager
def watch(*, allowed_ports: tuple[int, ...] = ()) -> Iterator[list[tuple[str, Any]]]:
    """Collect every connection and lookup that Python makes meanwhile, but those to named pipes and allowed ports."""
    _hook()
    seen: list[tuple[str, Any]] = []
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.remove(seen)
        seen[:] = [found for found in seen if isinstance(found[1], tuple) and found[1][1] not in allowed_ports]
