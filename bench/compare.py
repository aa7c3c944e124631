"""`./dev bench compare http|fhir|webhooks --with TREE`: this code beside another checkout's, in short turns of one run.

Each tree is served by its own code from its own data folder. A round measures each scenario on one side and at once on
the other, and the sides take turns in going first, so that a machine whose speed moves moves both. What counts is the
median of the rounds' ratios. `--with .` compares the code with itself and shows what the machine alone does.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from devtools.places import ROOT
from devtools.processes import die_with_parent

from .report import machine_line

_CHILD = ROOT / "bench" / "compare_child.py"
_LEAST = 0.97

Measured = dict[str, Any]
Rounds = dict[str, list[tuple[Measured, Measured]]]  # by scenario: the other tree, then this one


class Side:
    """The process that serves and measures one tree."""

    def __init__(self, child: "subprocess.Popen[str]", tree: Path) -> None:
        self.child, self.tree = child, tree
        self.scenarios: list[str] = self._line()

    def _line(self) -> Any:
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        while line and not line.startswith(("{", "[")):  # what the tree's own code prints
            line = self.child.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.tree}: the measuring process ended")
        return json.loads(line)

    def measure(self, scenario: str, seconds: float) -> Measured:
        """Run a scenario for some seconds.

        :raises RuntimeError: the process ended; it has printed why.
        """
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps({"scenario": scenario, "seconds": seconds}) + "\n")
        self.child.stdin.flush()
        found: Measured = self._line()
        return found


@contextmanager
def side(tree: Path, wanted: argparse.Namespace, name: str) -> Iterator[Side]:
    """Serve a tree until the block ends."""
    options = ["--rows", wanted.rows, "--tenants", wanted.tenants, "--bundles", wanted.bundles]
    child = subprocess.Popen(
        [sys.executable, "-P", _CHILD, wanted.kind, "--data", f"{wanted.data}/{name}", *map(str, options)],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent(),  # noqa: PLW1509 - this process has one thread
    )
    try:
        yield Side(child, tree)
    finally:
        assert child.stdin is not None
        child.stdin.close()
        child.wait(60)


def measure(sides: tuple[Side, Side], wanted: argparse.Namespace) -> Rounds:
    """Measure in turns; a first round warms everything and is not counted."""
    scenarios = [name for name in sides[1].scenarios if name in sides[0].scenarios]
    if wanted.only:
        scenarios = [name for name in scenarios if name in wanted.only]
    found: Rounds = {name: [] for name in scenarios}
    for number in range(wanted.rounds + 1):
        for name in scenarios:
            order = (0, 1) if number % 2 else (1, 0)
            pair = {which: sides[which].measure(name, wanted.seconds) for which in order}
            if number:
                found[name].append((pair[0], pair[1]))
        print(f"round {number} of {wanted.rounds}", file=sys.stderr, flush=True)
    return found


def _speed(one: Measured) -> float:
    return one["count"] / one["seconds"]


def _cost(one: Measured, *processes: str) -> float:
    """CPU seconds of one request or delivery, in the named processes or in all."""
    return float(sum(one["cpu"][name] for name in processes or one["cpu"])) / one["count"]


def _middle(values: list[float]) -> str:
    low, _, high = quantiles(values, n=4)
    return f"{median(values):.3f} ({low:.2f}–{high:.2f})"


def table(found: Rounds) -> list[str]:
    """One line for each scenario: the speeds, and the ratios of this code to the other."""
    lines = [
        "| measured | there, /s | here, /s | speed, here ÷ there | CPU, there ÷ here | of PostgreSQL | at least 0.97 |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, pairs in found.items():
        speeds = [_speed(here) / _speed(there) for there, here in pairs]
        costs = [_cost(there) / _cost(here) for there, here in pairs]
        database = [_cost(there, "PostgreSQL") / _cost(here, "PostgreSQL") for there, here in pairs]
        there, here = (median(_speed(pair[which]) for pair in pairs) for which in (0, 1))
        met = "yes" if median(speeds) >= _LEAST else "by CPU" if median(costs) >= _LEAST else "no"
        lines.append(
            f"| {name} | {there:,.0f} | {here:,.0f} | {_middle(speeds)} | {_middle(costs)} | {_middle(database)} | {met} |"
        )
    return lines


def main(arguments: list[str]) -> int:
    """Measure and print."""
    reader = argparse.ArgumentParser(prog="./dev bench compare")
    reader.add_argument("kind", choices=["http", "fhir", "webhooks"])
    reader.add_argument("--with", dest="other", type=Path, required=True, help="the other checkout")
    reader.add_argument(
        "--data", default=str(ROOT / ".local" / "compare"), help="the data folders, seeded once and kept"
    )
    reader.add_argument("--rounds", type=int, default=30)
    reader.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    reader.add_argument("--rows", type=int, default=100_000)
    reader.add_argument("--tenants", type=int, default=20)
    reader.add_argument("--bundles", type=int, default=30, help="FHIR transactions to import into each tenant before")
    reader.add_argument("--only", action="append", help="a scenario; all without it")
    wanted = reader.parse_args(arguments)
    with ExitStack() as stack:
        other = stack.enter_context(side(wanted.other.resolve(), wanted, "there"))
        ours = stack.enter_context(side(ROOT, wanted, "here"))
        found = measure((other, ours), wanted)
    print("\n".join([machine_line(), "", f"{wanted.rounds} rounds; median (middle half)", "", *table(found)]))
    return 0
