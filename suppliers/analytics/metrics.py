"""The time series of a metric: buckets with their values, also those in which nothing was."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Context, Decimal
from typing import Any, Final
from uuid import UUID

from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows

from .buckets import Period
from .cuts import starts_of
from .filters import MOST_VALUES, Asked
from .measures import Value, empty
from .reading import Point, metric_call

_EXACT: Final = Context(prec=60)
_QUOTIENTS: Final = Decimal("1E-12")  # what is a whole part of a cent was divided, and comes back with so many places


def metric_calls(tenant_id: UUID, asked: Asked, periods: Sequence[Period], at: datetime) -> list[Call]:
    """Return the statement of each span; `at` is the present."""
    return [metric_call(tenant_id, asked.metric, asked.group, asked.values(one, at)) for one in periods]


def series_of(asked: Asked, period: Period, rows: Rows) -> list[dict[str, Any]]:
    """Return the buckets of a span in their order; with groups, those of each group that is there at all.

    :raises InvalidFields: there would be too many values.
    """
    points, starts = rows.of(Point), starts_of(period)
    found = _carried(points, len(starts)) if asked.measure.is_at_end else points
    names = sorted({one.name for one in found}, key=lambda one: one or "") if asked.group else [None]
    if len(starts) * len(names) > MOST_VALUES or len(points) > MOST_VALUES:
        message = f"There are more than {MOST_VALUES} values: choose a longer interval."
        raise InvalidFields(errors=[FieldError("interval", "too_many_values", message)])
    write, currency = asked.measure.write, asked.currency
    nothing = empty(asked.measure, currency)
    values: dict[str | None, list[Value]] = {name: [nothing] * len(starts) for name in names}
    for place, name, above, below in found:
        values[name][place - 1] = write(above, below, currency)
    series = [(name, values[name]) for name in names]
    return [
        {"start": start, "value": those[place], "group": name}
        for place, start in enumerate(starts)
        for name, those in series
    ]


def _carried(points: Sequence[Point], places: int) -> list[Point]:
    """Add up what changes from bucket to bucket; groups of which there is never anything are left out."""
    changes = {(one.place, one.name): (one.above, one.below) for one in points}
    found: list[Point] = []
    for name in {one.name for one in points}:
        above, below, series = Decimal(0), Decimal(0), list[Point]()
        for place in range(places + 1):
            more, further = changes.get((place, name), (None, None))
            above, below = _EXACT.add(above, more or Decimal(0)), _EXACT.add(below, further or Decimal(0))
            series.append(Point(place, name, _EXACT.quantize(above, _QUOTIENTS), below))
        if any(one.above or one.below for one in series[1:]):
            found += series[1:]
    return found


def answer_of(asked: Asked, periods: Sequence[Period], rows: Sequence[Rows]) -> dict[str, Any]:
    """Return the answer: the series, and that of the span before where it was asked for."""
    series = [series_of(asked, period, found) for period, found in zip(periods, rows, strict=True)]
    return {
        "metric": asked.metric,
        "interval": asked.interval,
        "timezone": periods[0].zone.key,
        "currency": asked.currency or None,
        "buckets": series[0],
        "previous": series[1] if asked.compare else None,
    }
