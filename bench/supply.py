"""`./dev bench supply`: products with prices and stock, searches, reservations of a hot product and of many, bulk, movements
and a recall, on catalogs of several sizes, beside the list, get and create of products and beside the statements alone; marks and growth.
"""

import argparse
import itertools
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from devtools.environment import Backends
from devtools.places import ROOT

from . import load, recall, supply_report, supply_rows, upkeep, workload
from .accounting import Meters
from .place import Place, backends_of, open_database, serving
from .prescriptions_child import Child
from .prescriptions_report import Found, Taken
from .report import machine_line

RESULTS = ROOT / "bench" / "results" / "supply.md"
SCALES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000}
_FAMILIES = ("SUPPLIER", "PROCUREMENT", "AVAILABILITY")
_BULK = 500
_PAGE = 20
_MARKET = "/v1/procurement/products"
Work = Callable[[], Taken]


class Bench:
    """One database with so many products, its web server, and how each work is measured."""

    def __init__(self, place: Place, wanted: argparse.Namespace, stack: ExitStack) -> None:
        self.place, self.wanted = place, wanted
        self.port, web = stack.enter_context(serving(place, f"web-supply-{place.rows}", workers=2))
        self.meters = Meters.of(place.backends.places, web=web)
        database = place.environment["DATABASE_OWNER_URL"].rpartition("?")[0].rpartition("/")[2]
        self.connection: Any = stack.enter_context(place.backends.administration().connect(database))
        self.world: dict[str, Any] = {}
        self.refresh()
        if seconds := supply_rows.fill(self.connection, self.world["tenants"]):
            print(f"{place.rows:,} products stocked in {seconds:.0f} s", flush=True)
        supply_rows.show(self.connection, self.world["tenants"])
        self.large = self.world["tenants"][0]
        self.hot, *self.many, self.lotted = supply_rows.offered(self.connection, self.large)
        supply_rows.lots(self.connection, self.large, self.lotted)
        wished = dict(zip(wanted.sizes, wanted.movements, strict=True))
        self.movements = supply_rows.prepare(self.connection, self.large, self.hot, wished[place.rows])
        self.child = stack.enter_context(Child.running(place))
        self.orders = itertools.cycle(self.many)
        self.held = itertools.cycle(supply_rows.held(self.connection, self.large))

    def refresh(self) -> None:
        """Fetch the callers with fresh tokens."""
        self.world = self.place.python("-m", "bench.supply_world", "--tenants", str(self.place.tenants))
        self.callers: list[dict[str, Any]] = self.world["suppliers"][1 : self.wanted.callers + 1]
        self.buyer: dict[str, Any] = self.world["buyer"]

    # -- measurements --------------------------------------------------------------------------------------------------

    def http(self, requests: list[bytes], status: int = 200, *, connections: int = 0, once: bool = False) -> Taken:
        """Measure requests.

        :raises RuntimeError: an answer has another status.
        """
        before = self.meters.read()
        connections = connections or self.wanted.connections
        outcome = load.run(self.port, requests, seconds=self.wanted.seconds, connections=connections, once=once)
        if set(outcome.statuses) != {status}:
            raise RuntimeError(f"{dict(outcome.statuses)} {outcome.sample[:800]!r}")
        return Taken.of(outcome, self.meters.since(before), "web")

    def lists(self, query: str) -> Work:
        """A list of each caller; `{sku}` in the query is the number in a SKU of the caller's own."""
        sent = [
            workload.lists([one], f"/v1/products?{query.format(sku=one['sku'])}" if query else "/v1/products")[0]
            for one in self.callers
        ]
        return partial(self.http, sent)

    def of_large(self, path: str) -> Work:
        """A read of the tenant that has a tenth of all products."""
        return partial(self.http, workload.lists([self.world["suppliers"][0]], path))

    def of_buyer(self, path: str) -> Work:
        """A read of the hospital."""
        return partial(self.http, workload.lists([self.buyer], path))

    def works(self) -> dict[str, Work]:
        """What is measured in each round, in this order."""
        deep = max(1, min(40_000, self.movements // _PAGE))
        included = workload.gets(self.callers)
        found = {
            "list": self.lists(""),
            "list, prices and stock": self.lists("include=prices,stock"),
            "list by availability": self.lists("availability=limited"),
            "search, rare word": self.lists("search={sku}"),
            "search, common word": self.lists("search=latex"),
            "search, common word, large tenant": self.of_large("/v1/products?search=latex"),
            "list, large tenant": self.of_large("/v1/products"),
            "get": partial(self.http, included),
            "create": self.create,
            "reserve one hot": partial(self.reserve, itertools.repeat(self.hot), 1),
            "reserve one hot: SQL alone": partial(self.floor, durable=True),
            "reserve one hot: SQL alone, rolled back": partial(self.floor, durable=False),
            "reserve one hot, 16 clients": partial(self.reserve, itertools.repeat(self.hot), 16),
            "create, 8 clients": partial(self.create, 8),
            "reserve many, 8 clients": partial(self.reserve, self.orders, 8),
            "adjust": self.adjust,
            "bulk of 500": self.bulk,
            "movements, page 1": self.of_large("/v1/inventory/movements"),
            "stock of one product, 50 lots": self.of_buyer(f"/v1/stock/availability?product_id={self.lotted['id']}"),
            "list of 50": self.lists("limit=50"),
            "market, 50 products": self.of_buyer(f"{_MARKET}?limit=50"),
            "market, 50 products of one supplier": self.of_buyer(f"{_MARKET}?limit=50&supplier_id={self.large}"),
        }
        if deep > 1:
            found["movements, deep page"] = self.of_large(f"/v1/inventory/movements?page={deep}")
        return found

    def create(self, connections: int = 0) -> Taken:
        """Create products."""
        sent = workload.creates(self.callers, int(self.wanted.seconds * 2_000))
        return self.http(sent, 201, connections=connections, once=True)

    def reserve(self, products: Iterator[dict[str, Any]], connections: int) -> Taken:
        """Reserve one pack of the next products."""
        sent = [self._reservation(one) for one in itertools.islice(products, int(self.wanted.seconds * 800))]
        return self.http(sent, 201, connections=connections, once=True)

    def body(self, product: dict[str, Any]) -> dict[str, Any]:
        """The body of a reservation."""
        return {"supplier_id": self.large, "items": [{"product_id": product["id"], "quantity": 1}]}

    def _reservation(self, product: dict[str, Any]) -> bytes:
        headers = {
            "Authorization": f"Bearer {self.buyer['token']}",
            "X-Tenant-Id": self.buyer["tenant"],
            "Idempotency-Key": secrets.token_hex(16),
        }
        return load.request(
            "POST", "/v1/stock/reservations", headers=headers, body=json.dumps(self.body(product)).encode()
        )

    def adjust(self) -> Taken:
        """Correct the stock of the next products of the large tenant, which writes a movement each."""
        supplier = self.world["suppliers"][0]
        sent = []
        for product, location in itertools.islice(self.held, int(self.wanted.seconds * 800)):
            line = {"product_id": product, "location_id": location, "mode": "delta", "quantity": 1}
            line["reason_code"] = "correction"
            sent.append(workload.post(supplier, "/v1/inventory/adjustments", {"lines": [line]}))
        return self.http(sent, 201, once=True)

    def order(self) -> dict[str, Any]:
        """A reservation of the hot product for the process without HTTP."""
        path = {"method": "POST", "path": "/v1/stock/reservations", "status": 201}
        return {**self.buyer, **path, "body": self.body(self.hot)}

    def floor(self, *, durable: bool) -> Taken:
        """The statements of such a reservation in one pipeline, with what a COMMIT costs, or rolled back before that."""
        seconds = self.child.do("floor", **self.order(), seconds=self.wanted.seconds, durable=durable)["seconds"]
        outcome = load.Outcome(seconds=sum(seconds), latencies=seconds)
        return Taken(outcome.per_second, outcome.percentile(0.5), outcome.percentile(0.95))

    def bulk(self) -> Taken:
        """Write batches of 500 new products; what is told is of one product."""
        sent = []
        for caller in self.callers[: max(4, int(self.wanted.seconds * 12))]:
            rows = [workload.product_body("bulk") for _ in range(_BULK)]
            sent.append(workload.post(caller, "/v1/products/bulk", {"items": rows}))
        taken = self.http(sent, connections=2, once=True)
        return replace(
            taken,
            per_second=taken.per_second * _BULK,
            p50=taken.p50 / _BULK,
            p95=taken.p95 / _BULK,
            p99=taken.p99 / _BULK,
            cpu=taken.cpu / _BULK,
            postgres=taken.postgres / _BULK,
        )

    def trips(self) -> dict[str, int]:
        """The round trips of one request of some works."""
        supplier = self.world["suppliers"][0]
        paths = {
            "list": "/v1/products",
            "list, prices and stock": "/v1/products?include=prices,stock",
            "search, common word": "/v1/products?search=latex",
            "get": f"/v1/products/{self.hot['id']}",
            "movements, page 1": "/v1/inventory/movements",
        }
        orders = {
            name: {**supplier, "method": "GET", "path": path, "status": 200, "body": {}} for name, path in paths.items()
        }
        read_by_buyer = {
            "stock of one product, 50 lots": f"/v1/stock/availability?product_id={self.lotted['id']}",
            "market, 50 products": f"{_MARKET}?limit=50",
            "market, 50 products of one supplier": f"{_MARKET}?limit=50&supplier_id={self.large}",
        }
        for name, path in read_by_buyer.items():
            orders[name] = {**self.buyer, "method": "GET", "path": path, "status": 200, "body": {}}
        orders["reserve one hot"] = self.order()
        return {name: self.child.do("trips", **order)["trips"] for name, order in orders.items()}


def _opened(backends: Backends, wanted: argparse.Namespace, stack: ExitStack) -> dict[int, Bench]:
    """Make, fill and serve the database of each size."""
    found = {}
    for number, rows in enumerate(wanted.sizes):
        tenants = max(10, rows // 1_000)
        place = open_database(backends, f"bench_{rows}_{tenants}", families=_FAMILIES, number=number)
        place.python("-m", "bench.seed_products", "--products", str(rows), "--tenants", str(tenants))
        found[rows] = Bench(replace(place, rows=rows, tenants=tenants), wanted, stack)
    return found


def _measure(benches: dict[int, Bench], rounds: int) -> dict[int, Found]:
    """All works in turn on each size, round after round; the first round warms and is not counted."""
    found: dict[int, Found] = {rows: {} for rows in benches}
    for number in range(rounds + 1):
        for bench in benches.values():
            upkeep.keep_up(bench.connection)
            bench.refresh()
        for rows, bench in benches.items():
            for name, work in bench.works().items():
                taken = work()
                if number:
                    found[rows].setdefault(name, []).append(taken)
        print(f"round {number} of {rounds}", flush=True)
    return found


def _how(wanted: argparse.Namespace, benches: dict[int, Bench]) -> str:
    moved = ", ".join(f"{bench.movements:,}" for bench in benches.values())
    return (
        f"Products by size: {', '.join(f'{rows:,}' for rows in benches)}; the large tenant has a tenth of them, all others"
        f" share the rest, a thousand for each. Movements of the large tenant: {moved}. {wanted.rounds} rounds of"
        f" {wanted.seconds:g} s each, interleaved, {wanted.connections} connections and 2 workers where nothing else is said;"
        " medians. `cost` is the CPU of web and PostgreSQL together by process accounting; ratios are medians of the rounds'"
        " ratios. Bulk is told by the product. SQL alone is every statement of one such request in one pipeline of one client,"
        f" with the checks that wait for COMMIT and a flush of the log, though nothing stays. {upkeep.HOW}"
    )


def main(arguments: list[str]) -> int:
    """Measure, print and write the results."""
    reader = argparse.ArgumentParser(prog="./dev bench supply")
    reader.add_argument("--data", help="the data folder; filled once and kept (default: .local/bench)")
    reader.add_argument("--scale", nargs="+", choices=SCALES, default=["10k", "1m"], help="products")
    reader.add_argument(
        "--movements", type=int, nargs="+", default=[1_000_000], help="of the large tenant, at least, at each scale"
    )
    reader.add_argument("--quick", action="store_true", help="10,000 products, one short round")
    reader.add_argument("--callers", type=int, default=100, help="tenants that send requests")
    reader.add_argument("--rounds", type=int, default=3)
    reader.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    reader.add_argument("--connections", type=int, default=4)
    reader.add_argument("--results", type=Path, default=RESULTS)
    wanted = reader.parse_args(arguments)
    if wanted.quick:
        wanted.scale, wanted.rounds, wanted.seconds, wanted.movements = ["10k"], 1, 0.5, [10_000]
    wanted.sizes = sorted(SCALES[one] for one in wanted.scale)
    if len(wanted.movements) == 1:
        wanted.movements *= len(wanted.sizes)
    if len(wanted.movements) != len(wanted.sizes):
        reader.error("--movements: one number, or one for each scale, the smallest first")
    with backends_of(wanted.data) as backends, ExitStack() as stack:
        benches = _opened(backends, wanted, stack)
        with upkeep.put_off(backends):
            found = _measure(benches, wanted.rounds)
        trips = {rows: bench.trips() for rows, bench in benches.items()}
        once = {rows: recall.measure(bench) for rows, bench in benches.items()}
        lines = ["# The shelf, `./dev bench supply`", "", machine_line(), "", _how(wanted, benches)]
    text = "\n".join([*lines, *supply_report.told(found, trips, once=once), ""])
    print(text)
    wanted.results.parent.mkdir(exist_ok=True)
    wanted.results.write_text(text)
    return 0
