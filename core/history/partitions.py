"""Makes the partitions of a history ahead of time, by the owner's functions; nothing here ever waits long for a lock.

A statement that does not get its lock within half a second lets everybody pass and is tried again. What landed in the
default partition is not moved: the partition itself becomes the range of its rows, and an empty one takes its place.
Only strays, rows outside the present gap, are moved, a bounded number at a time (docs/decisions/0030).
"""

import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import OperationalError, connections
from django.db.utils import IntegrityError

from .ranges import EARLIEST, LATEST, Range, Step, gaps, missing, next_start, start_of

log = logging.getLogger(__name__)

ALIAS = "platform"
AHEAD = timedelta(days=62)
ABSORBED_FOR = timedelta(days=28)
MOST_MOVED = 10_000

_TRIES = 12
_PAUSE_SECONDS = 0.4
_ROUNDS = 3
_BOUND = re.compile(r"(FROM|TO) \('([^']+)'\)")
_RANGES = """
SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = to_regclass(%s) AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'
"""


@dataclass(frozen=True, slots=True)
class History:
    """One partitioned table and how long its ranges are. Its rows have `created_at`, which they are cut by, and `id`."""

    table: str
    step: Step


class Busy(Exception):
    """Somebody else is at it, or holds a lock all the time; the next run goes on."""


@contextmanager
def turn(number: int) -> Iterator[None]:
    """Keep runs of one kind apart, by the number of a lock; whoever comes second does nothing.

    :raises Busy: another run is under way.
    """
    if not ask("SELECT pg_try_advisory_lock(%s)", number)[0][0]:
        raise Busy("another run is under way")
    try:
        yield
    finally:
        ask("SELECT pg_advisory_unlock(%s)", number)


def ask(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Run one statement in a transaction of its own as the platform; one that gets no lock is tried again for seconds.

    :raises Busy: it never got the lock.
    """
    for _ in range(_TRIES):
        try:
            with connections[ALIAS].cursor() as cursor:
                cursor.execute(statement, parameters)
                return list(cursor.fetchall())
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", "") != "55P03":  # lock_not_available
                raise
            time.sleep(_PAUSE_SECONDS)
    raise Busy("a lock was held all the time")


def read_ranges(table: str) -> list[Range]:
    """Read which ranges a history has, the default partition aside."""
    found = []
    for name, text in ask(_RANGES, table):
        bounds = dict(_BOUND.findall(text))
        lower = _moment(bounds["FROM"]) if "FROM" in bounds else EARLIEST
        found.append(Range(lower, _moment(bounds["TO"]), name))
    return sorted(found)


def make_ahead(history: History, *, at: datetime) -> list[str]:
    """Have every row of the next two months find a range of its own; return the names of the partitions made.

    :raises Busy: a lock was held all the time.
    """
    made: list[str] = []
    for _ in range(_ROUNDS):
        try:
            made += _move_strays(history, at)
            made += _absorb(history, at)
            made += _make_missing(history, at)
        except IntegrityError:  # a row came into the default partition meanwhile: it is absorbed in the next round
            log.info("history goes round again", extra={"table": history.table})
            continue
        return made
    raise Busy("rows kept coming")


def count_strays(table: str) -> int:
    """Count the rows in the default partition, by the gaps between the ranges; it should be none."""
    return sum(_count(table, gap) for gap in gaps(read_ranges(table)))


def _make_missing(history: History, at: datetime) -> list[str]:
    wanted = missing(read_ranges(history.table), at=at, until=at + AHEAD, step=history.step)
    return [str(ask("SELECT hp_history_make(%s, %s, %s)", history.table, one.lower, one.upper)[0][0]) for one in wanted]


def _move_strays(history: History, at: datetime) -> list[str]:
    made: list[str] = []
    while stray := _next_stray(history, at):
        (until,) = ask("SELECT hp_history_move(%s, %s, %s, %s)", history.table, stray.lower, stray.upper, MOST_MOVED)[0]
        made.append(f"{history.table} from {stray.lower:%Y-%m-%d} to {until:%Y-%m-%d}")
    return made


def _next_stray(history: History, at: datetime) -> Range | None:
    """The range to make for the first row in the default partition that is not of the present gap."""
    for gap in gaps(read_ranges(history.table)):
        ahead = _absorbable(history, gap, at)
        rest = gap if ahead is None else Range(ahead.upper, gap.upper)
        first = _first(history.table, rest)
        if first is not None:
            began = start_of(first, history.step)
            return Range(max(rest.lower, began), min(rest.upper, next_start(began, history.step)))
    return None


def _absorb(history: History, at: datetime) -> list[str]:
    """Turn the default partition, when it holds rows of the present, into their range."""
    ask("SELECT hp_history_unpromise(%s)", history.table)  # of a run that was killed
    for gap in gaps(read_ranges(history.table)):
        wanted = _absorbable(history, gap, at)
        if wanted is None or _first(history.table, wanted) is None:
            continue
        bounds = (None if wanted.lower == EARLIEST else wanted.lower, wanted.upper)
        try:
            ask("SELECT hp_history_promise(%s, %s, %s)", history.table, *bounds)
            ask("SELECT hp_history_check(%s)", history.table)
            return [str(ask("SELECT hp_history_absorb(%s, %s, %s)", history.table, *bounds)[0][0])]
        finally:
            ask("SELECT hp_history_unpromise(%s)", history.table)
    return []


def _absorbable(history: History, gap: Range, at: datetime) -> Range | None:
    """What of a gap the default partition may become: the gap of now, to a start that is four weeks off at least.

    Until the swap is done the table promises to hold nothing beyond, so the end must not be near.
    """
    if not gap.lower <= at < gap.upper:
        return None
    end = next_start(start_of(at + ABSORBED_FOR, history.step), history.step)
    return Range(gap.lower, min(end, gap.upper))


def _first(table: str, gap: Range) -> datetime | None:
    where, parameters = _within(gap)
    found: datetime | None = ask(f"SELECT min(created_at) FROM {table} WHERE {where}", *parameters)[0][0]
    return found


def _count(table: str, gap: Range) -> int:
    where, parameters = _within(gap)
    return int(ask(f"SELECT count(*) FROM {table} WHERE {where}", *parameters)[0][0])


def _within(gap: Range) -> tuple[str, list[datetime]]:
    """The gap as a condition by which PostgreSQL looks into the default partition alone."""
    lower = [] if gap.lower == EARLIEST else [("created_at >= %s", gap.lower)]
    upper = [] if gap.upper == LATEST else [("created_at < %s", gap.upper)]
    parts = [*lower, *upper] or [("created_at < %s", LATEST)]
    return " AND ".join(text for text, _ in parts), [value for _, value in parts]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
