"""Turns on the machine: a test that holds the service to seconds runs while no other test does."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devtools.locks import FileLock


@contextmanager
def turn(folder: Path, *, alone: bool) -> Iterator[None]:
    """Wait for a turn among all test processes of the data folder, and hold it; killed processes let go of theirs."""
    queue, machine = FileLock(folder / "tests.queue.lock"), FileLock(folder / "tests.machine.lock")
    queue.take()  # whoever waits for the whole machine keeps newcomers here, else it might wait for ever
    machine.take(shared=not alone)
    queue.free()
    try:
        yield
    finally:
        machine.free()
