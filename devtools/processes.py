"""Processes: ending with their parent, recognition and termination of those that an earlier run left."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_HAS_PROC = Path("/proc/self/stat").exists()
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(number: int = signal.SIGTERM, *, niceness: int = 0) -> Callable[[], None]:
    """Return a `preexec_fn` that makes the child receive a signal when its parent dies by any means (Linux only).

    On other systems the next start ends orphans by means of the run file. `niceness` lowers the child's CPU priority.
    """
    parent = os.getpid()

    def arrange() -> None:
        if niceness:
            _step_back(niceness)
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, int(number))
            if os.getppid() != parent:  # the parent died between fork and prctl
                os.kill(os.getpid(), number)

    return arrange


def _step_back(niceness: int) -> None:
    """Lower the CPU priority of this process and of its session; only the session's counts against other sessions.

    Source: Linux, sched(7), "The autogroup feature".
    """
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):  # the kernel has no autogroups
            Path("/proc/self/autogroup").write_text(str(niceness))


def step_back(session: int, niceness: int) -> None:
    """Lower the CPU priority of a running process and of those that it forked in its session.

    Source: Linux, sched(7), "The autogroup feature".
    """
    with suppress(OSError):  # it has ended, or the kernel has no autogroups
        os.setpriority(os.PRIO_PGRP, session, niceness)
        Path(f"/proc/{session}/autogroup").write_text(str(niceness))


def identity(pid: int) -> str | None:
    """Return the start time, which distinguishes processes with the same id; None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None if _HAS_PROC or not alive(pid) else "alive"
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def alive(pid: int) -> bool:
    """Tell whether the process exists and is not a zombie."""
    if _HAS_PROC:
        return identity(pid) is not None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def end(pid: int, *, grace_seconds: float = 5, first: int = signal.SIGTERM) -> None:
    """End a process with the signal `first`, and with SIGKILL if it still runs after the grace time."""
    for number, seconds in ((first, grace_seconds), (signal.SIGKILL, 2.0)):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not alive(pid):
                return
            time.sleep(0.02)
