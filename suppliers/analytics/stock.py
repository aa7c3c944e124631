"""The statements of metrics of stock at the end of buckets, as what is added from one bucket to the next.

What is on hand at an end is what is on hand now, without what has moved since. A level counts in those buckets in which its
lot does, at the list price of the day; so each statement returns at which bucket an amount begins to count and at which it
ends to, and reads levels, movements and prices once, whatever the number of buckets. Only the state of a lot and of a place
is that of now.
"""

from typing import Final

from core.conditions import TENANT
from suppliers.inventory.queries import WITHIN

_GROUPS: Final = {
    "": "NULL::text",
    "product": "r.product_id::text",
    "category": "nullif(p.category, '')",
    "location": "r.location_id::text",
}
_WITHIN: Final = {one: WITHIN.over(one).sql.replace(TENANT, "$1") for one in ("v", "m")}
_PLACES: Final = "array_length(:ends::timestamptz[], 1)"
# The first bucket whose last day is a day or a later one.
_FROM_DAY: Final = "width_bucket(({0}) - 1, :last_days::date[]) + 1"
_LOT: Final = "suppliers_lot o ON o.tenant_id = $1 AND o.id = r.lot_id"
_PRODUCT: Final = "JOIN suppliers_product p ON p.tenant_id = $1 AND p.id = r.product_id"
# What is on hand now counts up to the last bucket; what has moved since an end is taken off up to the bucket of that
# end.
_UNITS: Final = (
    "(SELECT v.product_id, v.location_id, v.lot_id, v.on_hand AS units,"
    f" {_PLACES} AS last FROM suppliers_stocklevel v WHERE v.tenant_id = $1 AND v.on_hand > 0 AND {_WITHIN['v']}"
    " UNION ALL SELECT m.product_id, m.location_id, m.lot_id, -m.quantity,"
    " width_bucket(m.created_at, :ends::timestamptz[]) FROM suppliers_stockmovement m WHERE m.tenant_id = $1"
    f" AND m.created_at >= (:ends::timestamptz[])[1] AND {_WITHIN['m']})"
)
# Allocations that are active, and those of reservations that have ended since the first end. Each looks for the other's row
# by its key: OFFSET 0 keeps the planner, which knows the mean of all tenants only, to that.
_ALLOCATED: Final = (
    "SELECT a.*, e.created_at AS reserved_at, e.ended_at FROM suppliers_allocation a CROSS JOIN LATERAL (SELECT * FROM"
    " suppliers_reservation e WHERE e.tenant_id = $1 AND e.id = a.reservation_id OFFSET 0) e WHERE a.tenant_id = $1"
    " AND a.status = 'active' UNION ALL SELECT a.*, e.created_at, e.ended_at FROM suppliers_reservation e CROSS JOIN LATERAL"
    " (SELECT * FROM suppliers_allocation a WHERE a.tenant_id = $1 AND a.reservation_id = e.id AND a.status <> 'active' OFFSET 0) a"
    " WHERE e.tenant_id = $1 AND e.ended_at >= (:seen::timestamptz[])[1] AND e.updated_at >= (:seen::timestamptz[])[1]"
)
# What is reserved cannot be sold, from when it was reserved until it is shipped, given back or lapsed; an end to come is as
# now.
_RESERVED: Final = (
    "SELECT v.product_id, v.location_id, v.lot_id, -a.base_quantity AS units,"
    " width_bucket(a.reserved_at, :seen::timestamptz[]) + 1 AS first, least("
    f"CASE WHEN a.status = 'active' THEN {_PLACES} ELSE coalesce(width_bucket(a.ended_at, :seen::timestamptz[]), 0) END,"
    " CASE WHEN a.kind = 'soft' THEN width_bucket(a.expires_at - interval '1 microsecond', :seen::timestamptz[])"
    f" ELSE {_PLACES} END) AS last FROM ({_ALLOCATED}) a CROSS JOIN LATERAL (SELECT * FROM suppliers_stocklevel v"
    f" WHERE v.tenant_id = $1 AND v.id = a.level_id AND {_WITHIN['v']} OFFSET 0) v"
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
# An amount begins to count at `first`, and is taken off behind `last`.
_STEPS: Final = "CROSS JOIN LATERAL (VALUES (x.first, 1), (x.last + 1, -1)) AS s(place, sign)"


def value_sql(group: str, *, days: int | None = None) -> str:
    """Return the statement of the value of stock; with `days`, of lots that expire within so many days of the last one."""
    first, last, lots = "r.first", "least(r.priced, r.last)", ""
    if days is not None:
        lots = f"JOIN {_LOT} AND o.expiry_date IS NOT NULL"
        first = f"greatest({first}, {_FROM_DAY.format(f'o.expiry_date - {days}')})"
        last = f"least({last}, width_bucket(o.expiry_date, :last_days::date[]))"
    # FULL JOIN, COALESCE and OFFSET 0 keep the planner from reading all stock anew for each price.
    return (
        f"WITH {_PRICES}, held AS (SELECT {_GROUPS[group]} AS name, {first} AS first, {last} AS last, r.units, r.price"
        " FROM (SELECT u.*, c.first, c.last AS priced, c.price FROM"
        f" {_UNITS} u FULL JOIN prices c ON c.product_id = u.product_id WHERE coalesce(c.first <= u.last, false) OFFSET 0) r {_PRODUCT} {lots})"
        f" SELECT s.place, x.name, sum(s.sign * x.units * x.price) AS above, NULL AS below FROM held x {_STEPS}"
        " WHERE x.first <= x.last GROUP BY 1, 2"
    )


def cover_sql(group: str) -> str:
    """Return the statement of days of cover: what can be sold, by the mean of what was shipped a day in the 28 days before.

    `above` are 28 times the units that can be sold, `below` those that were shipped.
    """
    sellable = (
        f"SELECT {_GROUPS[group]} AS name, r.first, least(r.last, coalesce(width_bucket(o.expiry_date, :last_days::date[]),"
        f" r.last)) AS last, r.units FROM (SELECT h.product_id, h.location_id, h.lot_id, h.units, 1 AS first, h.last"
        f" FROM {_UNITS} h UNION ALL {_RESERVED}) r {_PRODUCT} LEFT JOIN {_LOT}"
        " LEFT JOIN suppliers_stockplace k ON k.tenant_id = $1 AND k.location_id = r.location_id"
        " WHERE coalesce(k.sellable, true) AND coalesce(o.status, 'released') = 'released'"
    )
    # A shipment counts at the ends behind it, as long as it lies within 28 local days before.
    shipped = (
        "SELECT m.product_id, m.location_id, m.quantity, width_bucket(m.created_at, :ends::timestamptz[]) + 1 AS first,"
        " width_bucket(m.created_at, :since::timestamptz[]) AS last FROM suppliers_stockmovement m WHERE m.tenant_id = $1"
        " AND m.type = 'shipment' AND m.created_at >= (:since::timestamptz[])[1] AND m.created_at < :end::timestamptz"
        f" AND {_WITHIN['m']}"
    )
    return (
        f"SELECT s.place, x.name, sum(28 * s.sign * x.units) AS above, sum(s.sign * x.shipped) AS below FROM ("
        f"SELECT z.*, 0 AS shipped FROM ({sellable}) z UNION ALL"
        f" SELECT {_GROUPS[group]} AS name, r.first, r.last, 0, -r.quantity FROM ({shipped}) r {_PRODUCT}) x {_STEPS}"
        " WHERE x.first <= x.last GROUP BY 1, 2"
    )
