"""`./dev bench growth`: the same requests over small and large tables; what a request costs must not grow with the rows."""

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from devtools.environment import Backends
from devtools.places import ROOT

from . import http, workload
from .accounting import Meters
from .place import backends_of, open_place, serving
from .report import Figure, Series, machine

RESULTS = ROOT / "bench" / "results" / "growth.md"
ALLOWED = 1.3


def _benches(backends: Backends, wanted: argparse.Namespace, stack: ExitStack) -> dict[int, http.Bench]:
    """One database and one front for each size; those that are not asked rest."""
    found = {}
    for number, rows in enumerate(wanted.sizes):
        place = open_place(backends, rows=rows, tenants=max(1, rows // 1_000), number=number)
        port, pid = stack.enter_context(serving(place, f"web-{rows}", workers=wanted.workers))
        meters = Meters.of(backends.places, product=pid)
        found[rows] = http.Bench(place, wanted, meters, {"product": port})
    return found


def _scenarios(bench: http.Bench) -> dict[str, Callable[[], Figure]]:
    def create() -> Figure:
        made = workload.creates(bench.callers, int(bench.wanted.seconds * 3_000))
        return bench.http("product", made, status=201, once=True)

    return {
        "list": lambda: bench.http("product", workload.lists(bench.callers)),
        "list newest change": lambda: bench.http(
            "product", workload.lists(bench.callers, "/v1/products?sort=-updated_at")
        ),
        "list of a category": lambda: bench.http(
            "product", workload.lists(bench.callers, "/v1/products?category=gloves")
        ),
        "search": lambda: bench.http("product", workload.lists(bench.callers, "/v1/products?search=nitrile+gl")),
        "get": lambda: bench.http("product", workload.gets(bench.callers)),
        "create": create,
    }


def _measure(benches: dict[int, http.Bench], rounds: int) -> dict[tuple[str, int], Series]:
    """Interleaved: each request on every size in turn, round after round, the first of which only warms."""
    found: dict[tuple[str, int], Series] = {}
    for number in range(rounds + 1):
        for bench in benches.values():
            bench.refresh()
        for name in _scenarios(next(iter(benches.values()))):
            for rows, bench in benches.items():
                figure = _scenarios(bench)[name]()
                if number:
                    found.setdefault((name, rows), Series()).append(figure)
        print(f"round {number} of {rounds}", flush=True)
    return found


def _table(found: dict[tuple[str, int], Series], sizes: list[int]) -> list[str]:
    """CPU of web and PostgreSQL together, since both are paid for; the last column is the largest beside the smallest."""
    head = "".join(f" {rows:,} rows: CPU µs (PostgreSQL), p50 ms |" for rows in sizes)
    lines = [f"| request |{head} growth | |", f"|---|{'---|' * len(sizes)}---|---|"]
    for name in dict.fromkeys(name for name, _ in found):
        totals, cells = [], []
        for rows in sizes:
            series = found[name, rows]
            totals.append(series.median("cpu") + series.median("postgres"))
            cells.append(f"{totals[-1]:,.0f} ({series.median('postgres'):,.0f}), {series.median('p50'):.2f}")
        growth = totals[-1] / totals[0]
        verdict = "flat" if growth <= ALLOWED else "grows"
        lines.append(f"| {name} | {' | '.join(cells)} | {growth:.2f}x | {verdict} |")
    return lines


def main(arguments: list[str]) -> int:
    """Measure, print and write the results."""
    parser = http.parser("growth")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="rows; a thousand a tenant"
    )
    parser.set_defaults(results=RESULTS)
    wanted = parser.parse_args(arguments)
    wanted.sizes.sort()
    wanted.rows, wanted.tenants = wanted.sizes[-1], wanted.sizes[-1] // 1_000
    with backends_of(wanted.data) as backends, ExitStack() as stack:
        found = _measure(_benches(backends, wanted, stack), wanted.rounds)
    text = "\n".join([*machine(wanted), "", *_table(found, wanted.sizes), ""])
    print(text)
    results: Path = wanted.results
    results.parent.mkdir(exist_ok=True)
    results.write_text(f"# What a request costs as the tables grow, `./dev bench growth`\n\n{text}")
    return 0
