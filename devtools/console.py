"""Output to the terminal; lines of progress show the seconds since the command was started."""

import os
import sys
import time

_started_at = float(os.environ.setdefault("DEV_STARTED_AT", repr(time.time())))


def stamped(message: str) -> str:
    """Return a line of progress."""
    return f"[{time.time() - _started_at:6.1f} s] {message}"


def say(message: str) -> None:
    """Print one line of progress."""
    print(stamped(message), flush=True)


def plain(message: str) -> None:
    """Print one line without the seconds."""
    print(message, flush=True)


def complain(message: str) -> None:
    """Print an error to stderr."""
    print(message, file=sys.stderr, flush=True)
