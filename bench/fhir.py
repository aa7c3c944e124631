"""`./dev bench fhir`: Synthea's resources of four tenants through the API, then reads, writes and the searches of the
contract over HTTP, beside a bare "hello" and a bare view of the same bytes on the same server; their SQL alone beside
the prototype's on the same data; and the memory of the web processes.
"""

import argparse
import gzip
import itertools
import json
import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from devtools import roles
from devtools.places import ROOT

from . import load
from .accounting import Meters
from .fhir_direct import Order
from .fhir_report import BARE, Alone, Imported, marks, memory, requests
from .fhir_requests import BASE, Asked, World, asked, request
from .place import Place, backends_of, open_database, serving
from .report import Figure, Series, machine_line

RESULTS = ROOT / "bench" / "results" / "fhir.md"
SHARED = Path(os.environ.get("SHARED_DATA") or ROOT.parent / "shared" / "data") / "fhir"
DATABASE = "bench_fhir"
_TOGETHER = 10  # Bundles of each tenant that are sent in one go


class Direct:
    """A child process that runs the statements alone."""

    def __init__(self, child: "subprocess.Popen[str]") -> None:
        self.child = child
        self._answer()

    def _answer(self) -> str:
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError("the child that runs the statements ended")
        return line

    def medians(
        self, kind: str, asked_for: list[tuple[dict[str, str], str]], seconds: float, *, compare: bool
    ) -> Alone:
        """Run the statements of some paths and the prototype's in turn; the medians of one path's."""
        assert self.child.stdin is not None
        paths = [(caller["tenant"], path) for caller, path in asked_for]
        order = Order(kind=kind, seconds=seconds, paths=paths, compare=compare)
        self.child.stdin.write(json.dumps(order) + "\n")
        self.child.stdin.flush()
        found = json.loads(self._answer())
        return Alone(median(found["ours"]) * 1000, median(found["prototype"]) * 1000)


@contextmanager
def direct(place: Place) -> Iterator[Direct]:
    """A child that runs statements until the block ends."""
    with place.child("bench.fhir_direct") as child:
        yield Direct(child)


def bundles(name: str) -> Iterator[bytes]:
    """The bundles of a file, one after the other."""
    path = SHARED / name
    if name.endswith(".json"):
        yield from (json.dumps(bundle).encode() for bundle in json.loads(path.read_text()))
        return
    with gzip.open(path) as lines:
        yield from lines


def import_all(world: World, port: int, meters: Meters, web: int, wanted: argparse.Namespace) -> Imported:
    """Load everything into every tenant, the tenants in turn, until it is done or the time for it is over.

    :raises RuntimeError: a Bundle was refused, or not all of its resources are there.
    """
    for caller in world.fresh():
        whole = (body.replace(b'"batch"', b'"transaction"', 1) for body in bundles("prerequisite_batches.json"))
        sent = [request("POST", BASE, caller, body=body) for body in whole]
        expect(load.run(port, sent, seconds=300, connections=1, once=True), 200)
    found, before, until = Imported(), sum(world.count().values()), time.monotonic() + wanted.import_seconds
    source = itertools.islice(bundles("patient_transactions.ndjson.gz"), wanted.bundles)
    expected = 0
    while (some := list(itertools.islice(source, _TOGETHER))) and time.monotonic() < until:
        sent = [request("POST", BASE, caller, body=body) for body in some for caller in world.fresh()]
        start = meters.read()
        outcome = load.run(port, sent, seconds=300, connections=wanted.connections, once=True)
        expect(outcome, 200)
        found.used = {name: found.used.get(name, 0) + value for name, value in meters.since(start).items()}
        found.seconds += outcome.seconds
        found.bundles += len(sent)
        found.bytes += sum(map(len, sent))
        found.memory.append(resident(web))
        expected += sum(len(json.loads(body)["entry"]) for body in some) * world.tenants
        print(f"{expected:,} resources, {expected / found.seconds:,.0f}/s, {found.memory[-1]} MB", flush=True)
    found.resources = sum(world.count().values()) - before
    if found.resources != expected:
        raise RuntimeError(f"{expected} resources were sent and {found.resources} are there")
    return found


def expect(outcome: load.Outcome, *statuses: int) -> None:
    """Refuse any other status.

    :raises RuntimeError: there was one.
    """
    if not set(outcome.statuses) <= set(statuses):
        raise RuntimeError(f"{dict(outcome.statuses)} {outcome.sample[:600]!r}")


class Rounds:
    """All kinds of requests in turn, round after round; the first one warms and is not counted."""

    def __init__(self, world: World, wanted: argparse.Namespace, meters: Meters, alone: Direct) -> None:
        self.world, self.wanted, self.meters, self.direct = world, wanted, meters, alone
        self.found: dict[str, Series] = {}
        self.alone: dict[str, list[Alone]] = {}

    def run(self, port: int, stock: int, kinds: list[Asked], *, counted: bool) -> None:
        """One round."""
        seconds = self.wanted.seconds
        hello = [load.request("GET", "/hello", headers={})]
        self._one("hello", stock, hello, Asked("hello"), counted=counted)
        for kind in kinds:
            for bare, place in BARE.get(kind.name, {}).items():
                self._one(bare, stock, self._bare(kind, place), Asked(bare, make=kind.make), counted=counted)
            self._one(kind.name, port, kind.requests(self.world, seconds), kind, counted=counted)
            if kind.make is not None and kind.sketch:
                pairs = self.world.pairs(kind.make)
                value = self.direct.medians(kind.name, pairs, seconds, compare=not counted)
                if counted:
                    self.alone.setdefault(kind.name, []).append(value)
        print(", ".join(f"{name} {series[-1].per_second:.0f}/s" for name, series in self.found.items()), flush=True)

    def _bare(self, kind: Asked, place: str) -> list[bytes]:
        """The reads, of a view that does nothing but fetch the bytes."""
        assert kind.make is not None
        paths = (f"/{place}/{caller['tenant']}{path}" for caller, path in self.world.pairs(kind.make))
        return [load.request("GET", path, headers={}) for path in paths]

    def _one(self, name: str, port: int, sent: list[bytes], kind: Asked, *, counted: bool) -> None:
        before = self.meters.read()
        connections, once = self.wanted.connections, name != "hello" and kind.make is None
        outcome = load.run(port, sent, seconds=self.wanted.seconds, connections=connections, once=once)
        expect(outcome, kind.status)
        if counted:
            server = "stock" if name == "hello" or any(name in bare for bare in BARE.values()) else "web"
            figure = Figure.of(outcome, self.meters.since(before), server=server)
            self.found.setdefault(name, Series()).append(figure)


def measure(place: Place, wanted: argparse.Namespace) -> list[str]:
    """Import, ask, and tell what came of it."""
    random.seed(4)
    world, kinds, imported = World(place, wanted.tenants), asked(), None
    with ExitStack() as stack:
        port, web = stack.enter_context(serving(place, "web", workers=2))
        stock, other = stack.enter_context(serving(place, "stock", workers=2, settings="bench.stock_settings"))
        meters = Meters.of(place.backends.places, web=web, stock=other)
        before = resident(web)
        if wanted.bundles:
            imported = import_all(world, port, meters, web, wanted)
            imported.used.pop("stock", None)
        sizes, counted = _settle(place), world.count()
        world.look()
        print(f"prototype: {_told(place.python('-m', 'bench.fhir_prototype'))}", flush=True)
        rounds = Rounds(world, wanted, meters, stack.enter_context(direct(place)))
        rest = []
        for number in range(wanted.rounds + 1):
            rounds.run(port, stock, kinds, counted=number > 0)
            rest.append(resident(web))
            _settle(place)
    return [
        machine_line(),
        "",
        _how(counted, wanted),
        "",
        *(imported.lines() if imported else []),
        *requests(rounds.found, rounds.alone, kinds),
        "",
        *marks(imported, rounds.found, rounds.alone, rest),
        "",
        *memory(before, imported, rest),
        "",
        f"Tables: {_told(sizes)}.",
        "",
    ]


def _how(counted: dict[str, int], wanted: argparse.Namespace) -> str:
    """Of what there is and how it was asked."""
    return (
        f"{sum(counted.values()):,} resources of {wanted.tenants} tenants ({_told(counted)}); 2 workers, "
        f"{wanted.connections} connections, {wanted.rounds} rounds of {wanted.seconds:g} s each, interleaved; median "
        "(lowest–highest). CPU is µs a request by process accounting. SQL alone is the median of one connection "
        "of psycopg, with the tenant bound and row security, without rights and without the record of access. The "
        "prototype's SQL is its own statements on its own tables of the same rows, in turn with ours in each "
        "round, planned anew or once, whichever is faster; both found as many. Its tenant was bound before, ours "
        "is bound in each trip. Its _revinclude begins at known patients and takes any 1,000 references, ours "
        "searches the patients and takes the newest. Its _has is by the contract's words, as the sketch kept a "
        "part of it only. ÷ prototype is the median of the rounds' ratios; what it took there is that of the "
        "contract's table, on another machine. After each round the tables were vacuumed, since the prototype's "
        "are not written to."
    )


def main(arguments: list[str]) -> int:
    """Measure, print and write the results."""
    wanted = _options(arguments)
    with backends_of(wanted.data) as backends:
        if wanted.bundles and backends.cluster:
            roles.drop_database(backends.cluster, DATABASE)
        place = open_database(backends, DATABASE, families=("FHIR",))
        lines = measure(place, wanted)
    text = "\n".join(["# Clinical record, `./dev bench fhir`", "", *lines])
    print(text)
    wanted.results.write_text(text)
    return 0


def _settle(place: Place) -> dict[str, str]:
    """Vacuum the tables and return their sizes."""
    sizes: dict[str, str] = place.python("-m", "bench.fhir_world", "settle")
    return sizes


def _told(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in values.items()
    )


def resident(pid: int) -> int:
    """The memory of a process and its children in MB; what they share is counted once, where the system tells that."""
    root = psutil.Process(pid)
    found = [process.memory_full_info() for process in [root, *root.children(recursive=True)]]
    return sum(getattr(one, "pss", one.rss) for one in found) // 2**20


def _options(arguments: list[str]) -> argparse.Namespace:
    reader = argparse.ArgumentParser(prog="./dev bench fhir")
    reader.add_argument("--data", help="the data folder, kept (default: .local/bench)")
    reader.add_argument("--tenants", type=int, default=4)
    reader.add_argument(
        "--bundles", type=int, default=120, help="transactions to import into each tenant; 0: ask for what is there"
    )
    reader.add_argument("--import-seconds", type=float, default=150.0, help="no Bundle is begun after so long")
    reader.add_argument("--rounds", type=int, default=3)
    reader.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    reader.add_argument("--connections", type=int, default=8)
    reader.add_argument("--results", type=Path, default=RESULTS)
    return reader.parse_args(arguments)
