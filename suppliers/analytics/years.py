"""Figures of twelve months for the charts of staff: of a buyer out of its own documents, of a supplier out of its copies and roll-ups."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from core.arrays import moments
from core.pipeline import Call, Rows, Statement, run

from .buckets import Period, months_before, start_of
from .filters import Asked
from .metrics import metric_calls, series_of

MONTHS: Final = 12


class Standing(NamedTuple):
    """What a tenant is, and where."""

    sells: bool
    time_zone: str
    currency: str


class Spent(NamedTuple):
    """The net of the orders of a month with another party, in one currency."""

    place: int
    name: str
    currency: str
    amount: Decimal


class Rate(NamedTuple):
    """Two numbers of a month, of which a rate or a number of hours is made."""

    place: int
    above: Decimal
    below: Decimal


_STANDING = Statement.of(
    "SELECT 'supplier' = ANY(n.kinds) AS sells, n.time_zone, n.currency FROM organizations_tenant n WHERE n.id = $1::uuid",
    row=Standing,
)
# Of a buyer: $2 are the begins of the months, or their first days; $3 is the first day behind them, $4 the zone.
_SPENT = Statement.of(
    "SELECT width_bucket(o.sent_at, $2::timestamptz[]) AS place, coalesce(n.name, o.supplier_tenant_id::text) AS name, o.currency,"
    " sum(o.net) AS amount FROM suppliers_purchaseorder o LEFT JOIN organizations_tenant n ON n.id = o.supplier_tenant_id"
    " WHERE o.tenant_id = $1 AND o.sent_at >= ($2::timestamptz[])[1] GROUP BY o.tenant_id, 1, 2, 3 ORDER BY 1, 2, 3",
    row=Spent,
)
_HOURS = Statement.of(
    "SELECT width_bucket(o.accepted_at, $2::timestamptz[]) AS place, percentile_cont(0.5) WITHIN GROUP (ORDER BY"
    " extract(epoch FROM o.accepted_at - o.sent_at)::float8)::numeric AS above, 3600::numeric AS below"
    " FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.accepted_at >= ($2::timestamptz[])[1]"
    " GROUP BY o.tenant_id, 1 ORDER BY 1",
    row=Rate,
)
_WHOLE_AT: Final = (
    "(SELECT min(w.at) FROM (SELECT g.at, sum(g.units) OVER (ORDER BY g.at) AS units FROM (SELECT coalesce(d.delivered_at,"
    " (SELECT min(x.received_at) FROM suppliers_receipt x WHERE x.tenant_id = $1 AND x.delivery_id = d.id)) AS at,"
    " y.base_quantity - y.rejected - y.short AS units FROM suppliers_deliveryline y"
    " JOIN suppliers_delivery d ON d.tenant_id = $1 AND d.id = y.delivery_id"
    " WHERE y.tenant_id = $1 AND y.order_line_id = l.id) g WHERE g.at IS NOT NULL) w WHERE w.units >= l.ordered - l.cancelled)"
)
_IN_TIME = Statement.of(
    "SELECT width_bucket(z.due, $2::date[]) AS place,"
    " count(*) FILTER (WHERE z.whole_at < (z.due + 1)::timestamp AT TIME ZONE $4::text)::numeric AS above, count(*)::numeric AS below"
    " FROM (SELECT coalesce(l.promised_date, l.requested_date, o.requested_delivery_date) AS due,"
    f" {_WHOLE_AT} AS whole_at FROM suppliers_purchaseorderline l JOIN suppliers_purchaseorder o ON o.tenant_id = $1"
    " AND o.id = l.order_id WHERE l.tenant_id = $1 AND l.accepted > 0"
    " AND coalesce(l.promised_date, l.requested_date, o.requested_delivery_date) >= ($2::date[])[1]"
    " AND coalesce(l.promised_date, l.requested_date, o.requested_delivery_date) < $3::date) z GROUP BY 1 ORDER BY 1",
    row=Rate,
)
_MATCHED = Statement.of(
    "SELECT width_bucket(i.issue_date, $2::date[]) AS place, count(*) FILTER (WHERE i.match_status = 'matched')::numeric AS above,"
    " count(*)::numeric AS below FROM suppliers_invoice i WHERE i.tenant_id = $1 AND i.match_status <> '' AND i.type <> 'credit_note'"
    " AND i.issue_date >= ($2::date[])[1] AND i.issue_date < $3::date GROUP BY i.tenant_id, 1 ORDER BY 1",
    row=Rate,
)
# Of a supplier: what buyers have ordered, and how their invoices have matched, as its copies say.
_SOLD = Statement.of(
    "SELECT width_bucket(o.received_at, $2::timestamptz[]) AS place, coalesce(n.name, o.owner_tenant_id::text) AS name,"
    " o.representation ->> 'currency' AS currency, sum((o.representation -> 'totals' ->> 'net')::numeric) AS amount"
    " FROM suppliers_receivedorder o LEFT JOIN organizations_tenant n ON n.id = o.owner_tenant_id"
    " WHERE o.tenant_id = $1 AND o.received_at >= ($2::timestamptz[])[1] GROUP BY o.tenant_id, 1, 2, 3 ORDER BY 1, 2, 3",
    row=Spent,
)
_BILLED = Statement.of(
    "SELECT width_bucket(i.issue_date, $2::date[]) AS place,"
    " count(*) FILTER (WHERE i.representation ->> 'match_status' = 'matched')::numeric AS above, count(*)::numeric AS below"
    " FROM suppliers_receivedinvoice i WHERE i.tenant_id = $1 AND i.representation ->> 'match_status' IS NOT NULL"
    " AND i.type <> 'credit_note' AND i.issue_date >= ($2::date[])[1] AND i.issue_date < $3::date GROUP BY i.tenant_id, 1 ORDER BY 1",
    row=Rate,
)


@dataclass(frozen=True, slots=True)
class Year:
    """Twelve months, with what each holds at its place, from 1; rates and hours have four places, or are not known."""

    sells: bool
    zone: str
    currency: str
    months: Sequence[date]
    spent: Sequence[Spent]
    in_time: Sequence[str | None]
    matched: Sequence[str | None]
    hours: Sequence[str | None]


def read_year(tenant_id: UUID, at: datetime) -> Year:
    """Read the figures of the bound tenant for the month of `at` and the eleven before it, by its own zone."""
    standing = run([Call(_STANDING, [str(tenant_id)])])[0].of(Standing)[0]
    zone = ZoneInfo(standing.time_zone)
    this = at.astimezone(zone).date().replace(day=1)
    months = [months_before(this, number) for number in range(MONTHS - 1, -1, -1)]
    period = Period(start_of(months[0], zone), start_of(months_before(this, -1), zone), "month", zone)
    if standing.sells:
        return _sold(tenant_id, standing, months, period, at)
    return _bought(tenant_id, standing, months, period)


def _calls(tenant_id: UUID, months: Sequence[date], period: Period, *statements: Statement) -> list[Call]:
    """Return the calls: those over instants have the begins of the months, those over dates their first days and the end."""
    starts = [str(tenant_id), moments(period.bounds)]
    days = [str(tenant_id), moments(months), months_before(months[-1], -1).isoformat()]
    given = {_SPENT: starts, _SOLD: starts, _HOURS: starts, _IN_TIME: [*days, period.zone.key]}
    return [Call(one, given.get(one, days)) for one in statements]


def _bought(tenant_id: UUID, standing: Standing, months: Sequence[date], period: Period) -> Year:
    calls = _calls(tenant_id, months, period, _SPENT, _IN_TIME, _MATCHED, _HOURS)
    spent, in_time, matched, hours = run(calls)
    return Year(
        False,
        period.zone.key,
        standing.currency,
        months,
        spent.of(Spent),
        _rates(in_time),
        _rates(matched),
        _rates(hours),
    )


def _sold(tenant_id: UUID, standing: Standing, months: Sequence[date], period: Period, at: datetime) -> Year:
    asked = [
        Asked(metric, period.begin, period.end, "month", "", period.zone.key, "", compare=False)
        for metric in ("on_time_in_full", "acceptance_hours")
    ]
    calls = _calls(tenant_id, months, period, _SOLD, _BILLED)
    sold, billed, *rows = run([*calls, *(call for one in asked for call in metric_calls(tenant_id, one, [period], at))])
    in_time, hours = (
        [one["value"] for one in series_of(each, period, found)] for each, found in zip(asked, rows, strict=True)
    )
    return Year(True, period.zone.key, standing.currency, months, sold.of(Spent), in_time, _rates(billed), hours)


def _rates(rows: Rows) -> list[str | None]:
    found = {one.place: f"{one.above / one.below:.4f}" for one in rows.of(Rate) if one.below}
    return [found.get(place) for place in range(1, MONTHS + 1)]
