"""`./dev bench order`: lists of orders on both sides at a million orders, drafts, submits, acceptances and receipts of one line and of
fifty, and what the supplier's received copy costs the write that makes it; marks of trade and growth.
"""

import argparse
import itertools
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from devtools.environment import Backends
from devtools.places import ROOT

from . import load, order_report, order_rows, supply_report, supply_rows, upkeep, workload
from .accounting import Meters
from .order_flow import Flow
from .place import Place, backends_of, open_database, serving
from .prescriptions_child import Child
from .prescriptions_report import Found, Taken
from .report import machine_line
from .supply import Work

RESULTS = ROOT / "bench" / "results" / "order.md"
_FAMILIES = ("SUPPLIER", "PROCUREMENT")
_SMALL = 10_000
_OWN, _OTHER = "/v1/purchase-orders", "/v1/orders"


class Bench:
    """A database of so many orders, its web server, and how each work is measured."""

    world_options: tuple[str, ...] = ()

    def __init__(self, place: Place, wanted: argparse.Namespace, stack: ExitStack) -> None:
        self.place, self.wanted = place, wanted
        name = f"web-order-{place.rows}"
        self.port, web = stack.enter_context(serving(place, name, workers=2))
        settings = "bench.copyless_settings"
        self.copyless, other = stack.enter_context(serving(place, f"{name}-copyless", workers=2, settings=settings))
        self.meters = {
            self.port: Meters.of(place.backends.places, web=web),
            self.copyless: Meters.of(place.backends.places, web=other),
        }
        database = place.environment["DATABASE_OWNER_URL"].rpartition("?")[0].rpartition("/")[2]
        self.connection: Any = stack.enter_context(place.backends.administration().connect(database))
        self.connection.autocommit = True
        self.refresh()
        if seconds := supply_rows.fill(self.connection, self.world["tenants"]):
            supply_rows.show(self.connection, self.world["tenants"])
            print(f"products stocked in {seconds:.0f} s", flush=True)
        if seconds := order_rows.fill(self.connection, self.world, place.rows):
            print(f"{place.rows:,} orders written in {seconds:.0f} s", flush=True)
        self.large = self.world["suppliers"][0]
        self.child = stack.enter_context(Child.running(place))
        self.flow = Flow(self)

    def refresh(self) -> None:
        """Fetch the callers with fresh tokens."""
        sizes = ("--suppliers", str(self.place.tenants), "--buyers", str(max(5, self.place.tenants // 2)))
        self.world: dict[str, Any] = self.place.python("-m", "bench.order_world", *sizes, *self.world_options)
        self.buyers: list[dict[str, Any]] = self.world["buyers"][1:]
        self.suppliers: list[dict[str, Any]] = self.world["suppliers"][1:]

    # -- measurements --------------------------------------------------------------------------------------------------

    def http(
        self, requests: list[bytes], status: int = 200, *, once: bool = False, port: int = 0, connections: int = 0
    ) -> Taken:
        """Measure requests.

        :raises RuntimeError: an answer has another status, or there is nothing to send.
        """
        if not requests:
            raise RuntimeError(
                "The work before has left nothing to send: let each measurement last longer (--seconds)."
            )
        port = port or self.port
        before = self.meters[port].read()
        connections = connections or min(self.wanted.connections, len(requests))
        outcome = load.run(port, requests, seconds=self.wanted.seconds, connections=connections, once=once)
        if set(outcome.statuses) != {status}:
            raise RuntimeError(f"{dict(outcome.statuses)} {outcome.sample[:800]!r}")
        return Taken.of(outcome, self.meters[port].since(before), "web")

    def reads(self, callers: list[dict[str, Any]], path: str) -> Work:
        """A read of each caller in turn."""
        return partial(self.http, workload.lists(callers, path))

    def gets(
        self, callers: list[dict[str, Any]], path: str, column: str, table: str, which: str = "status = 'closed'"
    ) -> Work:
        """A read of one old document of each caller; `which` is SQL."""
        sql = f"SELECT id::text FROM {table} WHERE {column} = %s AND {which} LIMIT 1"
        found = [(one, self.connection.execute(sql, [one["tenant"]]).fetchone()) for one in callers]
        return partial(self.http, [workload.lists([one], f"{path}/{row[0]}")[0] for one, row in found if row])

    def works(self) -> dict[str, Work]:
        """What is measured in each round, in this order."""
        own, other = self.world["buyers"][:1], self.world["suppliers"][:1]
        return {
            "product list": self.reads(self.suppliers, "/v1/products"),
            "purchase orders": self.reads(self.buyers, f"{_OWN}?limit=20"),
            "orders": self.reads(self.suppliers, _OTHER),
            "product list of 50": self.reads(self.suppliers, "/v1/products?limit=50"),
            "purchase orders, 50": self.reads(self.buyers, _OWN),
            "orders, 50": self.reads(self.suppliers, f"{_OTHER}?limit=50"),
            "product list, large": self.reads(other, "/v1/products"),
            "purchase orders, large": self.reads(own, f"{_OWN}?limit=20"),
            "orders, large": self.reads(other, _OTHER),
            "purchase orders sent": self.reads(self.buyers, f"{_OWN}?limit=20&status=sent"),
            "orders sent": self.reads(self.suppliers, f"{_OTHER}?status=sent"),
            "orders sent, large": self.reads(other, f"{_OTHER}?status=sent"),
            "purchase orders by search": self.reads(self.buyers, f"{_OWN}?limit=20&search=000123"),
            "orders by search": self.reads(self.suppliers, f"{_OTHER}?search=000123"),
            "get purchase order": self.gets(self.buyers, _OWN, "tenant_id", "suppliers_purchaseorder"),
            "get order": self.gets(self.suppliers, _OTHER, "tenant_id", "suppliers_receivedorder"),
            "create product": self.create,
            **self.flow.works(),
        }

    def create(self) -> Taken:
        """Create products."""
        return self.http(workload.creates(self.suppliers, int(self.wanted.seconds * 2_000)), 201, once=True)

    def trips(self) -> dict[str, int]:
        """The round trips of one request of each work that has some."""
        reads = {
            "purchase orders": (self.buyers[0], f"{_OWN}?limit=20"),
            "orders": (self.suppliers[0], _OTHER),
        }
        orders = {
            name: {**one, "method": "GET", "path": path, "status": 200, "body": {}}
            for name, (one, path) in reads.items()
        }
        orders |= self.flow.samples()
        return self.counted(orders)

    def counted(self, orders: dict[str, dict[str, Any]]) -> dict[str, int]:
        """The round trips of requests, which are not carried out."""
        return {name: self.child.do("trips", **order)["trips"] for name, order in orders.items()}

    def restock(self) -> None:
        """Begin a round."""
        self.flow.restock()


_Kind = TypeVar("_Kind", bound=Bench)


def opened(kind: type[_Kind], backends: Backends, wanted: argparse.Namespace, stack: ExitStack) -> dict[int, _Kind]:
    """Make, fill and serve the database of each size; other benchmarks of trade share it."""
    found = {}
    for number, orders in enumerate(wanted.sizes):
        suppliers = max(10, orders // 5_000)
        place = open_database(backends, f"bench_order_{orders}", families=_FAMILIES, number=number)
        products = str(suppliers * 200)
        place.python("-m", "bench.seed_products", "--products", products, "--tenants", str(suppliers))
        found[orders] = kind(replace(place, rows=orders, tenants=suppliers), wanted, stack)
    return found


def measure(backends: Backends, benches: Mapping[int, Bench], rounds: int) -> dict[int, Found]:
    """All works in turn on each size, round after round; the first round warms and is not counted."""
    with upkeep.put_off(backends):
        return _measure(benches, rounds)


def _measure(benches: Mapping[int, Bench], rounds: int) -> dict[int, Found]:
    found: dict[int, Found] = {orders: {} for orders in benches}
    for number, (orders, bench) in itertools.product(range(rounds + 1), benches.items()):
        upkeep.keep_up(bench.connection)
        bench.refresh()
        bench.restock()
        for name, work in bench.works().items():
            taken = work()
            if number:
                found[orders].setdefault(name, []).append(taken)
        print(f"round {number} of {rounds}, {orders:,} orders", flush=True)
    return found


def _how(wanted: argparse.Namespace) -> str:
    return (
        f"Orders by size: {', '.join(f'{orders:,}' for orders in wanted.sizes)}, with one to three lines, between a supplier for each"
        " 5,000 of them (at least 10) and half as many buyers; a tenth of all is of one buyer, a tenth of one supplier. Of the old"
        " ones 86 % are closed; the newest twentieth is under way. Drafts, submits, acceptances, shipments and receipts are those of"
        f" all other buyers with the large supplier. {wanted.rounds} rounds of {wanted.seconds:g} s each, interleaved, {wanted.connections} connections"
        " and 2 workers; medians. `cost` is the CPU of web and PostgreSQL together by process accounting; ratios are medians of the"
        f" rounds' ratios. {upkeep.HOW} The product list is the suppliers' own, with prices and stock left out. `without its copy` is"
        " the same submit at a server that computes and writes no received copies."
    )


def asked(name: str, arguments: list[str], results: Path) -> argparse.Namespace:
    """Read the options that benchmarks of trade share."""
    reader = argparse.ArgumentParser(prog=f"./dev bench {name}")
    reader.add_argument("--data", help="the data folder; filled once and kept (default: .local/bench)")
    reader.add_argument("--orders", type=int, default=1_000_000, help="of the large database; the small one has 10,000")
    reader.add_argument("--quick", action="store_true", help="20,000 orders, one short round")
    reader.add_argument("--rounds", type=int, default=3)
    reader.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    reader.add_argument("--connections", type=int, default=4)
    reader.add_argument("--results", type=Path, default=results)
    wanted = reader.parse_args(arguments)
    if wanted.quick:
        wanted.orders, wanted.rounds, wanted.seconds = 20_000, 1, 0.7
    wanted.sizes = sorted({_SMALL, wanted.orders})
    return wanted


def write(wanted: argparse.Namespace, lines: list[str]) -> int:
    """Print and keep what was found."""
    text = "\n".join([*lines, ""])
    print(text)
    wanted.results.parent.mkdir(exist_ok=True)
    wanted.results.write_text(text)
    return 0


def main(arguments: list[str]) -> int:
    """Measure, print and write the results."""
    wanted = asked("order", arguments, RESULTS)
    with backends_of(wanted.data) as backends, ExitStack() as stack:
        benches = opened(Bench, backends, wanted, stack)
        found = measure(backends, benches, wanted.rounds)
        trips = {orders: bench.trips() for orders, bench in benches.items()}
        once = {orders: order_report.bounded(counted) for orders, counted in trips.items()}
        lines = ["# From order to receipt, `./dev bench order`", "", machine_line(), "", _how(wanted)]
    return write(wanted, [*lines, *supply_report.told(found, trips, order_report.TABLE, once)])
