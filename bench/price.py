"""`./dev bench price`: quotes of one line and of fifty, of one supplier and of fifty, the buyer's catalog with own prices, and price
lists of 500 and of 10,000 entries; marks of trade.
"""

import argparse
import json
import secrets
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from devtools.environment import Backends
from devtools.places import ROOT

from . import load, price_rows, supply_report, upkeep, workload
from .accounting import Meters
from .place import Place, backends_of, open_database, serving
from .prescriptions_child import Child
from .prescriptions_report import Found, Mark, Taken
from .report import machine_line
from .supply import Work

RESULTS = ROOT / "bench" / "results" / "price.md"
_FAMILIES = ("SUPPLIER", "PROCUREMENT")
_SUPPLIERS = 100
_LINES = 50
_MARKET = "/v1/procurement/products?limit=50"
_ENTRIES = (500, 10_000)
_TABLE = supply_report.Table(
    marks=(
        Mark("quote, 50 lines of one supplier", "cost", "quote, 1 line", 6.0),
        Mark("quote, 50 lines of 50 suppliers", "cost", "quote, 1 line", 6.0),
        Mark("supplier's quote, 50 lines", "cost", "supplier's quote, 1 line", 6.0),
        Mark("market, 50 of 50 suppliers", "cost", "list of 50", 3.0),
        Mark("market, 50 of one supplier", "cost", "list of 50", 3.0),
        Mark("list of 10,000 entries", "p50", "list of 500 entries", 20.0),
        Mark("list of 10,000 entries", "p50", "", 10_000.0, " ms"),
    ),
    alike=(
        ("quote, 1 line", "quote, 50 lines of 50 suppliers"),
        ("quote, 50 lines of one supplier", "quote, 50 lines of 50 suppliers"),
        ("market, 50 of one supplier", "market, 50 of 50 suppliers"),
    ),
    growing=(),
)


class Bench:
    """A database of many suppliers, its web server, and how each work is measured."""

    def __init__(self, place: Place, wanted: argparse.Namespace, stack: ExitStack) -> None:
        self.place, self.wanted = place, wanted
        self.port, web = stack.enter_context(serving(place, "web-price", workers=2))
        self.meters = Meters.of(place.backends.places, web=web)
        database = place.environment["DATABASE_OWNER_URL"].rpartition("?")[0].rpartition("/")[2]
        self.connection: Any = stack.enter_context(place.backends.administration().connect(database))
        self.connection.autocommit = True
        self.refresh()
        tenants = self.world["tenants"]
        if seconds := price_rows.fill(self.connection, tenants, self.buyer["tenant"]):
            print(f"{len(tenants)} suppliers with prices and terms in {seconds:.0f} s", flush=True)
        self.offered = price_rows.offered(self.connection, tenants)
        self.large = tenants[0]
        self.skus = price_rows.skus(self.connection, self.large, max(_ENTRIES))
        self.child = stack.enter_context(Child.running(place))

    def refresh(self) -> None:
        """Fetch the callers with fresh tokens."""
        self.world: dict[str, Any] = self.place.python("-m", "bench.supply_world", "--tenants", str(_SUPPLIERS))
        self.supplier: dict[str, Any] = self.world["suppliers"][0]
        self.buyer: dict[str, Any] = self.world["buyer"]

    def works(self) -> dict[str, Work]:
        """What is measured in each round, in this order."""
        return {
            "list of 50": partial(self.reads, self.supplier, "/v1/products?limit=50"),
            "quote, 1 line": partial(self.quotes, self.basket(1, 1)),
            "quote, 50 lines of one supplier": partial(self.quotes, self.basket(1, _LINES)),
            "quote, 50 lines of 50 suppliers": partial(self.quotes, self.basket(_LINES, 1)),
            "supplier's quote, 1 line": partial(self.quotes, self.own_basket(1)),
            "supplier's quote, 50 lines": partial(self.quotes, self.own_basket(_LINES)),
            "market, 50 of 50 suppliers": partial(self.reads, self.buyer, _MARKET),
            "market, 50 of one supplier": partial(self.reads, self.buyer, f"{_MARKET}&supplier_id={self.large}"),
            **{f"list of {count:,} entries": partial(self.put_list, count) for count in _ENTRIES},
        }

    def basket(self, suppliers: int, lines: int) -> dict[str, Any]:
        """A quote for the buyer: so many lines of each of so many suppliers."""
        chosen = [(tenant, one) for tenant, ids in list(self.offered.items())[:suppliers] for one in ids[:lines]]
        items = [{"product_id": one, "supplier_id": tenant, "quantity": 5} for tenant, one in chosen]
        body = {"currency": "EUR", "items": items}
        return {**self.buyer, "method": "POST", "path": "/v1/procurement/quote", "status": 200, "body": body}

    def own_basket(self, lines: int) -> dict[str, Any]:
        """The same asked by a supplier for the buyer."""
        items = [{"product_id": one, "quantity": 5} for one in self.offered[self.large][:lines]]
        body = {"buyer_id": self.buyer["tenant"], "currency": "EUR", "items": items}
        return {**self.supplier, "method": "POST", "path": "/v1/pricing/quote", "status": 200, "body": body}

    # -- measurements --------------------------------------------------------------------------------------------------

    def reads(self, caller: dict[str, Any], path: str) -> Taken:
        """Measure a read."""
        return self.http(workload.lists([caller], path))

    def quotes(self, order: dict[str, Any]) -> Taken:
        """Measure a quote, each with a key of its own."""
        sent = [workload.post(order, order["path"], order["body"]) for _ in range(int(self.wanted.seconds * 800))]
        return self.http(sent, once=True)

    def http(self, requests: list[bytes], status: int = 200, *, once: bool = False, connections: int = 0) -> Taken:
        """Measure requests.

        :raises RuntimeError: an answer has another status.
        """
        before = self.meters.read()
        connections = connections or self.wanted.connections
        outcome = load.run(self.port, requests, seconds=self.wanted.seconds, connections=connections, once=once)
        if set(outcome.statuses) != {status}:
            raise RuntimeError(f"{dict(outcome.statuses)} {outcome.sample[:800]!r}")
        return Taken.of(outcome, self.meters.since(before), "web")

    def put_list(self, count: int) -> Taken:
        """Put one list of so many entries, every price another one."""
        price = f"{secrets.randbelow(9_000) + 1_000}.25"
        entries = [
            {"supplier_sku": sku, "tiers": [{"min_quantity": 1, "unit_price": price}]} for sku in self.skus[:count]
        ]
        body = {"name": f"Of {count}", "currency": "EUR", "status": "active", "entries": entries}
        headers = {
            "Authorization": f"Bearer {self.supplier['token']}",
            "X-Tenant-Id": self.supplier["tenant"],
            "Idempotency-Key": secrets.token_hex(16),
        }
        path = f"/v1/price-lists/BENCH-{count}"
        sent = load.request("PUT", path, headers=headers, body=json.dumps(body).encode())
        before, started = self.meters.read(), time.monotonic()
        outcome = load.run(self.port, [sent], seconds=60, connections=1, once=True)
        if set(outcome.statuses) - {200, 201}:
            raise RuntimeError(f"{dict(outcome.statuses)} {outcome.sample[:800]!r}")
        taken = Taken.of(outcome, self.meters.since(before), "web")
        return replace(taken, per_second=1 / (time.monotonic() - started))

    def trips(self) -> dict[str, int]:
        """The round trips of one request of each read and quote."""
        orders = {
            "quote, 1 line": self.basket(1, 1),
            "quote, 50 lines of one supplier": self.basket(1, _LINES),
            "quote, 50 lines of 50 suppliers": self.basket(_LINES, 1),
            "supplier's quote, 1 line": self.own_basket(1),
            "supplier's quote, 50 lines": self.own_basket(_LINES),
        }
        paths = {
            "market, 50 of 50 suppliers": _MARKET,
            "market, 50 of one supplier": f"{_MARKET}&supplier_id={self.large}",
        }
        for name, path in paths.items():
            orders[name] = {**self.buyer, "method": "GET", "path": path, "status": 200, "body": {}}
        return {name: self.child.do("trips", **order)["trips"] for name, order in orders.items()}


def _opened(backends: Backends, wanted: argparse.Namespace, stack: ExitStack) -> Bench:
    """Make, fill and serve the database."""
    rows = wanted.products
    place = open_database(backends, f"bench_price_{rows}", families=_FAMILIES)
    place.python("-m", "bench.seed_products", "--products", str(rows), "--tenants", str(_SUPPLIERS))
    return Bench(replace(place, rows=rows, tenants=_SUPPLIERS), wanted, stack)


def _measure(bench: Bench, rounds: int) -> Found:
    """All works in turn, round after round; the first round warms and is not counted."""
    found: Found = {}
    for number in range(rounds + 1):
        upkeep.keep_up(bench.connection)
        bench.refresh()
        for name, work in bench.works().items():
            taken = work()
            if number:
                found.setdefault(name, []).append(taken)
        print(f"round {number} of {rounds}", flush=True)
    return found


def _how(wanted: argparse.Namespace) -> str:
    return (
        f"{_SUPPLIERS} suppliers with {wanted.products:,} products; each offers {price_rows.OFFERED} to everybody, and has list"
        f" prices in two tiers, a list for the hospital, {price_rows.RULES} rules, {price_rows.PROMOTIONS} promotions and an agreement"
        f" with it. {wanted.rounds} rounds of {wanted.seconds:g} s each, interleaved, {wanted.connections} connections and 2 workers;"
        " medians. `cost` is the CPU of web and PostgreSQL together by process accounting; ratios are medians of the rounds'"
        f" ratios. {upkeep.HOW} The catalog's pages are the same in all rounds, so their prices were shown lately (decision 132). Price"
        " lists are put one at a time, every entry changed."
    )


def main(arguments: list[str]) -> int:
    """Measure, print and write the results."""
    reader = argparse.ArgumentParser(prog="./dev bench price")
    reader.add_argument("--data", help="the data folder; filled once and kept (default: .local/bench)")
    reader.add_argument(
        "--products", type=int, default=120_000, help="of all suppliers; a tenth are those of the large one"
    )
    reader.add_argument("--rounds", type=int, default=3)
    reader.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    reader.add_argument("--connections", type=int, default=4)
    reader.add_argument("--results", type=Path, default=RESULTS)
    wanted = reader.parse_args(arguments)
    with backends_of(wanted.data) as backends, ExitStack() as stack:
        bench = _opened(backends, wanted, stack)
        with upkeep.put_off(backends):
            found = {wanted.products: _measure(bench, wanted.rounds)}
        trips = {wanted.products: bench.trips()}
        lines = ["# The price, `./dev bench price`", "", machine_line(), "", _how(wanted)]
    text = "\n".join([*lines, *supply_report.told(found, trips, _TABLE), ""])
    print(text)
    wanted.results.parent.mkdir(exist_ok=True)
    wanted.results.write_text(text)
    return 0
