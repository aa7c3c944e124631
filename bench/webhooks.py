"""`./dev bench webhooks`: one dispatcher beside a Celery task for each delivery, on the same tables and receivers; then
latency at low load, many endpoints, a long history, bad neighbours, and a backlog that drains beside the API.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from devtools.parts import BACKGROUND
from devtools.places import ROOT
from devtools.processes import die_with_parent

from . import load, workload
from .accounting import Meters
from .hooks_report import Result, Turn, Turns, write
from .place import Place, backends_of, open_place, serving

RESULTS = ROOT / "bench" / "results" / "webhooks.md"
_DISPATCH = [sys.executable, "manage.py", "webhooks_dispatch"]
_CELERY = [
    sys.executable,
    "-m",
    "celery",
    "-A",
    "bench.hooks_baseline",
    "worker",
    "--queues",
    "hooks_baseline",
    "--loglevel",
]
_COUNT = [sys.executable, "-c", "while True: pass"]
_PATIENCE_SECONDS = 600
_TURN_SECONDS = 3.0


class Bench:
    """The place, the receivers, and the steps that all measurements are made of."""

    def __init__(self, place: Place, wanted: argparse.Namespace, stack: ExitStack) -> None:
        self.place, self.wanted = place, wanted
        self.fast = stack.enter_context(self.receiver(0))
        self.slow = stack.enter_context(self.receiver(100))
        self.hanging = stack.enter_context(self.receiver(60_000))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.down = probe.getsockname()[1]
        self.start_cpu = 0.0

    @contextmanager
    def receiver(self, delay_ms: float, *, niceness: int = 0) -> Iterator[int]:
        """A receiver in a process of its own; yields its port."""
        command = [sys.executable, "-m", "bench.hooks_receiver", "--delay-ms", str(delay_ms)]
        with self.process(command, stdout=subprocess.PIPE, niceness=niceness) as child:
            assert child.stdout is not None
            yield int(child.stdout.readline())

    @contextmanager
    def process(self, command: list[str], *, niceness: int = 0, **more: Any) -> Iterator["subprocess.Popen[bytes]"]:
        """A child that ends with the block."""
        log = (self.place.backends.places.logs / "bench-webhooks.log").open("ab")
        child = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.place.environment | {"LOG_LEVEL": "ERROR"},
            stderr=log,
            **({"stdout": log} | more),
            start_new_session=bool(niceness),
            preexec_fn=die_with_parent(niceness=niceness),  # noqa: PLW1509 - this process has one thread
        )
        try:
            yield child
        finally:
            child.terminate()
            child.wait(30)
            log.close()

    def world(self, verb: str, *more: str) -> dict[str, Any]:
        """Do one thing in the database."""
        found: dict[str, Any] = self.place.python("-m", "bench.hooks_world", verb, *more)
        return found

    def endpoints(self, count: int, *ports: int, inflight: int = 64) -> None:
        """Make endpoints, the receivers in turn; the first receiver's are called good."""
        words = [f"http://127.0.0.1:{port}/{'good' if not place else 'bad'}/{{n}}" for place, port in enumerate(ports)]
        urls = [part for word in words for part in ("--url", word)]
        self.world("endpoints", "--count", str(count), "--inflight", str(inflight), *urls)

    def dispatch(self) -> float:
        """Run one dispatcher until nothing is due; return its CPU seconds without those of its start."""
        with (self.place.backends.places.logs / "bench-webhooks.log").open("ab") as log:
            child = subprocess.Popen(
                _DISPATCH, cwd=ROOT, env=self.place.environment | {"LOG_LEVEL": "ERROR"}, stdout=log, stderr=log
            )
            _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise RuntimeError("the dispatcher failed; see bench-webhooks.log")
        return used.ru_utime + used.ru_stime - self.start_cpu

    def drained(self, name: str, count: int) -> Result:
        """Queue deliveries and let one dispatcher send them."""
        since = self.world("queue", "--count", str(count))["since"]
        meters = Meters.of(self.place.backends.places)
        before = meters.read()
        cpu = self.dispatch()
        database = meters.since(before)["PostgreSQL"]
        found = self.world("figures", "--since", since)
        if found["delivered"] != count:
            raise RuntimeError(f"{name}: {found}")
        return Result(name, count, found["seconds"], cpu, database)

    def by_tasks(self, name: str, count: int, *, processes: int) -> Result:
        """The same by a task for each delivery."""
        since = self.world("queue", "--count", str(count))["since"]
        command = [*_CELERY, "error", "--concurrency", str(processes), "--prefetch-multiplier", "4", "--without-gossip"]
        with self.process([*command, "--without-mingle"]) as child:
            time.sleep(5)  # started and idle
            meters = Meters.of(self.place.backends.places, worker=child.pid)
            before = meters.read()
            self.place.python("-m", "bench.hooks_baseline")
            self.wait_until(lambda: not self.world("figures", "--since", since)["waiting"])
            used = meters.since(before)
        found = self.world("figures", "--since", since)
        if found["delivered"] != count:
            raise RuntimeError(f"{name}: {found}")
        return Result(name, count, found["seconds"], used["worker"], used["PostgreSQL"])

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that comes within minutes."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError("it took too long")
            time.sleep(0.5)

    def trickle(self, count: int, per_second: float) -> dict[str, Any]:
        """Commit events at a pace while a dispatcher runs; the latency of those to good endpoints."""
        with self.process([*_DISPATCH, "--forever"]):
            time.sleep(4)
            since = self.world("emit", "--count", str(count), "--per-second", str(per_second))["since"]
            time.sleep(3)
        return self.world("figures", "--since", since, "--like", "%/good/%")


def throughput(bench: Bench) -> tuple[list[Result], dict[str, list[float]]]:
    """The dispatcher and the tasks, round after round in turn: the middle of each by speed, and by receiver each round's ratio."""
    count, few = bench.wanted.deliveries, bench.wanted.deliveries // 10
    rounds: dict[str, list[Result]] = {}
    ratios: dict[str, list[float]] = {}
    for _ in range(bench.wanted.rounds):
        for port, word, processes in ((bench.fast, "fast", 2), (bench.slow, "100 ms", 8)):
            bench.endpoints(100, port)
            rounds.setdefault(word, []).append(bench.drained(f"dispatcher, {word} receiver", count))
            name = f"task for each, {processes} processes, {word} receiver"
            rounds.setdefault(name, []).append(bench.by_tasks(name, few, processes=processes))
            ratios.setdefault(word, []).append(rounds[word][-1].per_second / rounds[name][-1].per_second)
    for number in (1, 10_000):
        bench.endpoints(number, bench.fast)
        name = f"dispatcher, fast receiver, {number:,} endpoint{'s' if number > 1 else ''}"
        rounds[name] = [bench.drained(name, count)]
    if bench.wanted.history:
        bench.endpoints(100, bench.fast)
        bench.world("queue", "--count", str(bench.wanted.history), "--days", "2")
        name = f"dispatcher, fast receiver, {bench.wanted.history:,} delivered before"
        rounds[name] = [bench.drained(name, count) for _ in range(bench.wanted.rounds)]
    middles = [sorted(found, key=lambda one: one.per_second)[len(found) // 2] for found in rounds.values()]
    return middles, ratios


def neighbours(bench: Bench) -> dict[str, dict[str, Any]]:
    """Fifty healthy endpoints alone, then beside one that hangs and one that is down, each with a queue of its own."""
    count, per_second = bench.wanted.neighbour_events, 10
    bench.endpoints(50, bench.fast, inflight=8)
    alone = bench.trickle(count, per_second)
    ports = [bench.fast] * 50 + [bench.hanging, bench.down]
    urls = [f"http://127.0.0.1:{port}/{'good' if place < 50 else 'bad'}/{{n}}" for place, port in enumerate(ports)]
    options = [part for url in urls for part in ("--url", url)]
    bench.world("endpoints", "--count", "52", "--inflight", "8", *options)
    bench.world("queue", "--count", "4000", "--like", "%/bad/%")
    return {"alone": alone, "beside": bench.trickle(count, per_second)}


def beside_the_api(bench: Bench) -> Turns:
    """The API's latency alone, beside processes that only take the processor, and while a backlog drains, in turns of one run.

    The receiver, elsewhere in truth, gives way to the API here.
    """
    callers = bench.place.python("-m", "bench.population", "--tenants", "20")
    requests = workload.gets(callers, "/v1/products")

    def ask() -> load.Outcome:
        return load.run(port, requests, seconds=_TURN_SECONDS, connections=2)

    turns = Turns()
    with bench.receiver(0, niceness=BACKGROUND) as elsewhere, serving(bench.place, "web", workers=2) as (port, _):
        bench.endpoints(100, elsewhere)
        ask()
        since = bench.world("queue", "--count", str(bench.wanted.backlog))["since"]
        with bench.process([*_DISPATCH, "--forever"], niceness=BACKGROUND) as child:
            time.sleep(2)
            while True:
                beside = ask()
                if not bench.world("figures", "--since", since)["waiting"]:
                    break  # it was done within the turn
                child.send_signal(signal.SIGSTOP)
                try:
                    alone = ask()
                    with bench.process(_COUNT, niceness=19), bench.process(_COUNT, niceness=19):
                        turns.append(Turn(alone, ask(), beside))
                finally:
                    child.send_signal(signal.SIGCONT)
    found = bench.world("figures", "--since", since)
    if found["delivered"] != bench.wanted.backlog:
        raise RuntimeError(f"backlog: {found}")
    turns.seconds = found["seconds"] - len(turns) * 2 * _TURN_SECONDS
    return turns


def _options(arguments: list[str]) -> argparse.Namespace:
    reader = argparse.ArgumentParser(prog="./dev bench webhooks")
    reader.add_argument("--data", help="the data folder; seeded once and kept (default: .local/bench)")
    reader.add_argument("--deliveries", type=int, default=20_000, help="of each measurement; a tenth for the tasks")
    reader.add_argument("--rounds", type=int, default=3)
    reader.add_argument("--history", type=int, default=1_000_000)
    reader.add_argument("--backlog", type=int, default=100_000)
    reader.add_argument("--neighbour-events", type=int, default=300)
    reader.add_argument("--results", type=Path, default=RESULTS)
    return reader.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Measure, print and write the results."""
    wanted = _options(arguments)
    with backends_of(wanted.data) as backends, ExitStack() as stack:
        place = open_place(backends, rows=10_000, tenants=50)
        bench = Bench(place, wanted, stack)
        bench.endpoints(1, bench.fast)
        bench.start_cpu = bench.dispatch()
        speeds, ratios = throughput(bench)
        bench.endpoints(1, bench.fast)
        quiet = bench.trickle(400, 20)
        text = write(wanted, speeds, ratios, quiet, neighbours(bench), beside_the_api(bench))
    print(text)
    wanted.results.write_text(text)
    return 0
