"""The turns of a busy tenant's requests: while others are served too, one of them works at a time on every two web processes.

So half of the cores are left to the others, however many requests of the busy tenant have begun. A turn is a lock of the kernel
on a file without a name that the processes inherit from the one they were forked from (`serving`); a process that is killed
gives it back. Where processes are spawned, each has turns of its own.
"""

import fcntl
import os
import sys
import time
from zlib import crc32

SLICE_SECONDS = 0.1  # how long a request works before another of its tenant may take the turn

_PROCESSES = 2  # share a turn
_STRIPES = 64
_PLACES = max(1, int(os.environ.get("WEB_WORKERS") or 2) // _PROCESSES)
_FILES = [os.memfd_create("turn") for _ in range(_STRIPES)] if sys.platform == "linux" else []


class Turn:
    """What one request holds while it works, if anything."""

    __slots__ = ("_file", "_since", "_stripe", "key")

    def __init__(self, key: str) -> None:
        self.key = key
        self._stripe = (crc32(key.encode()) + os.getpid() % _PLACES) % _STRIPES
        self._file: int | None = None
        self._since = 0.0

    def take(self) -> bool:
        """Take the turn if nobody else has it; without Linux there are no turns to wait for."""
        if self._file is not None or not _FILES:
            return True
        # A lock belongs to the file that was opened for it, not to the process: each turn opens its own.
        file = os.open(f"/proc/self/fd/{_FILES[self._stripe]}", os.O_RDWR)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        self._file, self._since = file, time.monotonic()
        return True

    def is_over(self) -> bool:
        """Tell whether the turn was held for as long as another request may have to wait."""
        return self._file is not None and time.monotonic() > self._since + SLICE_SECONDS

    def leave(self) -> None:
        """Give the turn back, if it is held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
