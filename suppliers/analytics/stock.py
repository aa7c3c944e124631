"""The statements of metrics of stock at the end of buckets, as what is added from one bucket to the next.

What is on hand at an end is what is on hand now, without what has moved since. A level counts in those buckets in which its
lot does, at the list price of the day; so each statement returns at which bucket an amount begins to count and at which it
ends to, and reads levels, movements and prices once, whatever the number of buckets. Only the state of a lot and of a place
is that of now.

Movements are many; levels, lots, products and prices are few. Each movement meets its level, amounts of the same buckets are
added up, and only these sums begin and end to count. FULL JOIN with COALESCE leaves the planner a hash or a merge join, whatever
it believes the numbers of rows to be: it knows the mean of all tenants only.
"""

from typing import Final

from core.conditions import TENANT
from suppliers.inventory.queries import WITHIN

_GROUPS: Final = {
    "": "NULL::text",
    "product": "v.product_id::text",
    "category": "nullif(p.category, '')",
    "location": "v.location_id::text",
}
_WITHIN: Final = WITHIN.over("v").sql.replace(TENANT, "$1")
_PLACES: Final = "array_length(:ends::timestamptz[], 1)"
_MOVED_AT: Final = "width_bucket(m.created_at, :ends::timestamptz[])"
# The first bucket whose last day is a day or a later one.
_FROM_DAY: Final = "width_bucket(({0}) - 1, :last_days::date[]) + 1"
# To a buyer; what goes back to whom it came from (reason `return`) also leaves by a shipment.
SHIPPED: Final = "m.type = 'shipment' AND m.reason_code <> 'return'"
# What has moved since an end is taken off up to the bucket of that end.
_MOVED: Final = (
    f"moved AS MATERIALIZED (SELECT m.level_id, m.quantity, {_MOVED_AT} AS place FROM suppliers_stockmovement m"
    " WHERE m.tenant_id = $1 AND m.created_at >= (:ends::timestamptz[])[1])"
)
# A shipment to a buyer counts at the ends behind it, as long as it lies within 28 local days before.
_MOVED_OR_SHIPPED: Final = (
    f"moved AS MATERIALIZED (SELECT m.level_id, m.quantity, {_MOVED_AT} AS place, CASE WHEN {SHIPPED}"
    " THEN width_bucket(m.created_at, :since::timestamptz[]) ELSE 0 END AS covered FROM suppliers_stockmovement m"
    " WHERE m.tenant_id = $1 AND m.created_at >= (:since::timestamptz[])[1])"
)
# Allocations that are active, and those of reservations that an end of a bucket saw and that have ended since. Each looks for
# the other's row by its key: OFFSET 0 keeps the planner, which knows the mean of all tenants only, to that.
_SEEN: Final = "width_bucket(e.{0}, :seen::timestamptz[])"
_ALLOCATED: Final = (
    "SELECT a.*, e.created_at AS reserved_at, e.ended_at FROM suppliers_allocation a CROSS JOIN LATERAL (SELECT * FROM"
    " suppliers_reservation e WHERE e.tenant_id = $1 AND e.id = a.reservation_id OFFSET 0) e WHERE a.tenant_id = $1"
    " AND a.status = 'active' UNION ALL SELECT a.*, e.created_at, e.ended_at FROM suppliers_reservation e CROSS JOIN LATERAL"
    " (SELECT * FROM suppliers_allocation a WHERE a.tenant_id = $1 AND a.reservation_id = e.id AND a.status <> 'active' OFFSET 0) a"
    " WHERE e.tenant_id = $1 AND e.ended_at >= (:seen::timestamptz[])[1] AND e.updated_at >= (:seen::timestamptz[])[1]"
    f" AND {_SEEN.format('created_at')} < {_SEEN.format('ended_at')}"
)
# What is reserved cannot be sold, from when it was reserved until it is shipped, given back or lapsed; an end to come is as
# now.
_RESERVED: Final = (
    "reserved AS MATERIALIZED (SELECT a.level_id, a.base_quantity, width_bucket(a.reserved_at, :seen::timestamptz[]) + 1 AS first,"
    f" least(CASE WHEN a.status = 'active' THEN {_PLACES} ELSE coalesce(width_bucket(a.ended_at, :seen::timestamptz[]), 0) END,"
    " CASE WHEN a.kind = 'soft' THEN width_bucket(a.expires_at - interval '1 microsecond', :seen::timestamptz[])"
    f" ELSE {_PLACES} END) AS last FROM ({_ALLOCATED}) a)"
)
# List prices change on these days; from each on, the smallest packaging that has a price has the price of a base unit. With
# thirty places behind the point that quotient is exact enough for sums of it to be rounded to any currency.
_PRICES: Final = (
    "changes AS (SELECT x.product_id, x.place, lead(x.place) OVER (PARTITION BY x.product_id ORDER BY x.place) AS following"
    f" FROM (SELECT l.product_id, c.place FROM suppliers_listprice l CROSS JOIN LATERAL (VALUES (1),"
    f" ({_FROM_DAY.format('l.valid_from')}), ({_FROM_DAY.format('l.valid_to')})) AS c(place)"
    f" WHERE l.tenant_id = $1 AND l.currency = :currency::text AND c.place BETWEEN 1 AND {_PLACES} GROUP BY l.tenant_id, 1, 2) x),"
    " prices AS (SELECT h.product_id, h.place AS first, coalesce(h.following - 1,"
    f" {_PLACES}) AS last, c.price FROM changes h CROSS JOIN LATERAL (SELECT t.unit_price * 1.000000000000000000000000000000"
    " / (l.price_base_quantity::numeric * k.units_per_pack) AS price FROM suppliers_listprice l"
    " JOIN suppliers_packaging k ON k.tenant_id = $1 AND k.id = l.packaging_id"
    " JOIN suppliers_listpricetier t ON t.tenant_id = $1 AND t.price_id = l.id"
    " WHERE l.tenant_id = $1 AND l.product_id = h.product_id AND l.currency = :currency::text"
    " AND l.valid_from <= (:last_days::date[])[h.place] AND (l.valid_to IS NULL OR l.valid_to > (:last_days::date[])[h.place])"
    " ORDER BY k.units_per_pack, l.valid_from DESC, k.id, t.min_quantity LIMIT 1) c)"
)
# The levels of which there is stock, or was in a bucket; each looks for its product and its lot by their keys.
_LEVELS: Final = (
    "FROM (SELECT v.* FROM suppliers_stocklevel v WHERE v.tenant_id = $1 AND (v.on_hand > 0 OR (v.id IN ({0})) IS TRUE)"
    f" AND {_WITHIN} OFFSET 0) v CROSS JOIN LATERAL (SELECT p.category FROM suppliers_product p WHERE p.tenant_id = $1"
    " AND p.id = v.product_id OFFSET 0) p{1}"
)
_LOT: Final = (
    " LEFT JOIN LATERAL (SELECT o.expiry_date, o.status FROM suppliers_lot o WHERE o.tenant_id = $1 AND o.id = v.lot_id OFFSET 0) o"
    " ON true"
)
# An amount begins to count at `first`, and is taken off behind `last`.
_STEPS: Final = "CROSS JOIN LATERAL (VALUES (x.first, 1), (x.last + 1, -1)) AS s(place, sign)"


def value_sql(group: str, *, days: int | None = None) -> str:
    """Return the statement of the value of stock; with `days`, of lots that expire within so many days of the last one."""
    first, last, lots = "1", _PLACES, ""
    if days is not None:
        lots = f"{_LOT} WHERE o.expiry_date IS NOT NULL"
        first = _FROM_DAY.format(f"o.expiry_date - {days}")
        last = "width_bucket(o.expiry_date, :last_days::date[])"
    levels = (
        f"SELECT v.id, v.product_id, v.on_hand, {_GROUPS[group]} AS name, {first} AS first, {last} AS last"
        f" {_LEVELS.format('SELECT m.level_id FROM moved m', lots)}"
    )
    priced = (
        "SELECT v.id, v.on_hand, v.name, greatest(v.first, c.first) AS first, least(v.last, c.last) AS last, c.price"
        f" FROM ({levels}) v FULL JOIN prices c ON c.product_id = v.product_id"
        " WHERE coalesce(v.first <= c.last AND c.first <= v.last, false)"
    )
    return (
        f"WITH {_PRICES}, {_MOVED}, priced AS MATERIALIZED ({priced}), summed AS ("
        "SELECT l.name, l.first, l.last, sum(l.on_hand * l.price) AS amount FROM priced l GROUP BY 1, 2, 3"
        " UNION ALL SELECT l.name, l.first, least(m.place, l.last), sum(-m.quantity * l.price)"
        " FROM moved m FULL JOIN priced l ON l.id = m.level_id WHERE coalesce(l.first <= m.place, false) GROUP BY 1, 2, 3)"
        f" SELECT s.place, x.name, sum(s.sign * x.amount) AS above, NULL AS below FROM summed x {_STEPS}"
        " GROUP BY 1, 2"
    )


def cover_sql(group: str) -> str:
    """Return the statement of days of cover: what can be sold, by the mean of what was shipped a day in the 28 days before.

    `above` are 28 times the units that can be sold, `below` those that were shipped.
    """
    # What cannot be sold counts in no bucket; what expires, up to that of its last day.
    last = (
        "CASE WHEN coalesce(k.sellable, true) AND coalesce(o.status, 'released') = 'released'"
        f" THEN coalesce(width_bucket(o.expiry_date, :last_days::date[]), {_PLACES}) ELSE 0 END"
    )
    lots = f"{_LOT} LEFT JOIN suppliers_stockplace k ON k.tenant_id = $1 AND k.location_id = v.location_id"
    levels = (
        f"SELECT v.id, v.on_hand, {_GROUPS[group]} AS name, {last} AS last"
        f" {_LEVELS.format('SELECT m.level_id FROM moved m UNION ALL SELECT a.level_id FROM reserved a', lots)}"
    )
    # Each sum of movements is taken off what is sellable up to the end before them, and is shipped at the ends behind them.
    summed = (
        "SELECT l.name, least(m.place, l.last) AS last, m.place, m.covered, sum(-m.quantity) AS units"
        " FROM moved m FULL JOIN levels l ON l.id = m.level_id WHERE coalesce(l.id = m.level_id, false) GROUP BY 1, 2, 3, 4"
    )
    return (
        f"WITH {_MOVED_OR_SHIPPED}, {_RESERVED}, levels AS MATERIALIZED ({levels}), counted AS ("
        "SELECT l.name, 1 AS first, l.last, sum(l.on_hand) AS units, 0 AS shipped FROM levels l GROUP BY 1, 3"
        f" UNION ALL SELECT y.name, c.first, c.last, c.units, c.shipped FROM ({summed}) y CROSS JOIN LATERAL"
        " (VALUES (1, y.last, y.units, 0), (y.place + 1, y.covered, 0, y.units)) AS c(first, last, units, shipped)"
        " UNION ALL SELECT l.name, a.first, least(a.last, l.last), sum(-a.base_quantity), 0 FROM reserved a"
        " FULL JOIN levels l ON l.id = a.level_id WHERE coalesce(l.id = a.level_id, false) GROUP BY 1, 2, 3)"
        f" SELECT s.place, x.name, sum(28 * s.sign * x.units) AS above, sum(s.sign * x.shipped) AS below FROM counted x {_STEPS}"
        " WHERE x.first <= x.last GROUP BY 1, 2"
    )
