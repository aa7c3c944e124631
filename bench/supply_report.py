"""The tables of `./dev bench supply`: every work, the marks of trade that can be held today, and what it costs as rows grow."""

from collections.abc import Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import NamedTuple

from .prescriptions_report import GROWTH, Found, Held, Mark

MARKS = (
    Mark("list, prices and stock", "cost", "list", 1.6),
    Mark("search, rare word", "cost", "list", 2.0),
    Mark("search, common word", "cost", "list", 2.0),
    Mark("search, common word, large tenant", "cost", "list, large tenant", 2.0),
    Mark("reserve one hot", "per_second", "reserve one hot: SQL alone", 0.5, at_least=True),
    Mark("reserve one hot", "per_second", "reserve one hot: SQL alone, rolled back", 0.5, at_least=True),
    Mark("reserve one hot, 16 clients", "p99", "reserve one hot, 16 clients: p50", 10.0),
    Mark("reserve many, 8 clients", "per_second", "create, 8 clients", 0.8, at_least=True),
    Mark("bulk of 500", "cost", "create", 0.15),
    Mark("movements, deep page", "cost", "movements, page 1", 5.0),
    Mark("movements, page 1", "cost", "list, large tenant", 2.0),
    Mark("stock of one product, 50 lots", "cost", "get", 1.5),
    Mark("market, 50 products", "cost", "list of 50", 3.0),
)
# Works that take as many trips whatever they touch, as one supplier or fifty.
ALIKE = (("market, 50 products", "market, 50 products of one supplier"),)
GROWING = (
    "list",
    "list, prices and stock",
    "search, rare word",
    "search, common word",
    "get",
    "reserve one hot",
    "adjust",
    "create",
)


class Table(NamedTuple):
    """What is told of a benchmark: its marks, works whose trips are alike, works whose cost must not grow, what its rows are."""

    marks: Sequence[Mark] = MARKS
    alike: Sequence[tuple[str, str]] = ALIKE
    growing: Sequence[str] = GROWING
    rows: str = "products"


_SHELF = Table()


def told(
    found: Mapping[int, Found],
    trips: Mapping[int, Mapping[str, int]],
    table: Table = _SHELF,
    once: Mapping[int, Sequence[Held]] = MappingProxyType({}),
) -> list[str]:
    """All tables; `once` is what was measured one time for each size."""
    lines: list[str] = []
    for rows, works in found.items():
        lines += [
            "",
            f"## {rows:,} {table.rows}",
            "",
            *_works(works, trips[rows]),
            "",
            *_marks(works, table.marks),
            *_alike(trips[rows], table.alike),
            *_once(once.get(rows, ())),
        ]
    if len(found) > 1:
        lines += ["", "## Growth", "", *_growth(found, table)]
    return lines


def _once(held: Sequence[Held]) -> list[str]:
    return ["", "| once | found | mark | | |", "|---|---|---|---|---|", *(one.line() for one in held)] if held else []


def _works(found: Found, trips: Mapping[str, int]) -> list[str]:
    lines = [
        "| measured | requests/s | p50 ms | p99 ms | web CPU µs | PostgreSQL µs | trips |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, taken in found.items():
        digits = {"per_second": 0, "p50": 2, "p99": 1, "cpu": 0, "postgres": 0}
        cells = [f"{median(getattr(one, figure) for one in taken):,.{places}f}" for figure, places in digits.items()]
        lines.append(f"| {name} | {' | '.join(cells)} | {trips.get(name, '')} |")
    return lines


def _marks(found: Found, marks: Sequence[Mark]) -> list[str]:
    lines = ["| mark | found | |", "|---|---|---|"]
    for mark in marks:
        if mark.work in found:
            value = median(_values(mark, found))
            met = value >= mark.bound if mark.at_least else value <= mark.bound
            lines.append(f"| {mark.work}: {mark.words()} | {value:.2f}x | {'met' if met else 'missed'} |")
    return lines


def _alike(trips: Mapping[str, int], alike: Sequence[tuple[str, str]]) -> list[str]:
    return [
        f"| {one}: trips = {other} | {trips[one]} and {trips[other]} | {'met' if trips[one] == trips[other] else 'missed'} |"
        for one, other in alike
        if one in trips and other in trips
    ]


def _values(mark: Mark, found: Found) -> list[float]:
    if mark.figure == "p99":
        return [one.p99 / one.p50 for one in found[mark.work]]
    return mark.value(found)


def _growth(found: Mapping[int, Found], table: Table) -> list[str]:
    """CPU of web and PostgreSQL together; the last column is the largest beside the smallest."""
    sizes = sorted(found)
    head = " | ".join(f"{rows:,} {table.rows}: CPU µs" for rows in sizes)
    lines = [f"| request | {head} | growth | |", f"|---|{'---|' * len(sizes)}---|---|"]
    for name in table.growing:
        costs = [median(one.cost for one in found[rows][name]) for rows in sizes]
        growth = costs[-1] / costs[0]
        cells = " | ".join(f"{cost:,.0f}" for cost in costs)
        lines.append(f"| {name} | {cells} | {growth:.2f}x | {'flat' if growth <= GROWTH else 'grows'} |")
    return lines
