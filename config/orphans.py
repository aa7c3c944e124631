"""Child processes that end with their parent, however the parent ended (Linux only)."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies, or kill it now if the parent is already dead."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the line above, so no signal will come
        os.kill(os.getpid(), signal.SIGKILL)
