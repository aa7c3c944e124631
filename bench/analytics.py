"""`./dev bench analytics`: every metric over 400 days beside 30, and insights, of a supplier with a tenth of all orders; marks of trade and
growth. It works on the databases of `./dev bench order`. Reports, which are made by jobs, have a benchmark of their own.
"""

import argparse
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from devtools.places import ROOT

from . import analytics_rows, load, order, supply_report, upkeep, workload
from .analytics_report import LONG, SHORT, table_of
from .order import asked, measure, opened, write
from .place import Place, backends_of
from .report import machine_line
from .supply import Work

RESULTS = ROOT / "bench" / "results" / "analytics.md"
METRICS = (
    "orders_count", "orders_value", "fill_rate", "on_time_in_full", "acceptance_hours", "cancel_rate", "return_rate",
    "stock_value", "days_of_cover", "expiring_value", "price_vs_list", "active_offers",
)  # fmt: skip
SPANS = {SHORT: 30, LONG: 400}
ZONE = "Australia/Lord_Howe"  # its days begin at :30 or at the hour, half an hour apart in winter and summer
_PATH, _INSIGHTS = "/v1/analytics/metrics", "/v1/analytics/insights"


def path_of(metric: str, days: int, **more: str) -> str:
    """The address of a metric by day, of so many days that end today."""
    last = datetime.now(UTC).date() + timedelta(days=1)
    query = {
        "metric": metric, "from": (last - timedelta(days=days)).isoformat(), "to": last.isoformat(), "currency": "EUR",
        "timezone": ZONE,
    }  # fmt: skip
    return f"{_PATH}?{urlencode(query | more)}"


def paths_of_metrics() -> dict[str, str]:
    """The address of each metric over each span."""
    return {f"{metric}, {span}": path_of(metric, days) for metric in METRICS for span, days in SPANS.items()}


class Bench(order.Bench):
    """A database of orders with the figures of each."""

    def __init__(self, place: Place, wanted: argparse.Namespace, stack: ExitStack) -> None:
        super().__init__(place, wanted, stack)
        if seconds := analytics_rows.fill(self.connection, self.world):
            print(f"their figures written in {seconds:.0f} s", flush=True)
        place.python("-m", "bench.figures_child", "--tenant", str(self.large["tenant"]))
        self.figures = analytics_rows.count(self.connection, self.large["tenant"])
        self.refused = {name for name, path in paths_of_metrics().items() if self.is_refused(path)}

    def is_refused(self, path: str) -> bool:
        """Tell whether a metric takes more time than a request may, where as many are asked at once as are measured."""
        count = self.wanted.connections
        requests = workload.lists(self.world["suppliers"][:1] * count, path)
        outcome = load.run(self.port, requests, seconds=1, connections=count, once=True)
        return 503 in outcome.statuses

    def restock(self) -> None:
        """Begin a round: nothing is written."""

    def works(self) -> dict[str, Work]:
        """What is measured in each round, in this order."""
        large = self.world["suppliers"][:1] * self.wanted.connections
        found = {"product list, large": self.reads(large, "/v1/products")}
        found |= {
            name: self.reads(large, path) for name, path in paths_of_metrics().items() if name not in self.refused
        }
        found[f"orders_value by product, {SHORT}"] = self.reads(
            large, path_of("orders_value", SPANS[SHORT], group_by="product")
        )
        by_month = path_of("orders_value", SPANS[LONG], interval="month", compare="previous")
        found[f"orders_value by month with the span before, {LONG}"] = self.reads(large, by_month)
        found["insights"] = self.reads(large, _INSIGHTS)
        return found

    def trips(self) -> dict[str, int]:
        """The round trips of one request of each work."""
        one = self.world["suppliers"][0]
        paths = {name: path for name, path in paths_of_metrics().items() if name not in self.refused} | {
            "insights": _INSIGHTS
        }
        return self.counted(
            {name: {**one, "method": "GET", "path": path, "status": 200, "body": {}} for name, path in paths.items()}
        )


def _how(wanted: argparse.Namespace, benches: dict[int, Bench]) -> str:
    rows = ", ".join(f"{bench.figures:,} at {orders:,} orders" for orders, bench in benches.items())
    late = "; ".join(
        f"{', '.join(sorted(bench.refused))} at {orders:,} orders" for orders, bench in benches.items() if bench.refused
    )
    told = f" Refused with 503, since they took more than the 5 s that a request may: {late}." if late else ""
    return (
        f"Orders by size: {', '.join(f'{orders:,}' for orders in wanted.sizes)}, as in `./dev bench order`, sent over 500 days. Whoever asks"
        f" is the large supplier, which has a tenth of them and so many rows of roll-ups: {rows}. Metrics are by day, in {ZONE}."
        f" {wanted.rounds} rounds of {wanted.seconds:g} s each, interleaved, {wanted.connections} connections and 2 workers; medians. `cost` is the"
        f" CPU of web and PostgreSQL together by process accounting; ratios are medians of the rounds' ratios."
        f" {upkeep.HOW}{told}"
    )


def main(arguments: list[str]) -> int:
    """Measure, print and write the results."""
    wanted = asked("analytics", arguments, RESULTS)
    with backends_of(wanted.data) as backends, ExitStack() as stack:
        benches = opened(Bench, backends, wanted, stack)
        found = measure(backends, benches, wanted.rounds)
        trips = {orders: bench.trips() for orders, bench in benches.items()}
        refused = set().union(*(bench.refused for bench in benches.values()))
        answered = tuple(one for one in METRICS if not any(f"{one}, {span}" in refused for span in SPANS))
        lines = ["# Metrics and insights, `./dev bench analytics`", "", machine_line(), "", _how(wanted, benches)]
    return write(wanted, [*lines, *supply_report.told(found, trips, table_of(answered))])
