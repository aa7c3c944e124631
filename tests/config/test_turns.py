"""The turns of a tenant's requests, over processes."""

import multiprocessing
import sys

import pytest

from config.turns import Turn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other kernels have no files without a name")
FORK = multiprocessing.get_context("fork")


def _hold(key, line):
    line.send(Turn(key).take())
    line.recv()


@pytest.fixture
def elsewhere():
    """Let another process take the turn of a key; return the process and the pipe that ends it."""
    held = []

    def hold(key):
        here, there = FORK.Pipe()
        process = FORK.Process(target=_hold, args=(key, there))
        process.start()
        held.append(process)
        assert here.recv()
        return process

    yield hold
    for process in held:
        process.kill()
        process.join()


def test_turn_is_taken_once_and_given_back():
    first, second = Turn("a"), Turn("a")
    assert first.take()
    assert first.take(), "it has it"
    assert not second.take()
    first.leave()
    first.leave()
    assert second.take()
    second.leave()


def test_turn_holds_for_other_processes_and_ends_with_its_process(elsewhere):
    process, turn = elsewhere("a"), Turn("a")
    assert not turn.take()
    process.kill()
    process.join()
    assert turn.take()
    turn.leave()


def test_other_key_has_a_turn_of_its_own(elsewhere):
    elsewhere("a")
    turn = Turn("b")
    assert turn.take()
    turn.leave()
