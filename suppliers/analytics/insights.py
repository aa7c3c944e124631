"""Insights: what needs a look now, found anew whenever somebody asks, so that one is gone when its cause is.

Source: contract, supply-invoice.md 6 "Insight".
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.clock import rfc3339
from core.conditions import TENANT
from core.pipeline import Call, Rows, Statement
from organizations.public import today_sql
from suppliers.inventory.queries import WITHIN
from suppliers.orders.shapes import UNIT_PRICE

from .stock import SHIPPED

INSIGHTS: Final = ("expiring_stock", "stock_out_risk", "late_orders", "price_outlier", "falling_fill_rate")
SEVERITIES: Final = ("high", "medium", "low")
_MOST: Final = 200  # of each type, the gravest first


class Finding(NamedTuple):
    """One insight, as JSON, and since when it is so."""

    insight: Any
    detected_at: datetime


_TODAY: Final = today_sql("$1::uuid", "$2::timestamptz")
_ZONE: Final = "(SELECT n.time_zone FROM organizations_tenant n WHERE n.id = $1)"
_START: Final = f"(({{}})::timestamp AT TIME ZONE {_ZONE})"
_NOW: Final = "$2::timestamptz"
_WITHIN: Final = {one: WITHIN.over(one).sql.replace(TENANT, "$1") for one in ("v", "m")}


def _found(name: str, *, grave: str, subject: str, evidence: str, action: str, since: str, rows: str) -> Statement:
    """Return the statement of one type; the arguments are SQL over its rows `r`: `grave` is the severity."""
    return Statement.of(
        f"SELECT json_build_object('type', '{name}', 'severity', {grave}, 'subject', json_build_object({subject}),"
        f" 'evidence', json_build_object({evidence}), 'recommended_action', '{action}') AS insight,"
        f" {since} AS detected_at FROM ({rows} LIMIT {_MOST}) r",
        row=Finding,
    )


_EXPIRING: Final = _found(
    "expiring_stock",
    grave="CASE WHEN r.days <= 30 THEN 'high' WHEN r.days <= 60 THEN 'medium' ELSE 'low' END",
    subject="'type', 'lot', 'id', r.id, 'name', r.lot_number",
    evidence="'product_id', r.product_id, 'expiry_date', r.expiry_date, 'days_left', r.days, 'on_hand', r.units",
    action="Sell or return what is left of the lot before it expires.",
    since=_START.format("greatest(r.expiry_date - 90, date '1970-01-01')"),
    rows=f"SELECT l.id, l.lot_number, l.product_id, l.expiry_date, l.expiry_date - {_TODAY} AS days, sum(v.on_hand)::bigint"
    " AS units FROM suppliers_lot l JOIN suppliers_stocklevel v ON v.tenant_id = $1 AND v.product_id = l.product_id"
    " AND v.lot_id = l.id AND v.on_hand > 0"
    f" AND {_WITHIN['v']} WHERE l.tenant_id = $1 AND l.expiry_date <= {_TODAY} + 90 GROUP BY l.tenant_id, l.id, l.lot_number,"
    " l.product_id, l.expiry_date ORDER BY l.expiry_date, l.id",
)
_STOCK_OUT: Final = _found(
    "stock_out_risk",
    grave="CASE WHEN r.cover < 3 THEN 'high' WHEN r.cover < 7 THEN 'medium' ELSE 'low' END",
    subject="'type', 'product', 'id', r.id, 'name', r.name",
    evidence="'sellable', r.units, 'shipped_in_28_days', r.shipped, 'days_of_cover', round(r.cover, 4)::text",
    action="Order or make more of the product.",
    since=_NOW,
    rows="SELECT p.id, p.name, s.shipped, h.units, h.units * 28.0 / s.shipped AS cover FROM (SELECT m.product_id,"
    " -sum(m.quantity)::bigint AS shipped FROM suppliers_stockmovement m"
    f" WHERE m.tenant_id = $1 AND {SHIPPED} AND m.created_at >= {_NOW} - interval '28 days' AND {_WITHIN['m']} GROUP BY m.tenant_id, 1 HAVING sum(m.quantity) < 0) s"
    " JOIN suppliers_product p ON p.tenant_id = $1 AND p.id = s.product_id"
    " CROSS JOIN LATERAL (SELECT coalesce(sum(v.on_hand - v.reserved), 0)::bigint AS units FROM suppliers_stocklevel v"
    " LEFT JOIN suppliers_lot o ON o.tenant_id = $1 AND o.id = v.lot_id"
    " LEFT JOIN suppliers_stockplace k ON k.tenant_id = $1 AND k.location_id = v.location_id"
    f" WHERE v.tenant_id = $1 AND v.product_id = s.product_id AND {_WITHIN['v']} AND coalesce(k.sellable, true)"
    f" AND coalesce(o.status, 'released') = 'released' AND coalesce(o.expiry_date >= {_TODAY}, true)) h"
    " WHERE h.units * 28.0 / s.shipped < 14 ORDER BY 5, p.id",
)
_LATE: Final = _found(
    "late_orders",
    grave="CASE WHEN r.days > 7 THEN 'high' WHEN r.days > 2 THEN 'medium' ELSE 'low' END",
    subject="'type', 'order', 'id', r.id, 'name', r.number",
    evidence="'buyer_id', r.buyer_id, 'due_date', r.due, 'days_late', r.days, 'lines', r.lines, 'outstanding', r.units",
    action="Ship what is outstanding, or promise another date.",
    since=_START.format("r.due + 1"),
    # Orders that are under way are few beside all that were ever due: each looks for its lines. OFFSET 0 keeps the planner to that.
    rows="SELECT o.id, o.number, o.owner_tenant_id AS buyer_id, min(d.due_date) AS due, count(*) AS lines,"
    f" {_TODAY} - min(d.due_date) AS days, sum(d.units)::bigint AS units FROM suppliers_receivedorder o CROSS JOIN LATERAL ("
    "SELECT r.line_no, r.due_date, sum(r.quantity - r.base) AS units FROM (SELECT * FROM suppliers_rollup k WHERE k.tenant_id = $1"
    f" AND k.document_id = o.id OFFSET 0) r WHERE r.kind = 'due' AND r.due_date < {_TODAY} AND r.due_date >= {_TODAY} - 400"
    " GROUP BY 1, 2 HAVING sum(r.quantity - r.base) > 0 OFFSET 0) d WHERE o.tenant_id = $1 AND o.status = 'accepted'"
    " GROUP BY o.tenant_id, o.id, o.number, o.owner_tenant_id ORDER BY 4, o.id",
)
# Lines of the last 90 days that have a list price: what was paid of it.
_LINES: Final = (
    "SELECT r.document_id, r.line_no, r.product_id, sum(r.net) / sum(r.list_net) AS rate FROM suppliers_rollup r"
    " WHERE r.tenant_id = $1 AND r.kind = 'listed' AND r.bucket >= $2::timestamptz - interval '90 days'"
    " AND r.product_id IS NOT NULL GROUP BY r.tenant_id, 1, 2, 3 HAVING sum(r.list_net) > 0"
)
_OUTLIER: Final = _found(
    "price_outlier",
    grave="CASE WHEN r.off > 0.5 THEN 'high' ELSE 'medium' END",
    subject="'type', 'order', 'id', r.document_id, 'name', r.number",
    evidence="'line_no', r.line_no, 'product_id', r.product_id, 'price_vs_list', round(r.rate, 4)::text,"
    " 'usual_price_vs_list', round(r.usual, 4)::text, 'lines_compared', r.compared",
    action="Look at the price of the line.",
    since="r.sent_at",
    # FULL JOIN with COALESCE leaves the planner a hash or a merge join, whatever it believes the numbers of lines to be.
    rows=f"WITH lines AS MATERIALIZED ({_LINES}), usual AS MATERIALIZED (SELECT l.product_id, count(*) AS compared, percentile_cont(0.5)"
    " WITHIN GROUP (ORDER BY l.rate)::numeric AS usual FROM lines l GROUP BY 1 HAVING count(*) >= 4), off AS ("
    "SELECT x.document_id, x.line_no, x.product_id, x.rate, u.usual, u.compared, abs(x.rate / nullif(u.usual, 0) - 1) AS off"
    " FROM lines x FULL JOIN usual u ON u.product_id = x.product_id"
    " WHERE coalesce(u.usual > 0 AND abs(x.rate / nullif(u.usual, 0) - 1) > 0.25, false) OFFSET 0)"
    " SELECT x.*, o.number, o.received_at AS sent_at FROM off x CROSS JOIN LATERAL (SELECT * FROM suppliers_receivedorder o"
    " WHERE o.tenant_id = $1 AND o.id = x.document_id OFFSET 0) o ORDER BY 7 DESC, 1, 2",
)
# What buyers query of the newest invoices, and what was proposed of the newest orders, beside the price that both agreed on.
_DIFFERING: Final = f"""
SELECT i.order_id, i.order_number AS number, (l.line ->> 'order_line_no')::int AS line_no, l.line ->> 'product_id' AS product_id,
  i.id AS invoice_id, (l.line ->> 'unit_price')::numeric / (l.line ->> 'price_base_quantity')::int AS asked,
  (l.ordered ->> 'unit_price')::numeric / (l.ordered ->> 'price_base_quantity')::int AS agreed, i.received_at AS since,
  i.representation ->> 'currency' AS currency
FROM (SELECT * FROM suppliers_receivedinvoice c WHERE c.tenant_id = $1 AND c.status IN ('mismatched', 'disputed') AND c.received_at <= {_NOW}
  ORDER BY c.received_at DESC, c.id LIMIT {_MOST}) i
CROSS JOIN LATERAL (SELECT jsonb_object_agg(s.line ->> 'id', s.line -> 'snapshot') AS snapshots
  FROM (SELECT * FROM suppliers_receivedorder c WHERE c.tenant_id = $1 AND c.id = i.order_id OFFSET 0) c
  CROSS JOIN LATERAL jsonb_array_elements(c.lines) s(line)) o
CROSS JOIN LATERAL (SELECT e.line, o.snapshots -> (e.line ->> 'order_line_id') AS ordered
  FROM jsonb_array_elements(i.lines) e(line) WHERE e.line ->> 'result' = 'price_over' OFFSET 0) l
UNION ALL
SELECT o.id, o.number, (e.line ->> 'line_no')::int, e.line ->> 'product_id', NULL::uuid, (e.line -> 'proposed' ->> 'unit_price')::numeric,
  (e.line -> 'price_check' ->> 'contract_unit_price')::numeric, o.updated_at, o.representation ->> 'currency'
FROM (SELECT * FROM suppliers_receivedorder c WHERE c.tenant_id = $1 AND c.status = 'change_proposed' AND c.received_at <= {_NOW}
  ORDER BY c.received_at DESC, c.id LIMIT {_MOST}) o
CROSS JOIN LATERAL jsonb_array_elements(o.representation -> 'change' -> 'lines') e(line)
WHERE e.line -> 'price_check' ->> 'result' = 'differs'
"""
_OTHER_PRICE: Final = _found(
    "price_outlier",
    grave="CASE WHEN r.asked <= r.agreed * 1.5 AND r.asked >= r.agreed * 0.5 THEN 'medium' ELSE 'high' END",
    subject="'type', 'order', 'id', r.order_id, 'name', r.number",
    evidence="'line_no', r.line_no, 'product_id', r.product_id, 'invoice_id', r.invoice_id,"
    f" 'unit_price', {UNIT_PRICE.format('round(r.asked, 6)')}, 'contract_unit_price', {UNIT_PRICE.format('round(r.agreed, 6)')},"
    " 'currency', r.currency",
    action="Correct the price, or agree on it with the buyer.",
    since="r.since",
    rows=f"SELECT d.* FROM ({_DIFFERING}) d ORDER BY abs(d.asked / nullif(d.agreed, 0) - 1) DESC, d.order_id, d.line_no",
)
_FILL: Final = _found(
    "falling_fill_rate",
    grave="CASE WHEN r.before - r.now > 0.2 THEN 'high' ELSE 'medium' END",
    subject="'type', 'supplier', 'id', r.id, 'name', r.name",
    evidence="'fill_rate', round(r.now, 4)::text, 'fill_rate_before', round(r.before, 4)::text, 'lines', r.lines, 'days', 28",
    action="Look at what was not shipped of the lines due in the last 28 days.",
    since=_NOW,
    rows="SELECT n.id, n.name, f.now, f.before, f.lines FROM organizations_tenant n CROSS JOIN LATERAL (SELECT"
    f" sum(r.base) FILTER (WHERE r.due_date >= {_TODAY} - 28)::numeric"
    f" / nullif(sum(r.quantity) FILTER (WHERE r.due_date >= {_TODAY} - 28), 0) AS now,"
    f" sum(r.base) FILTER (WHERE r.due_date < {_TODAY} - 28)::numeric"
    f" / nullif(sum(r.quantity) FILTER (WHERE r.due_date < {_TODAY} - 28), 0) AS before,"
    f" sum(r.entries) FILTER (WHERE r.due_date >= {_TODAY} - 28) AS lines FROM suppliers_rollup r WHERE r.tenant_id = $1"
    f" AND r.kind = 'due' AND r.due_date >= {_TODAY} - 56 AND r.due_date < {_TODAY}) f"
    " WHERE n.id = $1 AND f.before - f.now >= 0.05",
)
_ALL: Final = (_EXPIRING, _STOCK_OUT, _LATE, _OTHER_PRICE, _OUTLIER, _FILL)


def insights_calls(tenant_id: UUID, at: datetime) -> list[Call]:
    """Return the statement of each type of insight."""
    return [Call(one, [str(tenant_id), at.isoformat()]) for one in _ALL]


def insights_of(rows: Sequence[Rows]) -> list[dict[str, Any]]:
    """Return the insights, the gravest first, in the order of their types."""
    findings = [one for some in rows for one in some.of(Finding)]
    found: list[dict[str, Any]] = [one.insight | {"detected_at": rfc3339(one.detected_at)} for one in findings]
    return sorted(found, key=lambda one: SEVERITIES.index(one["severity"]))
