"""The time series of a metric: buckets with their values, also those in which nothing was."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from core.clock import rfc3339
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows

from .buckets import Period, start_of
from .filters import MOST_VALUES, Asked
from .measures import empty
from .reading import Point, metric_call


def metric_calls(tenant_id: UUID, asked: Asked, periods: Sequence[Period]) -> list[Call]:
    """Return the statement of each span."""
    return [metric_call(tenant_id, asked.metric, asked.group, asked.values(one)) for one in periods]


def series_of(asked: Asked, period: Period, rows: Rows) -> list[dict[str, Any]]:
    """Return the buckets of a span in their order; with groups, those of each group that is there at all.

    :raises InvalidFields: there would be too many values.
    """
    found = {(one.place, one.name): one for one in rows.of(Point)}
    names = sorted({name for _, name in found}, key=lambda one: one or "") if asked.group else [None]
    starts = [rfc3339(start_of(day, period.zone)) for day in period.starts]
    if len(starts) * len(names) > MOST_VALUES:
        message = f"There are {len(starts) * len(names)} values, more than {MOST_VALUES}: choose a longer interval."
        raise InvalidFields(errors=[FieldError("interval", "too_many_values", message)])
    return [
        {"start": start, "value": _value(asked, found.get((place, name))), "group": name}
        for place, start in enumerate(starts, 1)
        for name in names
    ]


def _value(asked: Asked, point: Point | None) -> Any:
    if point is None:
        return empty(asked.measure, asked.currency)
    above, below = (None if one is None else Decimal(one) for one in (point.above, point.below))
    return asked.measure.write(above, below, asked.currency)


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
