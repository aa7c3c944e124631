"""`./dev bench fhir`: Synthea's resources of four tenants through the API, then reads, writes and the searches of the
contract over HTTP, beside a bare "hello" on the same server, in one run; and the memory of the web process.
"""

import argparse
import gzip
import itertools
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import psutil

from devtools.places import ROOT

from . import load
from .accounting import Meters
from .place import Place, backends_of, open_database, serving
from .report import machine_line

RESULTS = ROOT / "bench" / "results" / "fhir.md"
SHARED = Path(os.environ.get("SHARED_DATA") or ROOT.parent / "shared" / "data") / "fhir"
BASE = "/fhir/R4"
_TOKENS_LIVE_SECONDS = 400
_LOINC, _CATEGORY = "http://loinc.org", "http://terminology.hl7.org/CodeSystem/observation-category"


class World:
    """The tenants, their callers with fresh tokens, and what to ask them for."""

    def __init__(self, place: Place, tenants: int) -> None:
        self.place, self.tenants = place, tenants
        self.callers: list[dict[str, str]] = []
        self.samples: list[dict[str, Any]] = []
        self._fetched_at = 0.0

    def fresh(self) -> list[dict[str, str]]:
        """The callers, with new tokens when those at hand grow old."""
        if not self.callers or time.monotonic() - self._fetched_at > _TOKENS_LIVE_SECONDS:
            self._fetched_at = time.monotonic()
            self.callers = self.place.python("-m", "bench.fhir_world", "tenants", "--count", str(self.tenants))
        return self.callers

    def look(self) -> None:
        """Choose ids and values of each tenant."""
        self.samples = [
            self.place.python("-m", "bench.fhir_world", "sample", "--tenant", caller["tenant"])
            for caller in self.fresh()
        ]

    def ask(self, method: str, make: Callable[[dict[str, Any]], str], count: int = 400, **more: Any) -> list[bytes]:
        """So many requests of the tenants in turn; `make` chooses the path from a tenant's sample."""
        pairs = itertools.islice(itertools.cycle(zip(self.fresh(), self.samples, strict=True)), count)
        return [request(method, BASE + make(sample), caller, **more) for caller, sample in pairs]


def request(method: str, path: str, caller: dict[str, str], *, body: bytes = b"", **headers: str) -> bytes:
    """One request of a caller."""
    fixed = {"Authorization": f"Bearer {caller['token']}", "Accept": "application/fhir+json"}
    return load.request(method, path, headers=fixed | headers, body=body)


def bundles(name: str) -> Iterator[bytes]:
    """The bundles of a file, one after the other."""
    path = SHARED / name
    if name.endswith(".json"):
        yield from (json.dumps(bundle).encode() for bundle in json.loads(path.read_text()))
        return
    with gzip.open(path) as lines:
        yield from lines


def import_all(world: World, port: int, *, connections: int, limit: int) -> dict[str, float]:
    """Load everything into every tenant, the tenants in turn; resources a second while the transactions run.

    :raises RuntimeError: a bundle was refused.
    """
    for caller in world.fresh():
        sent = [request("POST", BASE, caller, body=body) for body in bundles("prerequisite_batches.json")]
        _expect(load.run(port, sent, seconds=300, connections=1, once=True), 200)
    before, seconds = _total(world), 0.0
    transactions = list(itertools.islice(bundles("patient_transactions.ndjson.gz"), limit))
    for start in range(0, len(transactions), 10):
        callers = world.fresh()
        sent = [
            request("POST", BASE, caller, body=body) for body in transactions[start : start + 10] for caller in callers
        ]
        outcome = load.run(port, sent, seconds=300, connections=connections, once=True)
        _expect(outcome, 200)
        seconds += outcome.seconds
    made = _total(world) - before
    return {"resources": made, "seconds": seconds, "per_second": made / seconds if seconds else 0.0}


def _total(world: World) -> int:
    return sum(world.place.python("-m", "bench.fhir_world", "counts").values())


def _expect(outcome: load.Outcome, *statuses: int) -> None:
    if not set(outcome.statuses) <= set(statuses):
        raise RuntimeError(f"{dict(outcome.statuses)} {outcome.sample[:600]!r}")


def searches() -> dict[str, Callable[[dict[str, Any]], str]]:
    """The searches of the contract's table, by name."""
    weight = f"{_LOINC}|29463-7"
    codes = ",".join(f"{_LOINC}|{code}" for code in ("8302-2", "29463-7", "39156-5", "72514-3", "55284-4"))
    return {
        "Patient?identifier=s|v": lambda s: f"/Patient?identifier={quote(random.choice(s['identifiers']), safe='')}",
        "Observation?code=s|c": lambda _: f"/Observation?code={quote(weight)}&_count=20",
        "Observation?status=final": lambda _: "/Observation?status=final&_count=20",
        "Observation?patient=P&_sort=-date": lambda s: f"/Observation?patient={_one(s)}&_sort=-date&_count=20",
        "Observation?patient=P&code=s|c&_sort=-date": lambda s: (
            f"/Observation?patient={_one(s)}&code={quote(weight)}&_sort=-date&_count=20"
        ),
        "Observation?patient&category&date=ge": lambda s: (
            f"/Observation?patient={_one(s)}&category={quote(f'{_CATEGORY}|laboratory')}&date=ge2015&_count=20"
        ),
        "Observation?code= 5 codes": lambda _: f"/Observation?code={quote(codes)}&_count=20",
        "Observation?code&value-quantity=gt": lambda _: (
            f"/Observation?code={quote(f'{_LOINC}|8302-2')}&value-quantity=gt180&_count=20"
        ),
        "Patient?family=abc&gender": lambda s: (
            f"/Patient?family={quote(random.choice(s['families'])[:3])}&gender=male&_count=20"
        ),
        "Observation?code&patient.family": lambda s: (
            f"/Observation?code={quote(weight)}&patient.family={quote(random.choice(s['families'])[:3])}&_count=20"
        ),
        "Patient?_has:Observation:patient:code": lambda _: (
            f"/Patient?_has:Observation:patient:code={quote(weight)}&_count=20"
        ),
        "total of code=s|c": lambda _: f"/Observation?code={quote(weight)}&_summary=count",
        "Patient?_revinclude=Observation:patient": lambda _: "/Patient?_revinclude=Observation:patient&_count=20",
    }


def _one(sample: dict[str, Any]) -> str:
    return str(random.choice(sample["Patient"]))


def measures(world: World, seconds: float) -> dict[str, tuple[list[bytes], tuple[int, ...]]]:
    """What is asked over HTTP: requests and the statuses they may have. Writes are made anew for each round."""
    observations = [one for sample in world.samples for one in sample["observations"]]
    pairs = list(zip(world.fresh(), world.samples, strict=True))

    def write(method: str) -> list[bytes]:
        found = []
        for caller, sample in itertools.islice(itertools.cycle(pairs), int(seconds * 2_000)):
            body = dict(random.choice(sample["observations"] if method == "PUT" else observations))
            if method == "PUT":
                body["note"] = [{"text": f"looked at again {random.random()}"}]
            else:
                own = random.choice(sample["observations"])
                body |= {name: own[name] for name in ("subject", "encounter", "performer") if name in own}
            path = f"{BASE}/Observation" + (f"/{body['id']}" if method == "PUT" else "")
            found.append(request(method, path, caller, body=json.dumps(body).encode()))
        return found

    asked = {
        "read": (world.ask("GET", lambda s: f"/Observation/{random.choice(s['Observation'])}"), (200,)),
        "create": (write("POST"), (201,)),
        "update": (write("PUT"), (200,)),
    }
    return asked | {name: (world.ask("GET", make), (200,)) for name, make in searches().items()}


def run_rounds(world: World, ports: dict[str, int], wanted: argparse.Namespace) -> dict[str, list[load.Outcome]]:
    """Everything in turn, round after round; the first round warms and is not counted."""
    found: dict[str, list[load.Outcome]] = {}
    hello = [load.request("GET", "/hello", headers={})]
    for number in range(wanted.rounds + 1):
        for name, (requests, statuses) in {"hello": (hello, (200,)), **measures(world, wanted.seconds)}.items():
            port = ports["stock" if name == "hello" else "product"]
            once = name in ("create", "update")
            outcome = load.run(port, requests, seconds=wanted.seconds, connections=wanted.connections, once=once)
            _expect(outcome, *statuses)
            if number:
                found.setdefault(name, []).append(outcome)
        print(
            f"round {number}: {', '.join(f'{n} {o[-1].per_second:.0f}/s' for n, o in found.items()) or 'warm'}",
            flush=True,
        )
    return found


def table(found: dict[str, list[load.Outcome]]) -> list[str]:
    """One line for each measurement, beside hello."""
    hello = median(outcome.per_second for outcome in found["hello"])
    lines = ["| asked over HTTP | requests/s | p50 ms | p99 ms | ÷ hello |", "|---|---|---|---|---|"]
    for name, outcomes in found.items():
        speeds = [outcome.per_second for outcome in outcomes]
        p50, p99 = (median(outcome.percentile(share) for outcome in outcomes) for share in (0.5, 0.99))
        spread = f"{median(speeds):,.0f} ({min(speeds):,.0f}–{max(speeds):,.0f})"
        shown = name.replace("|", "\\|")
        lines.append(f"| {shown} | {spread} | {p50:.2f} | {p99:.1f} | {median(speeds) / hello:.2f} |")
    return lines


def main(arguments: list[str]) -> int:
    """Import, measure, print and write the results."""
    wanted = _options(arguments)
    with backends_of(wanted.data) as backends:
        place = open_database(backends, "bench_fhir", families=("FHIR",))
        world = World(place, wanted.tenants)
        with (
            serving(place, "web", workers=2) as (port, web),
            serving(place, "stock", workers=2, settings="bench.stock_settings") as (stock, _),
        ):
            meters = Meters.of(place.backends.places, web=web)
            before, memory = meters.read(), _memory(web)
            imported = (
                import_all(world, port, connections=wanted.connections, limit=wanted.bundles) if wanted.bundles else {}
            )
            used = meters.since(before)
            sizes, counted = (place.python("-m", "bench.fhir_world", verb) for verb in ("settle", "counts"))
            world.look()
            found = run_rounds(world, {"product": port, "stock": stock}, wanted)
            after = _memory(web)
    lines = [machine_line(), "", f"{sum(counted.values()):,} resources of {wanted.tenants} tenants: {counted}", ""]
    if imported.get("seconds"):
        lines += [
            (
                f"Transactions: {imported['resources']:,} resources in {imported['seconds']:.0f} s, "
                f"**{imported['per_second']:,.0f} a second**; CPU a resource: "
                + ", ".join(f"{name} {value / imported['resources'] * 1e6:.0f} µs" for name, value in used.items())
            ),
            "",
        ]
    lines += [
        *table(found),
        "",
        f"Memory of the web processes: {memory} MB before, {after} MB at the end.",
        "",
        f"Tables: {sizes}",
        "",
    ]
    text = "\n".join(["# Clinical record, `./dev bench fhir`", "", *lines])
    print(text)
    wanted.results.write_text(text)
    return 0


def _memory(pid: int) -> int:
    root = psutil.Process(pid)
    return sum(process.memory_info().rss for process in [root, *root.children(recursive=True)]) // 2**20


def _options(arguments: list[str]) -> argparse.Namespace:
    reader = argparse.ArgumentParser(prog="./dev bench fhir")
    reader.add_argument("--data", help="the data folder, kept (default: .local/bench)")
    reader.add_argument("--tenants", type=int, default=4)
    reader.add_argument(
        "--bundles", type=int, default=120, help="transactions to import into each tenant; 0: what is there"
    )
    reader.add_argument("--rounds", type=int, default=3)
    reader.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    reader.add_argument("--connections", type=int, default=8)
    reader.add_argument("--results", type=Path, default=RESULTS)
    return reader.parse_args(arguments)
