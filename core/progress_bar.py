"""A progress bar for commands that read long files."""

import sys
import time
from typing import IO, Any

_WIDTH = 30
_EVERY_SECONDS = 0.2


class ProgressBar:
    """A bar on standard error, by the bytes of a file that were read; nothing where no terminal shows it."""

    def __init__(self, name: str, file: IO[Any], size: int) -> None:
        self.name, self.file, self.size, self.shown = name, file, max(size, 1), sys.stderr.isatty()
        self.began = self.last = time.monotonic()

    def show(self, done: int) -> None:
        """Draw, not more often than eyes can follow."""
        if self.shown and time.monotonic() - self.last >= _EVERY_SECONDS:
            self.last = time.monotonic()
            part = min(self.file.tell() / self.size, 1.0)
            bar = "#" * int(part * _WIDTH)
            rate = done / max(self.last - self.began, 0.001)
            sys.stderr.write(f"\r{self.name} [{bar:<{_WIDTH}}] {part:4.0%} {done} written, {rate:.0f}/s ")
            sys.stderr.flush()

    def end(self) -> None:
        """Leave the line."""
        if self.shown:
            sys.stderr.write("\n")
