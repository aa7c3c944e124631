"""The child of `./dev bench prescriptions` that runs the service without HTTP."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .place import Place


class Child:
    """Takes one order after the other."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.answer()

    @classmethod
    @contextmanager
    def running(cls, place: Place, *, niceness: int = 0) -> Iterator["Child"]:
        """Run one until the block ends; `niceness` lowers its CPU priority."""
        with place.child("bench.prescriptions_direct", niceness=niceness) as process:
            yield cls(process)

    def order(self, verb: str, **order: Any) -> None:
        """Send an order; `answer` waits for what came of it."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": verb, **order}) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """Wait for the answer.

        :raises RuntimeError: the child has ended; it has printed why.
        """
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        while line and not line.startswith("{"):
            line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the process without HTTP ended")
        return json.loads(line)

    def do(self, verb: str, **order: Any) -> Any:
        """Send an order and wait."""
        self.order(verb, **order)
        return self.answer()
