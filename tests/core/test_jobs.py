"""The word that a worker ends reaches the processes that it forked, and tasks that work for long heed it."""

import multiprocessing
import time

import pytest

from core import jobs
from core.rounds import until


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    monkeypatch.setattr(jobs, "_ending", None)


def works_until_told(began, done):
    go_on, started = until(20), time.monotonic()
    began.set()
    while go_on():
        time.sleep(0.01)
    done.put(time.monotonic() - started)


def test_forked_process_hears_that_its_worker_ends():
    jobs.share_ending()
    context = multiprocessing.get_context("fork")
    began, done = context.Event(), context.Queue()
    child = context.Process(target=works_until_told, args=(began, done))
    child.start()
    assert began.wait(10)
    assert not jobs.is_ending()
    jobs.tell_ending()
    assert done.get(timeout=10) < 10
    child.join(10)
    assert (child.exitcode, jobs.is_ending()) == (0, True)


def test_without_a_worker_nothing_ends():
    jobs.tell_ending()
    assert not jobs.is_ending()
