"""Figures of an endpoint's hours as the shapes of two small charts; plain SVG, drawn by the template, no script."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from webhooks.models import EndpointHour
from webhooks.stats import percentile_ms

HOURS = 48
WIDTH, HEIGHT, FOOT = 720, 140, 18
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Bar:
    """One hour: where it stands, what is drawn, what a pointer on it tells."""

    hour: datetime
    x: float
    width: float
    good: int
    bad: int
    good_y: float
    good_height: float
    bad_y: float
    bad_height: float
    median_ms: int | None
    slow_ms: int | None
    median_y: float
    median_height: float
    slow_y: float
    slow_height: float
    label: str


def read_hours(tenant_id: UUID, endpoint_id: UUID, *, at: datetime) -> dict[datetime, EndpointHour]:
    """Read the last 48 hours of an endpoint; hours in which nothing was sent have no row."""
    since = _start(at) - (HOURS - 1) * _HOUR
    rows = EndpointHour.objects.filter(tenant_id=tenant_id, endpoint_id=endpoint_id, hour__gte=since)
    return {row.hour: row for row in rows.order_by("hour", "id")[: HOURS + 1]}


def figures(rows: dict[datetime, EndpointHour], *, at: datetime) -> dict[str, Any]:
    """Lay the hours out, and sum up the last 24."""
    start = _start(at)
    hours = [start - number * _HOUR for number in range(HOURS - 1, -1, -1)]
    most = max((row.attempts for row in rows.values()), default=0) or 1
    slowest = max((_slow(row) or 0 for row in rows.values()), default=0) or 1
    bars = [_bar(number, hour, rows.get(hour), most, slowest) for number, hour in enumerate(hours)]
    return {
        "bars": bars,
        "shown": [bar for bar in bars if bar.good or bar.bad],
        "most": most,
        "slowest_ms": slowest,
        "width": WIDTH,
        "height": HEIGHT + FOOT,
        "floor": HEIGHT,
        "label_y": HEIGHT + FOOT - 4,
        "is_empty": not rows,
        "day": _sum(rows[hour] for hour in hours[-24:] if hour in rows),
    }


def _start(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _slow(row: EndpointHour) -> int | None:
    return percentile_ms(row.duration_buckets, 0.95)


def _bar(number: int, hour: datetime, row: EndpointHour | None, most: int, slowest: int) -> Bar:
    step = WIDTH / HOURS
    good = row.delivered if row else 0
    bad = max(row.attempts - row.delivered, 0) if row else 0
    median, slow = (percentile_ms(row.duration_buckets, 0.5), _slow(row)) if row else (None, None)
    good_height, bad_height = HEIGHT * good / most, HEIGHT * bad / most
    median_height, slow_height = HEIGHT * (median or 0) / slowest, HEIGHT * (slow or 0) / slowest
    return Bar(
        hour=hour,
        x=round(number * step + 1, 1),
        width=round(step - 2, 1),
        good=good,
        bad=bad,
        good_y=round(HEIGHT - good_height, 1),
        good_height=round(good_height, 1),
        bad_y=round(HEIGHT - good_height - bad_height, 1),
        bad_height=round(bad_height, 1),
        median_ms=median,
        slow_ms=slow,
        median_y=round(HEIGHT - median_height, 1),
        median_height=round(median_height, 1),
        slow_y=round(HEIGHT - slow_height, 1),
        slow_height=round(slow_height, 1),
        label=f"{hour:%H}:00" if hour.hour % 6 == 0 else "",
    )


def _sum(rows: Iterable[EndpointHour]) -> dict[str, Any]:
    found = list(rows)
    attempts, delivered = sum(row.attempts for row in found), sum(row.delivered for row in found)
    buckets = [sum(column) for column in zip(*(row.duration_buckets for row in found), strict=False)]
    return {
        "attempts": attempts,
        "delivered": delivered,
        "given_up": sum(row.failed for row in found),
        "percent": round(100 * delivered / attempts, 1) if attempts else None,
        "median_ms": percentile_ms(buckets, 0.5),
        "slow_ms": percentile_ms(buckets, 0.95),
    }
