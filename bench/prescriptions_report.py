"""The tables of `./dev bench prescriptions`: every work beside its mark, and what it costs as the rows grow."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from .load import Outcome
from .report import spread

GROWTH = 1.3


@dataclass(frozen=True)
class Taken:
    """One measurement: milliseconds, and µs of CPU a request of the server and of PostgreSQL."""

    per_second: float
    p50: float
    p95: float
    cpu: float = 0.0
    postgres: float = 0.0
    p99: float = 0.0

    @classmethod
    def of(cls, outcome: Outcome, used: Mapping[str, float], server: str) -> "Taken":
        """From an outcome and the CPU seconds of each process."""
        web, postgres = (used[name] / outcome.count * 1e6 for name in (server, "PostgreSQL"))
        return cls(
            outcome.per_second,
            outcome.percentile(0.5),
            outcome.percentile(0.95),
            web,
            postgres,
            outcome.percentile(0.99),
        )

    @property
    def cost(self) -> float:
        """µs of CPU of both, since both are paid for."""
        return self.cpu + self.postgres


Found = dict[str, list[Taken]]


class Mark(NamedTuple):
    """What a work may take. `figure` is one of `Taken`; with `beside` it is held as a ratio to that work's."""

    work: str
    figure: str
    beside: str
    bound: float
    unit: str = ""
    at_least: bool = False

    def value(self, found: Found) -> list[float]:
        """What was measured, round by round."""
        ours = [getattr(one, self.figure) for one in found[self.work]]
        if not self.beside:
            return ours
        others = [getattr(one, self.figure) for one in found[self.beside]]
        return [one / other for one, other in zip(ours, others, strict=True)]

    def words(self) -> str:
        """The mark as it is read."""
        sign = "≥" if self.at_least else "≤"
        return f"{self.figure} {sign} {self.bound:g}{'x ' + self.beside if self.beside else self.unit}"


BARE, NOTED = ": bare view", ": bare view with its record"
FLOOR = ": SQL floor"
MARKS = (
    Mark("list", "cost", f"list{BARE}", 2.0),
    Mark("list", "cost", f"list{NOTED}", 2.0),
    *(Mark(f"list by {name}", "cost", "list", 1.2) for name in ("status", "patient", "prescriber", "place")),
    Mark("list received", "cost", "list", 1.2),
    Mark("get", "cost", f"get{NOTED}", 2.0),
    Mark("draft of 1", "cost", "create product", 3.0),
    Mark("draft of 3", "cost", "draft of 1", 1.3),
    Mark("rules", "cpu_ms", "", 5, " ms"),
    Mark("validate", "p95", "", 40, " ms"),
    Mark("sign", "p50", f"sign{FLOOR}", 4.0),
    Mark("sign", "p95", "", 60, " ms"),
    Mark("sign", "per_second", "", 60, "/s", at_least=True),
    Mark("dispense", "p50", f"dispense{FLOOR}", 4.0),
    Mark("dispense, 4 connections", "per_second", "dispense", 2.5, at_least=True),
    Mark("dispense of one hot", "per_second", "", 50, "/s", at_least=True),
    Mark("audit of one", "cost", f"audit of one{BARE}", 2.0),
    Mark("audit by patient", "cost", f"audit by patient{BARE}", 2.0),
    Mark("verification", "p50", "", 5, " ms"),
    Mark("availability", "p50", "", 10, " ms"),
    Mark("booking", "per_second", "", 300, "/s", at_least=True),
    Mark("booking, lost", "p50", "booking, won", 2.0),
)
TRIPS = {
    "list": 2, "list by status": 2, "list by patient": 2, "list by prescriber": 2, "list by place": 2, "list received": 2,
    "get": 2, "draft of 1": 6, "draft of 3": 6, "validate": 4, "sign": 9, "dispense": 9, "audit of one": 1,
    "audit by patient": 1, "verification": 2, "availability": 1, "booking": 5,
}  # fmt: skip


class Held(NamedTuple):
    """One number that is measured once, beside its mark."""

    work: str
    value: float
    bound: float
    unit: str
    at_least: bool = False
    told: str = ""

    def line(self) -> str:
        """Its line of the table."""
        is_met = self.value >= self.bound if self.at_least else self.value <= self.bound
        sign = "≥" if self.at_least else "≤"
        return f"| {self.work} | {self.value:,.2f}{self.unit} | {sign} {self.bound:,g}{self.unit} | {_met(is_met)} | {self.told} |"


def works(found: Found, trips: Mapping[str, int]) -> list[str]:
    """Every work with what it took."""
    lines = [
        "| work | requests/s | median ms | p95 ms | CPU µs, web | CPU µs, PostgreSQL | trips | at most |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rounds in found.items():
        cells = [
            spread([getattr(one, figure) for one in rounds], digits)
            for figure, digits in (("per_second", 0), ("p50", 2), ("p95", 2), ("cpu", 0), ("postgres", 0))
        ]
        sent, most = trips.get(name), TRIPS.get(name)
        told = "" if sent is None or most is None else f"{most}{'' if sent <= most else ': missed'}"
        lines.append(f"| {name} | {' | '.join(cells)} | {sent if sent is not None else ''} | {told} |")
    return lines


def marks(found: Found, rules: list[float], once: list[Held]) -> list[str]:
    """Every mark and whether it is met; a ratio is the median of the rounds' ratios."""
    lines = ["| work | found | mark | | |", "|---|---|---|---|---|"]
    for mark in MARKS:
        values = [one * 1000 for one in rules] if mark.work == "rules" else mark.value(found)
        middle = median(values)
        is_met = middle >= mark.bound if mark.at_least else middle <= mark.bound
        unit = "x" if mark.beside else mark.unit
        lines.append(f"| {mark.work} | {spread(values, 2, unit)} | {mark.words()} | {_met(is_met)} | |")
    return lines + [one.line() for one in once]


def growth(sizes: Mapping[int, Found]) -> list[str]:
    """The cost of each request on the largest beside the smallest."""
    low, high = min(sizes), max(sizes)
    lines = [f"| work | {low:,}: CPU µs | {high:,}: CPU µs | growth | |", "|---|---|---|---|---|"]
    for name in sizes[low]:
        less, more = ([one.cost for one in sizes[size][name]] for size in (low, high))
        if not median(less):
            less, more = ([one.p50 for one in sizes[size][name]] for size in (low, high))
        ratios = [one / other for one, other in zip(more, less, strict=True)]
        verdict = "flat" if median(ratios) <= GROWTH else "grows"
        lines.append(f"| {name} | {median(less):,.2f} | {median(more):,.2f} | {spread(ratios, 2, 'x')} | {verdict} |")
    return lines


def _met(is_met: bool) -> str:
    return "met" if is_met else "**missed**"
