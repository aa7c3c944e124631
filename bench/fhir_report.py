"""The tables of `./dev bench fhir`: the import, requests beside "hello", their SQL beside the prototype's, memory."""

from dataclasses import dataclass, field
from statistics import median

from .fhir_requests import READ, READ_NO_PATIENT, Asked
from .report import Series

# By kind: the views that do nothing but fetch the same bytes, with where they stand; of a patient's data also one that
# leaves the record of who read, as whoever answers such data must.
_BARE, _RECORDED, _NO_PATIENT = "read, bare view", "read, bare view with its record", "read, no patient, bare view"
BARE = {READ: {_BARE: "stock", _RECORDED: "recorded"}, READ_NO_PATIENT: {_NO_PATIENT: "stock"}}
_READS = (
    ("read beside the bare view: a patient's data, with a durable record of who read on our side alone", READ, _BARE),
    ("read beside the bare view: a patient's data, both with a durable record of who read", READ, _RECORDED),
    ("read beside the bare view: no patient's data, no record", READ_NO_PATIENT, _NO_PATIENT),
)
_IMPORT_AT_LEAST, _READ_WITHIN, _SKETCH_WITHIN, _MEMORY_WITHIN = 2_000, 2.0, 2.0, 1.1


@dataclass(frozen=True)
class Alone:
    """What one question took without HTTP in one round, median in ms: our statements and the prototype's."""

    ours: float
    prototype: float


@dataclass
class Imported:
    """How the transactions went: CPU seconds by process, and the memory of the web processes in MB on the way."""

    bundles: int = 0
    resources: int = 0
    seconds: float = 0.0
    used: dict[str, float] = field(default_factory=dict)
    memory: list[int] = field(default_factory=list)
    bytes: int = 0

    @property
    def per_second(self) -> float:
        """Resources a second."""
        return self.resources / self.seconds

    def lines(self) -> list[str]:
        """What is told of the import."""
        each = ", ".join(f"{name} {value / self.resources * 1e6:,.0f} µs" for name, value in self.used.items())
        return [
            (
                f"Transactions through the API: {self.bundles:,} Bundles with {self.resources:,} resources, all of them stored, "
                f"{self.bytes / 2**20:,.0f} MB of JSON, in {self.seconds:,.0f} s: **{self.per_second:,.0f} resources a second**. "
                f"CPU a resource: {each}."
            ),
            "",
        ]


def requests(found: dict[str, Series], alone: dict[str, list[Alone]], kinds: list[Asked]) -> list[str]:
    """One line for each kind of request."""
    lines = [
        (
            "| asked over HTTP | requests/s | p50 ms | p99 ms | web CPU µs | PostgreSQL µs | ÷ hello: requests/s | ÷ hello: web CPU "
            "| SQL alone, ms | prototype's SQL here, ms | ÷ prototype | prototype's SQL there, ms |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    hello = found["hello"]
    sketches = {kind.name: kind.sketch for kind in kinds}
    for name, series in found.items():
        cells = [
            name.replace("|", "\\|"),
            series.shown("per_second"),
            series.shown("p50", 2),
            series.shown("p99", 1),
            series.shown("cpu"),
            series.shown("postgres"),
            f"{series.median('per_second') / hello.median('per_second'):.2f}",
            f"{series.median('cpu') / hello.median('cpu'):.1f}",
        ]
        cells += _cells(alone[name], sketches[name]) if name in alone else [""] * 4
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _cells(alone: list[Alone], sketch: float) -> list[str]:
    """Both medians, their ratio with the lowest and highest of the rounds, and the prototype's elsewhere."""
    ratios = [one.ours / one.prototype for one in alone]
    return [
        f"{median(one.ours for one in alone):.2f}",
        f"{median(one.prototype for one in alone):.2f}",
        f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})",
        f"{sketch:g}",
    ]


def marks(
    imported: Imported | None, found: dict[str, Series], alone: dict[str, list[Alone]], rest: list[int]
) -> list[str]:
    """What was wanted and whether it is met."""
    lines = ["| mark | wanted | found | |", "|---|---|---|---|"]

    def mark(text: str, wanted: str, shown: str, *, met: bool) -> None:
        lines.append(f"| {text} | {wanted} | {shown} | {'met' if met else 'missed'} |")

    if imported:
        speed = imported.per_second
        mark("transaction import", f"≥ {_IMPORT_AT_LEAST:,}/s", f"{speed:,.0f}/s", met=speed >= _IMPORT_AT_LEAST)
    for text, name, bare in _READS:
        slower = found[bare].median("per_second") / found[name].median("per_second")
        mark(text, f"≤ {_READ_WITHIN:g}x", f"{slower:.2f}x", met=slower <= _READ_WITHIN)
    for name, rounds in alone.items():
        times = median(one.ours / one.prototype for one in rounds)
        shown = name.replace("|", "\\|")
        mark(f"SQL of {shown}", f"≤ {_SKETCH_WITHIN:g}x prototype", f"{times:.2f}x", met=times <= _SKETCH_WITHIN)
    grown = max(rest) / rest[0]
    mark("memory of the web processes, rounds", f"≤ {_MEMORY_WITHIN:g}x", f"{grown:.2f}x", met=grown <= _MEMORY_WITHIN)
    return lines


def memory(before: int, imported: Imported | None, rest: list[int]) -> list[str]:
    """The web processes' memory on the way, in MB."""
    while_importing = f"; in equal steps of the import {_listed(imported.memory)}" if imported else ""
    return [
        f"Memory of all web processes, MB: {before} before{while_importing}; after the import and each round {_listed(rest)}."
    ]


def _listed(values: list[int]) -> str:
    return ", ".join(f"{value}" for value in values)
