"""No process of the service outlives the one that feeds it, however that one ended (Linux)."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies, and end it now if that has happened already."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # killed before the line above: nobody would ever tell this process to stop
        os.kill(os.getpid(), signal.SIGKILL)
