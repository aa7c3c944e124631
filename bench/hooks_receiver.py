"""A receiver that costs little, so that a benchmark measures the sender: `python -m bench.hooks_receiver --delay-ms 100`.

It reads whole requests, says 200 after the delay and keeps connections. Prints the port it listens on.
"""

import argparse
import asyncio

import uvloop

_END = b"\r\n\r\n"
_LENGTH = b"content-length:"
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"


class _Connection(asyncio.Protocol):
    """One connection; its sender waits for each answer before the next request."""

    def __init__(self, delay_seconds: float) -> None:
        self.delay_seconds = delay_seconds
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self.buffer = self.buffer + data if self.buffer else data
        head = self.buffer.find(_END)
        if head < 0:
            return
        start = self.buffer.lower().find(_LENGTH, 0, head)
        length = int(self.buffer[start + len(_LENGTH) : self.buffer.find(b"\r", start)]) if start >= 0 else 0
        if len(self.buffer) < head + len(_END) + length:
            return
        self.buffer = b""
        if self.delay_seconds:
            asyncio.get_running_loop().call_later(self.delay_seconds, self._answer)
        else:
            self._answer()

    def _answer(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(_ANSWER)


async def _serve(delay_seconds: float) -> None:
    server = await asyncio.get_running_loop().create_server(
        lambda: _Connection(delay_seconds), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--delay-ms", type=float, default=0)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(parser.parse_args().delay_ms / 1000))


if __name__ == "__main__":
    main()
