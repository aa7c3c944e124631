"""Figures of a benchmark and the tables made of them."""

import argparse
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

from .load import Outcome

_PACKAGES = ("Django", "djangorestframework", "granian", "psycopg", "redis", "orjson")


class Mark(NamedTuple):
    """What a request may cost the server, in µs of CPU, and what the stock view and the prototype took where that was set.

    On the same machine and rows the shares of those two hold wherever they are asked. Source: the design's performance.md; the
    prototype's list stood inside a DRF view, its get read one document behind its gate, its create was one trip.
    """

    name: str
    prototype: str
    most: int
    stock_there: int
    prototype_there: int


_MARKS = (
    Mark("list", "list newest change", 700, 4_466, 312),
    Mark("list newest change", "list newest change", 700, 4_466, 312),
    Mark("get", "get", 500, 1_691, 220),
    Mark("create", "create", 1_000, 2_958, 292),
)


@dataclass(frozen=True)
class Figure:
    """One measurement; CPU in microseconds a request."""

    per_second: float
    p50: float
    p99: float
    cpu: float
    postgres: float
    valkey: float

    @classmethod
    def of(cls, outcome: Outcome, seconds: dict[str, float], *, server: str) -> "Figure":
        """From an outcome and the CPU seconds of each process; `server` names the one that answered."""
        each = {name: value / outcome.count * 1e6 for name, value in seconds.items()}
        return cls(
            per_second=outcome.per_second,
            p50=outcome.percentile(0.5),
            p99=outcome.percentile(0.99),
            cpu=each[server],
            postgres=each["PostgreSQL"],
            valkey=each["Valkey"],
        )


class Series(list[Figure]):
    """The same measurement in several rounds."""

    def median(self, name: str) -> float:
        """The middle of one figure."""
        return median(getattr(figure, name) for figure in self)

    def shown(self, name: str, digits: int = 0) -> str:
        """The middle of one figure with its lowest and highest."""
        return spread([getattr(figure, name) for figure in self], digits)


def spread(values: Sequence[float], digits: int = 1, unit: str = "") -> str:
    """The middle of some values with the lowest and the highest."""
    return f"{median(values):,.{digits}f}{unit} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def machine_line() -> str:
    """What it ran on."""
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{time.strftime('%Y-%m-%d %H:%M')} · {processor()}, {os.cpu_count()} cores shared by everything incl. the load, "
        f"{memory:.0f} GB · {platform.system()} {platform.release()} · Python {platform.python_version()}, {packages} · "
        f"load average at the end {os.getloadavg()[0]:.1f}; a million additions in Python took "
        f"{reference():.0f} ms of CPU then"
    )


def machine(wanted: argparse.Namespace) -> list[str]:
    """What it ran on and how."""
    return [
        machine_line(),
        "",
        (
            f"{wanted.rows:,} products of {wanted.tenants:,} tenants, callers of {wanted.callers} tenants in turn; {wanted.workers} workers, "
            f"{wanted.connections} connections, {wanted.rounds} rounds of {wanted.seconds:g} s each, interleaved; "
            "median (lowest–highest). CPU is µs a request by process accounting: of the web workers (of the client where SQL runs "
            "alone), of PostgreSQL, of Valkey."
        ),
    ]


def reference() -> float:
    """CPU milliseconds of a million additions in Python: a machine that others use too spends more on the same work."""
    before, number = time.process_time(), 0
    for step in range(1_000_000):
        number += step
    return (time.process_time() - before) * 1000


def processor() -> str:
    """What the machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def table(found: dict[str, Series]) -> list[str]:
    """One line for each measurement."""
    lines = [
        "| measured | requests/s | p50 ms | p99 ms | web CPU µs | PostgreSQL µs | Valkey µs |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, series in found.items():
        cells = [
            series.shown("per_second"),
            series.shown("p50", 2),
            series.shown("p99", 1),
            series.shown("cpu"),
            series.shown("postgres"),
            f"{series.median('valkey'):,.0f}",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def ratios(found: dict[str, Series]) -> list[str]:
    """Ours beside the others, by requests a second and by the server's CPU; then the marks and whether they are met."""
    lines = ["| requests/s (web CPU) | ÷ hello | ÷ SQL alone | ÷ stock DRF | ÷ prototype |", "|---|---|---|---|---|"]
    for name in (name for name in found if ":" not in name and name != "hello"):
        others = ("hello", *(f"{name}: {other}" for other in ("SQL alone", "stock DRF", "prototype")))
        lines.append(f"| {name} | {' | '.join(_ratio(found[name], found.get(other)) for other in others)} |")
    lines += ["", "| mark | wanted | found | |", "|---|---|---|---|"]
    for mark in _MARKS:
        ours = found[mark.name].median("cpu")
        stock = found[f"{mark.name}: stock DRF"].median("cpu")
        lean = found[f"{mark.prototype}: prototype"].median("cpu")
        met = "met" if ours <= mark.most else "missed; the prototype too" if lean > mark.most else "missed"
        lines.append(
            f"| {mark.name}: server CPU | ≤ {mark.most:,} µs | {ours:,.0f} µs (prototype {lean:,.0f} µs) | {met} |"
        )
        for other, here, there in (
            ("stock DRF", stock, mark.stock_there),
            ("the prototype", lean, mark.prototype_there),
        ):
            value, most = ours / here, mark.most / there
            met = "met" if value <= most else "missed"
            lines.append(f"| {mark.name}: server CPU beside {other} | ≤ {most:.2f}x | {value:.2f}x | {met} |")
    for name in ("list", "list newest change"):
        value = found[name].median("per_second") / found[f"{name}: stock DRF"].median("per_second")
        lines.append(
            f"| {name} beside stock DRF | ≥ 6x requests/s | {value:.1f}x | {'met' if value >= 6 else 'missed'} |"
        )
    return lines


def _ratio(ours: Series, other: Series | None) -> str:
    if other is None:
        return ""
    speed = ours.median("per_second") / other.median("per_second")
    return f"{speed:.2f}x ({ours.median('cpu') / other.median('cpu'):.2f}x)"
