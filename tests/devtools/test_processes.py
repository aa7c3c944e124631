"""Parts that step back behind others for the processor."""

import os
import subprocess
from pathlib import Path

import pytest

from devtools.processes import die_with_parent


def autogroup(pid: int) -> str:
    file = Path(f"/proc/{pid}/autogroup")
    if not file.exists():
        pytest.skip("this system groups no sessions for the processor")
    return file.read_text()


@pytest.mark.parametrize("own_session", [True, False])
def test_background_steps_back_and_nobody_else(own_session: bool) -> None:
    """Between sessions only the session's own priority counts, and that of a shared session is not the child's to lower."""
    before = autogroup(os.getpid())
    child = subprocess.Popen(
        ["sleep", "30"],
        start_new_session=own_session,
        preexec_fn=die_with_parent(niceness=7),  # noqa: PLW1509 - no thread of ours runs
    )
    try:
        assert os.getpriority(os.PRIO_PROCESS, child.pid) == os.getpriority(os.PRIO_PROCESS, 0) + 7
        assert autogroup(child.pid).endswith("nice 7\n") is own_session
        assert autogroup(os.getpid()) == before
    finally:
        child.kill()
        child.wait(5)
