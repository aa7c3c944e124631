"""File locks, which the kernel releases when the holding process ends for any reason."""

import fcntl
import os
from pathlib import Path


class FileLock:
    """An advisory lock on a file; never inherited by programs that are executed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def take(self, *, shared: bool = False, wait: bool = True) -> bool:
        """Take the lock; return False if another process holds it and `wait` is False."""
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
        try:
            fcntl.flock(handle, how)
        except BlockingIOError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def free(self) -> None:
        """Release the lock."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @property
    def held(self) -> bool:
        """Tell whether this object holds the lock."""
        return self._handle is not None
