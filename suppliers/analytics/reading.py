"""The statements of metrics: for each bucket and group two numbers, of which a measure makes a value."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import UUID

from core.conditions import TENANT
from core.pipeline import Call, Statement
from suppliers.inventory.queries import WITHIN


class Point(NamedTuple):
    """Two numbers of the bucket `place`, counted from 1."""

    place: int
    name: str | None
    above: str | None
    below: str | None


_GROUPS: Final = {
    "": "NULL::text",
    "product": "{0}.product_id::text",
    "category": "nullif({0}.category, '')",
    "buyer": "{0}.buyer_id::text",
    "location": "{0}.location_id::text",
}
_PLACE: Final = "width_bucket(r.bucket, :bounds::timestamptz[])"
_ROWS: Final = (
    "FROM suppliers_rollup r WHERE r.tenant_id = $1 AND r.kind = '{kind}' AND r.bucket >= :begin::timestamptz"
    " AND r.bucket < :end::timestamptz"
)
_OF_CURRENCY: Final = " AND (:currency::text = '' OR r.currency = :currency::text)"
_SUMS: Final = f"SELECT {_PLACE} AS place, {{group}} AS name, {{above}} AS above, {{below}} AS below {_ROWS}{{more}} GROUP BY r.tenant_id, 1, 2"
# Orders in a bucket: each once, whatever the number of its lines.
_COUNT: Final = (
    "SELECT o.place, o.name, count(*) AS above, NULL AS below FROM ("
    f"SELECT {_PLACE} AS place, {{group}} AS name, r.document_id {_ROWS.format(kind='ordered')}{_OF_CURRENCY}"
    " GROUP BY r.tenant_id, 1, 2, 3 HAVING sum(r.entries) > 0) o GROUP BY 1, 2"
)
# The median over orders; of a group, over the orders that have a line of it.
_ACCEPTANCE: Final = (
    "SELECT o.place, g.name, percentile_cont(0.5) WITHIN GROUP (ORDER BY o.seconds)::numeric AS above, 3600 AS below FROM ("
    f"SELECT {_PLACE} AS place, r.document_id, sum(r.quantity) AS seconds {_ROWS.format(kind='accepted')}{_OF_CURRENCY}"
    " GROUP BY r.tenant_id, 1, 2 HAVING sum(r.entries) > 0) o CROSS JOIN LATERAL (SELECT {group} AS name FROM suppliers_rollup r"
    " WHERE r.tenant_id = $1 AND r.document_id = o.document_id AND r.kind = 'ordered' GROUP BY r.tenant_id, 1 HAVING sum(r.entries) > 0) g"
    " GROUP BY 1, 2"
)
_DUE: Final = (
    "SELECT width_bucket(r.due_date, :days::date[]) AS place, {group} AS name, {above} AS above, {below} AS below"
    " FROM suppliers_rollup r WHERE r.tenant_id = $1 AND r.kind = 'due' AND r.due_date >= (:days::date[])[1]"
    f" AND r.due_date <= :last_day::date{_OF_CURRENCY} GROUP BY r.tenant_id, 1, 2 HAVING sum(r.entries) > 0"
)
_IN_TIME: Final = (
    "coalesce(sum(r.entries) FILTER (WHERE r.whole_at < (r.due_date + 1)::timestamp AT TIME ZONE :zone::text), 0)"
)
_RETURNS: Final = (
    f"SELECT {_PLACE} AS place, {{group}} AS name, coalesce(sum(r.quantity) FILTER (WHERE r.kind = 'returned'), 0) AS above,"
    " sum(r.quantity) FILTER (WHERE r.kind = 'received') AS below FROM suppliers_rollup r WHERE r.tenant_id = $1"
    " AND r.kind IN ('received', 'returned') AND r.bucket >= :begin::timestamptz AND r.bucket < :end::timestamptz GROUP BY r.tenant_id, 1, 2"
)
_OFFERS: Final = (
    "SELECT u.place, r.name, sum(r.entries) AS above, NULL AS below FROM unnest(:ends::timestamptz[]) WITH ORDINALITY"
    " AS u(at, place) JOIN (SELECT {group} AS name, r.bucket, sum(r.entries) AS entries FROM suppliers_rollup r"
    " WHERE r.tenant_id = $1 AND r.kind = 'offered' AND r.bucket < :end::timestamptz GROUP BY r.tenant_id, 1, 2) r ON r.bucket < u.at"
    " GROUP BY 1, 2"
)
_WITHIN: Final = {one: WITHIN.over(one).sql.replace(TENANT, "$1") for one in ("v", "m")}
# On hand at the end of each bucket: what is on hand now, without what has moved since.
_HELD: Final = (
    "WITH ends AS (SELECT u.at, u.day, u.place FROM unnest(:ends::timestamptz[], :last_days::date[]) WITH ORDINALITY"
    " AS u(at, day, place)), moved AS (SELECT m.level_id, width_bucket(m.created_at, :ends::timestamptz[]) AS place,"
    " sum(m.quantity) AS units FROM suppliers_stockmovement m WHERE m.tenant_id = $1"
    " AND m.created_at >= (:ends::timestamptz[])[1] GROUP BY m.tenant_id, 1, 2), held AS (SELECT v.id, v.product_id, v.location_id,"
    " v.lot_id, e.place, e.day, v.on_hand - coalesce(sum(m.units), 0) AS units FROM suppliers_stocklevel v CROSS JOIN ends e"
    " LEFT JOIN moved m ON m.level_id = v.id AND m.place >= e.place WHERE v.tenant_id = $1"
    f" AND {_WITHIN['v']} GROUP BY v.tenant_id, v.id, v.product_id, v.location_id, v.lot_id, v.on_hand, e.place, e.day)"
)
_PRODUCT: Final = "JOIN suppliers_product p ON p.tenant_id = $1 AND p.id = {0}.product_id"
# The list price of a base unit on a day: of the smallest packaging that has one, of its first tier.
_PRICE: Final = (
    "LEFT JOIN LATERAL (SELECT t.unit_price / (l.price_base_quantity * k.units_per_pack) AS each FROM suppliers_listprice l"
    " JOIN suppliers_packaging k ON k.tenant_id = $1 AND k.id = l.packaging_id"
    " JOIN suppliers_listpricetier t ON t.tenant_id = $1 AND t.price_id = l.id"
    " WHERE l.tenant_id = $1 AND l.product_id = r.product_id AND l.currency = :currency::text AND l.valid_from <= r.day"
    " AND (l.valid_to IS NULL OR l.valid_to > r.day) ORDER BY k.units_per_pack, t.min_quantity, l.valid_from DESC LIMIT 1)"
    " c ON true"
)
_HELD_ROWS: Final = (
    "(SELECT h.place, h.day, h.product_id, h.location_id, h.lot_id, h.units, p.category"
    f" FROM held h {_PRODUCT.format('h')} WHERE h.units <> 0) r"
)
_VALUE: Final = (
    f"{_HELD} SELECT r.place, {{group}} AS name, sum(r.units * c.each) AS above, NULL AS below FROM {_HELD_ROWS}"
    f" {_PRICE}{{more}} GROUP BY {{tenant}}1, 2"
)
_EXPIRING: Final = (
    " JOIN suppliers_lot o ON o.tenant_id = $1 AND o.id = r.lot_id AND o.expiry_date BETWEEN r.day AND r.day + 90"
)
_COVER: Final = (
    f"{_HELD} SELECT y.place, y.name, sum(y.units) AS above, sum(y.shipped) / 28 AS below FROM ("
    f"SELECT r.place, {{group}} AS name, r.units, NULL::numeric AS shipped FROM {_HELD_ROWS}"
    " LEFT JOIN suppliers_lot o ON o.tenant_id = $1 AND o.id = r.lot_id"
    " LEFT JOIN suppliers_stockplace s ON s.tenant_id = $1 AND s.location_id = r.location_id"
    " WHERE coalesce(s.sellable, true) AND coalesce(o.status, 'released') = 'released'"
    " AND coalesce(o.expiry_date >= r.day, true)"
    " UNION ALL SELECT e.place, {group}, 0, -r.quantity FROM (SELECT m.product_id, m.location_id, m.created_at, m.quantity,"
    f" p.category FROM suppliers_stockmovement m {_PRODUCT.format('m')} WHERE m.tenant_id = $1 AND m.type = 'shipment'"
    f" AND m.created_at >= (:ends::timestamptz[])[1] - interval '28 days' AND m.created_at < :end::timestamptz AND {_WITHIN['m']}"
    ") r JOIN ends e ON r.created_at >= e.at - interval '28 days' AND r.created_at < e.at) y GROUP BY 1, 2"
)
_STATEMENTS: Final = {
    "orders_count": _COUNT,
    "orders_value": _SUMS.format(kind="ordered", group="{group}", above="sum(r.net)", below="NULL", more=_OF_CURRENCY),
    "cancel_rate": _SUMS.format(
        kind="ordered", group="{group}", above="sum(r.base)", below="sum(r.quantity)", more=_OF_CURRENCY
    ),
    "price_vs_list": _SUMS.format(
        kind="listed", group="{group}", above="sum(r.net)", below="sum(r.list_net)", more=_OF_CURRENCY
    ),
    "acceptance_hours": _ACCEPTANCE,
    "fill_rate": _DUE.format(group="{group}", above="sum(r.base)", below="sum(r.quantity)"),
    "on_time_in_full": _DUE.format(group="{group}", above=_IN_TIME, below="sum(r.entries)"),
    "return_rate": _RETURNS,
    "active_offers": _OFFERS,
    "stock_value": _VALUE.format(group="{group}", more="", tenant=""),
    "expiring_value": _VALUE.format(group="{group}", more=_EXPIRING, tenant="o.tenant_id, "),
    "days_of_cover": _COVER,
}


def metric_call(tenant_id: UUID, metric: str, group: str, values: Mapping[str, str]) -> Call:
    """Return the statement of a metric by a group ("" for none); `values` are the texts of its parameters by name."""
    sql = f"SELECT place::int, name, above::text, below::text FROM ({_STATEMENTS[metric].format(group=_GROUPS[group].format('r'))}) z"
    taken: list[str] = [str(tenant_id)]
    for name, value in values.items():
        if f":{name}::" in sql:
            taken.append(value)
            sql = sql.replace(f":{name}::", f"${len(taken)}::")
    return Call(Statement.composed(f"{sql} ORDER BY 1, 2"), taken)
