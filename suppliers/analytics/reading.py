"""The statements of metrics: for each bucket and group two numbers, of which a measure makes a value."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Final, NamedTuple
from uuid import UUID

from core.pipeline import Call, Statement

from .filters import MOST_VALUES
from .flows import acceptance_sql, count_sql, due_sql, offers_sql, returns_sql, sums_sql
from .stock import cover_sql, value_sql

_EXPIRING_DAYS: Final = 90
_NAMED: Final = re.compile(r"(?<!:):(\w+)::")


class Point(NamedTuple):
    """Two numbers of the bucket `place`, counted from 1."""

    place: int
    name: str | None
    above: Decimal | None
    below: Decimal | None


# The statement of each metric by a group.
_SQL: Final[dict[str, Callable[[str], str]]] = {
    "orders_count": count_sql,
    "orders_value": lambda group: sums_sql(group, "ordered", "sum(p.net)"),
    "cancel_rate": lambda group: sums_sql(group, "ordered", "sum(p.base)", "sum(p.quantity)"),
    "price_vs_list": lambda group: sums_sql(group, "listed", "sum(p.net)", "sum(p.list_net)"),
    "fill_rate": lambda group: due_sql(group, "sum(p.base)", "sum(p.quantity)"),
    "on_time_in_full": lambda group: due_sql(group, "sum(p.in_time)", "sum(p.entries)"),
    "quality_rate": lambda group: sums_sql(group, "received", "sum(p.quantity)", "sum(p.quantity + p.base)"),
    "acceptance_hours": acceptance_sql,
    "return_rate": returns_sql,
    "active_offers": offers_sql,
    "stock_value": value_sql,
    "expiring_value": lambda group: value_sql(group, days=_EXPIRING_DAYS),
    "days_of_cover": cover_sql,
}


def metric_call(tenant_id: UUID, metric: str, group: str, values: Mapping[str, Callable[[], str]]) -> Call:
    """Return the statement of a metric by a group ("" for none); `values` write the texts of its parameters by name."""
    sql, names = _text(metric, group)
    return Call(Statement.composed(sql), [str(tenant_id), *(values[name]() for name in names)])


@cache
def _text(metric: str, group: str) -> tuple[str, list[str]]:
    """Return the SQL, and the names of the parameters behind the tenant."""
    sql = f"SELECT place::int, name, above::numeric, below::numeric FROM ({_SQL[metric](group)}) z ORDER BY 1, 2 LIMIT {MOST_VALUES + 1}"
    names = list(dict.fromkeys(_NAMED.findall(sql)))
    return _NAMED.sub(lambda found: f"${names.index(found[1]) + 2}::", sql), names
