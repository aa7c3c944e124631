"""The tables of the webhook benchmark."""

import argparse
import os
import platform
import time
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from .load import Outcome
from .report import processor, reference, spread

_RATIO = 8
_NEIGHBOURS = 2


@dataclass(frozen=True)
class Result:
    """Deliveries that were sent, in how long, with what CPU of the sender and of PostgreSQL."""

    name: str
    count: int
    seconds: float
    cpu: float
    database: float

    @property
    def per_second(self) -> float:
        """Deliveries a second, from the first request to the last that was written down."""
        return self.count / self.seconds

    def line(self) -> str:
        """A line of the table."""
        sender, database = (value / self.count * 1e6 for value in (self.cpu, self.database))
        return f"| {self.name} | {self.count:,} | {self.per_second:,.0f} | {sender:,.0f} | {database:,.0f} |"


class Turn(NamedTuple):
    """What the API answered alone, beside two processes of the lowest priority that only count, and beside the dispatcher."""

    alone: Outcome
    counting: Outcome
    draining: Outcome


class Turns(list[Turn]):
    """Turn after turn, with the dispatcher held in all but the last part of each; the seconds the backlog took."""

    seconds: float = 0.0

    def ratios(self, share: float) -> list[float]:
        """Beside the dispatcher ÷ alone, of each turn."""
        return [turn.draining.percentile(share) / turn.alone.percentile(share) for turn in self]

    def lines(self, backlog: int) -> list[str]:
        """One line each, medians with spread."""
        names = {
            "alone": "alone",
            "counting": "beside two processes that only count, at the lowest priority",
            "draining": f"while {backlog:,} due deliveries drain in {self.seconds:.0f} s",
        }
        return [f"| {name} | {self._shown(part, 0.5)} | {self._shown(part, 0.99)} |" for part, name in names.items()]

    def _shown(self, part: str, share: float) -> str:
        return spread([getattr(turn, part).percentile(share) for turn in self])


def write(
    wanted: argparse.Namespace,
    speeds: list[Result],
    ratios: dict[str, list[float]],
    quiet: dict[str, Any],
    neighbours: dict[str, dict[str, Any]],
    api: Turns,
) -> str:
    """All tables, and whether the marks are met."""
    alone, beside = neighbours["alone"], neighbours["beside"]
    lines = [
        "# Webhook deliveries, `./dev bench webhooks`",
        "",
        (
            f"{time.strftime('%Y-%m-%d %H:%M')} · {processor()}, {os.cpu_count()} cores shared by everything incl. receivers · "
            f"{platform.system()} {platform.release()} · Python {platform.python_version()} · load average at the end "
            f"{os.getloadavg()[0]:.1f}; a million additions in Python took {reference():.0f} ms of CPU then. Middle of "
            f"{wanted.rounds} rounds, in turn; 100 endpoints with 64 places each where nothing else is said."
        ),
        "",
        "| measured | deliveries | per second | sender CPU µs | PostgreSQL CPU µs |",
        "|---|---|---|---|---|",
        *(speed.line() for speed in speeds),
        "",
        "| latency, commit to recorded delivery | deliveries | p50 ms | p99 ms |",
        "|---|---|---|---|",
        _latency("low load, one event each 50 ms", quiet),
        _latency("50 healthy endpoints, 500 deliveries/s", alone),
        _latency("the same beside one that hangs and one that is down", beside),
        "",
        "| API, products by id, 2 connections; turns of one run, each with all three | p50 ms | p99 ms |",
        "|---|---|---|",
        *api.lines(wanted.backlog),
        "",
        *_marks(ratios, alone, beside, api),
        "",
    ]
    return "\n".join(lines)


def _latency(name: str, found: dict[str, Any]) -> str:
    return f"| {name} | {found['count']:,} | {found['p50']:.0f} | {found['p99']:.0f} |"


def _marks(ratios: dict[str, list[float]], alone: dict[str, Any], beside: dict[str, Any], api: Turns) -> list[str]:
    """Ratios of neighbours in time: the middle of those of each round."""
    lines = ["| mark | wanted | found | |", "|---|---|---|---|"]
    for word, found in ratios.items():
        met = "met" if median(found) >= _RATIO else "missed"
        lines.append(f"| beside a task for each, {word} receiver | ≥ {_RATIO}x | {spread(found, unit='x')} | {met} |")
    ratio = beside["p99"] / alone["p99"] if alone["p99"] else 0.0
    met = "met" if ratio < _NEIGHBOURS else "missed"
    lines.append(f"| healthy p99 beside bad neighbours | < {_NEIGHBOURS}x | {ratio:.1f}x | {met} |")
    turns = api.ratios(0.99)
    met = "met" if median(turns) < _NEIGHBOURS else "missed"
    lines.append(f"| API's p99 while a backlog drains | < {_NEIGHBOURS}x | {spread(turns, unit='x')} | {met} |")
    return lines
