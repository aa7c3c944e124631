"""One side of `./dev bench compare`: serves its own tree and measures what it is asked for, one line of JSON each way.

It is run by path, with the tree on PYTHONPATH, since an older tree does not have it. A line in is `{"scenario", "seconds"}`;
a line out has `count`, `seconds` and `cpu`, the CPU seconds of each process.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from bench import load, workload
from bench.accounting import Meters
from bench.place import Place, backends_of, open_database, open_place, serving

Measured = dict[str, Any]
Scenarios = dict[str, Callable[[float], Measured]]
_CONNECTIONS = 8
_WORKERS = 2


def _burst(meters: Meters, port: int, sent: list[bytes], seconds: float, *, status: int, once: bool) -> Measured:
    before = meters.read()
    outcome = load.run(port, sent, seconds=seconds, connections=_CONNECTIONS, once=once)
    if set(outcome.statuses) != {status}:
        raise RuntimeError(f"{dict(outcome.statuses)} {outcome.sample[:400]!r}")
    return {"count": outcome.count, "seconds": outcome.seconds, "cpu": meters.since(before)}


@contextmanager
def http(wanted: argparse.Namespace) -> Iterator[Scenarios]:
    """List, get and create products."""
    with backends_of(wanted.data) as backends:
        place = open_place(backends, rows=wanted.rows, tenants=wanted.tenants)
        with serving(place, "web", workers=_WORKERS) as (port, pid):
            meters = Meters.of(backends.places, web=pid)
            callers = place.python("-m", "bench.population", "--tenants", str(wanted.tenants))
            products = "/v1/products"

            def reading(make: Callable[..., list[bytes]], path: str) -> Callable[[float], Measured]:
                return lambda seconds: _burst(meters, port, make(callers, path), seconds, status=200, once=False)

            def create(seconds: float) -> Measured:
                sent = workload.creates(callers, int(seconds * 3_000), products)
                return _burst(meters, port, sent, seconds, status=201, once=True)

            yield {
                "list": reading(workload.lists, products),
                "list newest change": reading(workload.lists, f"{products}?sort=-updated_at"),
                "get": reading(workload.gets, products),
                "create": create,
            }


@contextmanager
def fhir(wanted: argparse.Namespace) -> Iterator[Scenarios]:
    """Import, then every kind of request that `./dev bench fhir` knows."""
    from bench import fhir as bench
    from bench.fhir_requests import BASE, Asked, World, asked, request

    with backends_of(wanted.data) as backends:
        place: Place = open_database(backends, bench.DATABASE, families=("FHIR",))
        with serving(place, "web", workers=_WORKERS) as (port, pid):
            meters = Meters.of(backends.places, web=pid)
            world = World(place, wanted.tenants)
            whole = [
                body.replace(b'"batch"', b'"transaction"', 1) for body in bench.bundles("prerequisite_batches.json")
            ]
            bundles = bench.bundles("patient_transactions.ndjson.gz")

            def load_in(bodies: list[bytes], connections: int) -> Measured:
                sent = [request("POST", BASE, caller, body=body) for body in bodies for caller in world.fresh()]
                before = meters.read()
                outcome = load.run(port, sent, seconds=300, connections=connections, once=True)
                bench.expect(outcome, 200)
                return {"count": len(sent), "seconds": outcome.seconds, "cpu": meters.since(before)}

            load_in(whole, 1)
            load_in([next(bundles) for _ in range(wanted.bundles)], _CONNECTIONS)
            place.python("-m", "bench.fhir_world", "settle")
            world.look()

            def asking(kind: Asked) -> Callable[[float], Measured]:
                once = kind.make is None
                return lambda seconds: _burst(
                    meters, port, kind.requests(world, seconds), seconds, status=kind.status, once=once
                )

            found: Scenarios = {kind.name: asking(kind) for kind in asked()}
            yield {"import": lambda _: load_in([next(bundles) for _ in range(4)], _CONNECTIONS), **found}


@contextmanager
def webhooks(wanted: argparse.Namespace) -> Iterator[Scenarios]:
    """Queue deliveries and let one dispatcher send them; CPU is the dispatcher's and PostgreSQL's."""
    from bench import webhooks as bench

    with backends_of(wanted.data) as backends, ExitStack() as stack:
        place = open_place(backends, rows=wanted.rows, tenants=wanted.tenants)
        hooks = bench.Bench(place, wanted, stack)
        hooks.endpoints(1, hooks.fast)
        hooks.start_cpu = hooks.dispatch()

        def draining(port: int, endpoints: int) -> Callable[[float], Measured]:
            def drain(seconds: float) -> Measured:
                hooks.endpoints(endpoints, port)
                found = hooks.drained("drained", int(seconds * 2_000))
                return {
                    "count": found.count,
                    "seconds": found.seconds,
                    "cpu": {"dispatcher": found.cpu, "PostgreSQL": found.database},
                }

            return drain

        yield {
            "fast receiver": draining(hooks.fast, 100),
            "receiver of 100 ms": draining(hooks.slow, 100),
            "one endpoint": draining(hooks.fast, 1),
        }


def main() -> None:
    """Serve, tell the names of the scenarios, and measure until standard input ends."""
    reader = argparse.ArgumentParser()
    reader.add_argument("kind", choices=["http", "fhir", "webhooks"])
    reader.add_argument("--data", required=True)
    reader.add_argument("--rows", type=int, required=True)
    reader.add_argument("--tenants", type=int, required=True)
    reader.add_argument("--bundles", type=int, required=True)
    wanted = reader.parse_args()
    with {"http": http, "fhir": fhir, "webhooks": webhooks}[wanted.kind](wanted) as scenarios:
        print(json.dumps(list(scenarios)), flush=True)
        for line in sys.stdin:
            order: dict[str, Any] = json.loads(line)
            print(json.dumps(scenarios[order["scenario"]](order["seconds"])), flush=True)


if __name__ == "__main__":
    main()
