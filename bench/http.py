"""`./dev bench http`: product list, get and create through the whole service, beside the same SQL without HTTP, a bare
"hello" on the same server, stock DRF views of the same list and the prototype of the marks; interleaved, medians with
spread, CPU by process.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from devtools.places import ROOT

from . import load, prototype, workload
from .accounting import Meters
from .place import Place, backends_of, open_place, serving
from .report import Figure, Series, machine, ratios, table

RESULTS = ROOT / "bench" / "results" / "http.md"
_DIRECT = 2
_TOKENS_LIVE_SECONDS = 400


class Directs:
    """Child processes that run the statements alone."""

    def __init__(self, place: Place, callers: Path) -> None:
        self.children = [
            subprocess.Popen(
                [sys.executable, "-m", "bench.direct", str(callers)],
                cwd=ROOT,
                env=place.environment | {"LOG_LEVEL": "ERROR"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(_DIRECT)
        ]
        for child in self.children:
            self._answer(child)

    @staticmethod
    def _answer(child: "subprocess.Popen[str]") -> str:
        assert child.stdout is not None
        line = child.stdout.readline()
        if not line:
            raise RuntimeError("a child that runs the statements ended")
        return line

    def run(self, name: str, seconds: float) -> tuple[load.Outcome, float]:
        """Run one kind of statements in every child at once; the outcome and the children's CPU seconds."""
        for child in self.children:
            assert child.stdin is not None
            child.stdin.write(f"{name} {seconds}\n")
            child.stdin.flush()
        answers = [json.loads(self._answer(child)) for child in self.children]
        latencies = [value for answer in answers for value in answer["latencies"]]
        outcome = load.Outcome(seconds=max(answer["seconds"] for answer in answers), latencies=latencies)
        return outcome, sum(answer["cpu"] for answer in answers)

    def close(self) -> None:
        """End them."""
        for child in self.children:
            assert child.stdin is not None
            child.stdin.close()
            child.wait(10)


class Bench:
    """The running servers, the callers, and how each scenario is measured."""

    def __init__(self, place: Place, wanted: argparse.Namespace, meters: Meters, ports: dict[str, int]) -> None:
        self.place, self.wanted, self.meters, self.ports = place, wanted, meters, ports
        self.callers: list[dict[str, Any]] = []
        self.fetched_at = 0.0
        self.file = place.backends.places.data / f"callers-{place.rows}.json"

    def refresh(self) -> None:
        """Fetch the callers, with fresh tokens when those at hand grow old."""
        if self.callers and time.monotonic() - self.fetched_at < _TOKENS_LIVE_SECONDS:
            return
        self.fetched_at = time.monotonic()
        found = self.place.python("-m", "bench.population", "--tenants", str(self.place.tenants))
        random.Random(7).shuffle(found)
        self.callers = found[: self.wanted.callers]
        self.file.write_text(json.dumps(self.callers))

    def http(self, server: str, requests: list[bytes], *, status: int = 200, once: bool = False) -> Figure:
        """Measure requests to one of the servers.

        :raises RuntimeError: an answer has another status.
        """
        before = self.meters.read()
        outcome = load.run(
            self.ports[server], requests, seconds=self.wanted.seconds, connections=self.wanted.connections, once=once
        )
        if set(outcome.statuses) != {status}:
            raise RuntimeError(f"{server}: {dict(outcome.statuses)} {outcome.sample[:400]!r}")
        return Figure.of(outcome, self.meters.since(before), server=server)

    def sql(self, directs: Directs, name: str) -> Figure:
        """Measure statements alone."""
        before = self.meters.read()
        outcome, cpu = directs.run(name, self.wanted.seconds)
        return Figure.of(outcome, {**self.meters.since(before), "client": cpu}, server="client")


def scenarios(bench: Bench, directs: Directs) -> dict[str, Callable[[], Figure]]:
    """What is measured in each round, in this order."""
    newest = "?sort=-updated_at"
    stock, lean = "/stock/products", "/prototype/products"

    def ours(make: Callable[..., list[bytes]], path: str) -> Callable[[], Figure]:
        return lambda: bench.http("product", make(bench.callers, path))

    def theirs(make: Callable[..., list[bytes]], path: str, server: str = "stock") -> Callable[[], Figure]:
        return lambda: bench.http(server, make(bench.callers, path, "stock_token"))

    def create(server: str, path: str, credential: str) -> Figure:
        requests = workload.creates(bench.callers, int(bench.wanted.seconds * 3_000), path, credential)
        return bench.http(server, requests, status=201, once=True)

    return {
        "hello": lambda: bench.http("stock", [load.request("GET", "/hello", headers={})]),
        "list": ours(workload.lists, "/v1/products"),
        "list: SQL alone": lambda: bench.sql(directs, "list"),
        "list: stock DRF": theirs(workload.lists, stock),
        "list newest change": ours(workload.lists, f"/v1/products{newest}"),
        "list newest change: SQL alone": lambda: bench.sql(directs, "list_updated"),
        "list newest change: stock DRF": theirs(workload.lists, f"{stock}{newest}"),
        "list newest change: prototype": theirs(workload.lists, lean, "prototype"),
        "get": ours(workload.gets, "/v1/products"),
        "get: SQL alone": lambda: bench.sql(directs, "get"),
        "get: stock DRF": theirs(workload.gets, stock),
        "get: prototype": theirs(workload.gets, lean, "prototype"),
        "create": lambda: create("product", "/v1/products", "token"),
        "create: SQL alone": lambda: bench.sql(directs, "create"),
        "create: stock DRF": lambda: create("stock", stock, "stock_token"),
        "create: prototype": lambda: create("prototype", lean, "stock_token"),
    }


def check_same(bench: Bench) -> None:
    """Hold the stock list against ours: the same products in the same order, the same total, the same members.

    :raises RuntimeError: they differ, so a comparison would be void.
    """
    caller = [bench.callers[0]]
    ours = load.run(bench.ports["product"], workload.lists(caller), seconds=5, connections=1, once=True)
    stock = workload.lists(caller, "/stock/products", "stock_token")
    theirs = load.run(bench.ports["stock"], stock, seconds=5, connections=1, once=True)
    if {*ours.statuses, *theirs.statuses} != {200}:
        raise RuntimeError(
            f"{dict(ours.statuses)} {dict(theirs.statuses)} {ours.sample[:300]!r} {theirs.sample[:300]!r}"
        )
    left, right = (json.loads(outcome.sample)["data"] for outcome in (ours, theirs))
    same = [item["id"] for item in left["items"]] == [item["id"] for item in right["items"]]
    if not same or left["total"] != right["total"] or set(left["items"][0]) != set(right["items"][0]):
        raise RuntimeError("the stock view does not answer what ours answers")


@contextmanager
def running(place: Place, wanted: argparse.Namespace) -> Iterator[tuple[Bench, Directs]]:
    """Start the servers and the children without HTTP."""
    with ExitStack() as stack:
        product_port, product = stack.enter_context(serving(place, "web", workers=wanted.workers))
        settings = "bench.stock_settings"
        stock_port, stock = stack.enter_context(serving(place, "stock", workers=wanted.workers, settings=settings))
        place.python("-m", "bench.prototype.tables")
        lean_port, lean = stack.enter_context(
            serving(place, "prototype", workers=wanted.workers, settings=prototype.SETTINGS, command=prototype.command)
        )
        meters = Meters.of(place.backends.places, product=product, stock=stock, prototype=lean)
        ports = {"product": product_port, "stock": stock_port, "prototype": lean_port}
        bench = Bench(place, wanted, meters, ports)
        bench.refresh()
        check_same(bench)
        directs = Directs(place, bench.file)
        stack.callback(directs.close)
        yield bench, directs


def measure(bench: Bench, directs: Directs) -> dict[str, Series]:
    """Run the scenarios in turn, round after round; a first round warms everything and is not counted."""
    found: dict[str, Series] = {}
    for number in range(bench.wanted.rounds + 1):
        bench.refresh()
        for name, work in scenarios(bench, directs).items():
            figure = work()
            if number:
                found.setdefault(name, Series()).append(figure)
        shown = ", ".join(f"{name} {series[-1].per_second:.0f}/s" for name, series in found.items())
        print(f"round {number}: {shown or 'warm'}", flush=True)
    return found


def parser(name: str) -> argparse.ArgumentParser:
    """The options that the benchmarks share."""
    found = argparse.ArgumentParser(prog=f"./dev bench {name}")
    found.add_argument("--data", help="the data folder; seeded once and kept (default: .local/bench)")
    found.add_argument("--callers", type=int, default=100, help="tenants that send requests")
    found.add_argument("--rounds", type=int, default=5)
    found.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    found.add_argument("--connections", type=int, default=8)
    found.add_argument("--workers", type=int, default=2)
    found.add_argument("--results", type=Path, default=RESULTS)
    return found


def main(arguments: list[str]) -> int:
    """Measure, print and write the results."""
    reader = parser("http")
    reader.add_argument("--rows", type=int, default=1_000_000)
    reader.add_argument("--tenants", type=int, default=1_000)
    wanted = reader.parse_args(arguments)
    with backends_of(wanted.data) as backends:
        place = open_place(backends, rows=wanted.rows, tenants=wanted.tenants)
        with running(place, wanted) as (bench, directs):
            found = measure(bench, directs)
    text = "\n".join([*machine(wanted), "", *table(found), "", *ratios(found), ""])
    print(text)
    wanted.results.parent.mkdir(exist_ok=True)
    wanted.results.write_text(f"# Product requests, `./dev bench http`\n\n{text}")
    return 0
