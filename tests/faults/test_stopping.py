"""Ready means that the workers work; Ctrl-C is answered at once and ends everything within seconds."""

import signal
import time

import pytest

from tests.faults.service import wait_for


@pytest.mark.alone
def test_ready_follows_work_and_ctrl_c_ends_within_five_seconds(service):
    """After a start every worker has done a task of beat's by the time that `ready` stands there."""
    service.look_around()
    said = service.output.count("stopping")
    began = time.monotonic()
    service.dev.send_signal(signal.SIGINT)
    wait_for(lambda: service.output.count("stopping") > said, seconds=1, every=0.01, what="the word stopping")
    service.dev.wait(5)
    assert time.monotonic() - began < 5
    assert service.survivors() == []
    signs = [service.data / "pulse" / name for name in ("celery-bulk.worked", "webhooks.worked", "beat")]
    before = time.time()
    try:
        service.start()
    finally:
        ready = time.time()
    assert [before < sign.stat().st_mtime for sign in signs] == [True] * 3
    assert ready - before < 240
    assert service.output.index("the web processes answer") < service.output.index("ready:")
