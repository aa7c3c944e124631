"""Large bodies, kept on disk while they arrive: few at a time, each with time in proportion to what has arrived.

Source: contract, conventions.md "Limits", supply-shelf.md "Files".
"""

import asyncio
import tempfile
import threading
from typing import IO, Any

from api.transport import Overloaded, RequestTimedOut
from core.errors import Malformed, TooLarge

MOST = 4
FIRST_SECONDS = 10.0
BYTES_A_SECOND = 65_536
RETRY_SECONDS = 5
DRAIN_BYTES = 64 * 1_048_576

_PIECE = 524_288


class Spooled:
    """A body on disk; whoever closes it makes place for another."""

    def __init__(self, slots: threading.BoundedSemaphore) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # `close` closes it
        self._slots = slots
        self.read = self._file.read
        self.readline = self._file.readline
        self.seek = self._file.seek
        self.write = self._file.write

    def close(self) -> None:
        """Delete the body; a second time does nothing."""
        if not self._file.closed:
            self._file.close()
            self._slots.release()


class Uploads:
    """The bodies of this process that are kept on disk."""

    def __init__(self, most: int = MOST) -> None:
        self._slots = threading.BoundedSemaphore(most)

    async def receive(self, protocol: Any, *, announced: str | None, limit: int) -> Spooled:
        """Return the whole body, at its beginning; the caller closes it.

        :raises Overloaded: as many bodies as this process keeps are arriving or being worked on.
        :raises Malformed: Content-Length is not a number.
        :raises TooLarge: the body has more than `limit` bytes.
        :raises RequestTimedOut: the body did not arrive in time.
        :raises granian.rsgi.ProtocolClosed: the client disconnected.
        """
        if announced and not (announced.isascii() and announced.isdigit()):
            raise Malformed("Content-Length is not a number.")
        if not self._slots.acquire(blocking=False):
            await _discard(protocol)
            raise Overloaded("Too many uploads are under way; try again.", headers={"Retry-After": str(RETRY_SECONDS)})
        body = Spooled(self._slots)
        try:
            size = await _spool(protocol, body, limit)
        except BaseException:
            body.close()
            raise
        if size > limit:
            body.close()
            raise TooLarge(f"The body may have at most {limit} bytes here.", limit_bytes=limit)
        body.seek(0)
        return body


async def _spool(protocol: Any, body: Spooled, limit: int) -> int:
    """Write what arrives, up to the limit; return how many bytes arrived.

    Too large a body is read to its end all the same: a client that is still sending reads no answer.
    """
    loop, size, waiting = asyncio.get_running_loop(), 0, bytearray()
    began = loop.time()
    try:
        async with asyncio.timeout(FIRST_SECONDS) as clock:
            async for part in protocol:
                size += len(part)
                if size > DRAIN_BYTES:
                    break
                waiting += part if size <= limit else b""
                if len(waiting) >= _PIECE:
                    await asyncio.to_thread(body.write, bytes(waiting))
                    waiting.clear()
                clock.reschedule(began + FIRST_SECONDS + size / BYTES_A_SECOND)
    except TimeoutError:
        raise RequestTimedOut(f"Of the body {size} bytes arrived in time.") from None
    await asyncio.to_thread(body.write, bytes(waiting))
    return size


async def _discard(protocol: Any) -> None:
    """Read a body that nobody wants, for a while."""
    size = 0
    try:
        async with asyncio.timeout(FIRST_SECONDS):
            async for part in protocol:
                size += len(part)
                if size > DRAIN_BYTES:
                    break
    except TimeoutError:
        pass
