"""What a buyer is told of the stock behind each offer that it sees. Source: contract, supply-shelf.md "Stock availability".

PostgreSQL sums what can be promised; every number then goes through the offer's display. Quantities told are packs.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from core import clock
from core.conditions import TENANT, Condition
from core.pipeline import Call, Rows, Statement
from suppliers.catalog.states import Availability
from suppliers.company.settings import cap_percent, group_percent_sql
from suppliers.marketplace.display import told
from suppliers.marketplace.quantities import Orderable, fitting
from suppliers.marketplace.queries import ACROSS, limit_sql, visible_sql
from suppliers.marketplace.searching import numbered
from suppliers.marketplace.states import StockPolicy
from suppliers.storefront.allocation import Allocation

# OFFSET 0 keeps the order of the offers, so that a page ends where it is full: each one's product is looked up by its key.
# $1 the buyer, $2 the instant, $3 the date that the goods are needed for, $4 the country of delivery. The date is the
# location's where none is given, or one that is over there: `greatest` passes by what is null. OFFSET 0 lets each place and each lot
# be found by its key: plans are made for any supplier, and would look through all of its places for each level. A place is looked
# up once for all levels there.
_PLACE = """
SELECT greatest($3::date, ($2::timestamptz AT TIME ZONE coalesce(NULLIF(z.time_zone, ''), t.time_zone))::date) AS needed,
       coalesce((SELECT s.sellable FROM suppliers_stockplace s WHERE s.tenant_id = z.tenant_id AND s.location_id = z.id), true) AS sells
FROM organizations_location z WHERE z.tenant_id = t.supplier_id AND z.id = d.location_id OFFSET 0
"""
_OF_PRODUCT = "v.tenant_id = t.supplier_id AND v.product_id = t.product_id"
_LEVELS = f"""
SELECT y.on_hand - y.reserved + coalesce(a.lapsed, 0) AS free, coalesce(a.living, 0) AS living, y.low_stock_threshold,
       y.reserved - coalesce(a.lapsed, 0) AS promised, l.expiry_date,
       coalesce(l.status = 'released', true) AND z.sells AND (l.expiry_date IS NULL OR l.expiry_date >= z.needed) AS is_usable,
       l.expiry_date IS NULL OR l.expiry_date - z.needed >= t.days AS lasts
FROM (SELECT DISTINCT v.location_id FROM suppliers_stocklevel v WHERE {_OF_PRODUCT} OFFSET 0) d
CROSS JOIN LATERAL ({_PLACE}) z
CROSS JOIN LATERAL (SELECT v.id, v.tenant_id, v.lot_id, v.on_hand, v.reserved, v.low_stock_threshold FROM suppliers_stocklevel v
  WHERE {_OF_PRODUCT} AND v.location_id = d.location_id OFFSET 0) y
LEFT JOIN LATERAL (SELECT status, expiry_date FROM suppliers_lot WHERE tenant_id = y.tenant_id AND id = y.lot_id OFFSET 0) l ON true
LEFT JOIN LATERAL (
  SELECT sum(h.base_quantity) FILTER (WHERE h.expires_at <= $2) AS lapsed,
         sum(h.base_quantity) FILTER (WHERE h.expires_at > $2) AS living
  FROM suppliers_allocation h
  WHERE h.tenant_id = y.tenant_id AND h.level_id = y.id AND y.reserved > 0 AND h.status = 'active' AND h.kind = 'soft') a ON true
"""
_STOCK = f"""
SELECT coalesce(sum(v.free) FILTER (WHERE v.is_usable AND v.lasts), 0)::bigint AS sellable,
       coalesce(sum(v.free + v.living) FILTER (WHERE v.is_usable), 0)::bigint AS shared,
       coalesce(sum(v.promised), 0)::bigint AS promised,
       coalesce(sum(v.low_stock_threshold) FILTER (WHERE v.is_usable), 0)::bigint AS threshold,
       min(v.expiry_date) FILTER (WHERE v.is_usable AND v.lasts AND v.free > 0)::text AS earliest_expiry,
       max(v.expiry_date) FILTER (WHERE v.is_usable AND v.lasts AND v.free > 0)::text AS latest_expiry
FROM ({_LEVELS}) v
"""
_WALK = "suppliers_offer o"
_LOOK_UP = (
    " CROSS JOIN LATERAL (SELECT * FROM suppliers_offer WHERE tenant_id = ids.tenant_id AND product_id = ids.product_id"
    " AND on_market OFFSET 0) o"
)


def _offers(source: str) -> str:
    """Write the SQL of the offers of a source that the buyer sees."""
    return f"""
SELECT o.id, o.tenant_id AS supplier_id, o.product_id, p.category, k.units_per_pack, o.stock_policy, o.fixed_quantity,
       coalesce(o.min_remaining_shelf_life_days, p.min_remaining_shelf_life_days, 0) AS days, o.stock_display, o.cap,
       greatest(k.min_order_quantity, o.min_order_quantity) AS least, least(k.max_order_quantity, o.max_order_quantity) AS most,
       k.order_increment AS step, coalesce(o.lead_time_days, p.lead_time_days) AS lead_time_days,
       {limit_sql()} AS limit_quantity, o.limit_period_days, o.limit_until,
       (SELECT n.time_zone FROM organizations_tenant n WHERE n.id = o.tenant_id) AS time_zone
FROM {source}
CROSS JOIN LATERAL (SELECT * FROM suppliers_product WHERE tenant_id = o.tenant_id AND id = o.product_id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM suppliers_packaging WHERE tenant_id = o.tenant_id AND id = o.packaging_id OFFSET 0) k
WHERE {visible_sql(buyer="$1", country="$4")}
"""


# What the buyer has reserved of the product, and its reservations of the offer.
_OWN = """
SELECT coalesce(sum((r.representation ->> 'base_quantity')::bigint) FILTER (WHERE r.representation ->> 'kind' = 'soft'), 0)::bigint AS own,
       coalesce(json_agg(r.representation) FILTER (WHERE r.representation ->> 'offer_id' = t.id::text), '[]') AS reservations
FROM suppliers_receivedreservation r
WHERE r.tenant_id = $1 AND r.product_id = t.product_id AND r.owner_tenant_id = t.supplier_id AND r.status = 'active'
  AND (r.expires_at IS NULL OR r.expires_at > $2)
"""
# The packs that the offer's policy lets be promised.
_PACKS = f"""
CASE t.stock_policy WHEN '{StockPolicy.LIVE}' THEN w.sellable / t.units_per_pack
  WHEN '{StockPolicy.FIXED}' THEN greatest(0, t.fixed_quantity - (w.promised + t.units_per_pack - 1) / t.units_per_pack) ELSE 0 END
"""
_STATUS = f"""
CASE WHEN g.packs >= 1 AND (t.stock_policy <> '{StockPolicy.LIVE}' OR w.sellable > w.threshold) THEN '{Availability.AVAILABLE}'
  WHEN g.packs >= 1 THEN '{Availability.LIMITED}'
  WHEN t.stock_policy = '{StockPolicy.MADE_TO_ORDER}' THEN '{Availability.BACKORDER}' ELSE '{Availability.UNAVAILABLE}' END
"""


def _rows(source: str) -> str:
    """Write the SQL of offers with the stock behind each."""
    return f"""
SELECT t.id, t.supplier_id, t.product_id, t.units_per_pack, t.stock_policy, t.stock_display, t.cap, t.least, t.most, t.step,
       t.lead_time_days, t.limit_quantity, t.limit_period_days, t.limit_until::text, g.packs, w.sellable, w.shared, w.earliest_expiry, w.latest_expiry,
       q.status, (f.order_settings ->> 'reservation_cap_percent')::int AS cap_percent,
       {group_percent_sql("t.supplier_id", "$1")} AS group_percent,
       m.own, m.reservations
FROM ({_offers(source)}) t
CROSS JOIN LATERAL ({_STOCK}) w
CROSS JOIN LATERAL (SELECT {_PACKS} AS packs) g
CROSS JOIN LATERAL (SELECT {_STATUS} AS status) q
CROSS JOIN LATERAL ({_OWN}) m
LEFT JOIN suppliers_supplierprofile f ON f.tenant_id = t.supplier_id
"""


class Seen(NamedTuple):
    """An offer with the stock behind it; `packs` is what its policy lets be promised, the other quantities are base units."""

    id: UUID
    supplier_id: UUID
    product_id: UUID
    units_per_pack: int
    stock_policy: str
    stock_display: str
    cap: int | None
    least: int
    most: int | None
    step: int
    lead_time_days: int | None
    limit_quantity: int | None
    limit_period_days: int | None
    limit_until: str | None
    packs: int
    sellable: int
    shared: int
    earliest_expiry: str | None
    latest_expiry: str | None
    status: str
    cap_percent: int | None
    group_percent: int | None
    own: int
    reservations: Any

    @property
    def allocation(self) -> Allocation | None:
        """What the buyer may take in a shortage; None if there is none."""
        if self.limit_quantity is None or self.limit_period_days is None or self.limit_until is None:
            return None
        return Allocation(
            self.id,
            self.supplier_id,
            self.units_per_pack,
            self.limit_quantity,
            self.limit_period_days,
            self.limit_until,
        )


# The usual question, with a name of its own on every connection.
_NAMED_SQL: Final = f"{_rows(_WALK)} WHERE t.product_id = ANY($5::uuid[]) ORDER BY t.product_id, t.id LIMIT $6::bigint"
_NAMED: Final = Statement.of(_NAMED_SQL, row=Seen, across=ACROSS)


class Asked(NamedTuple):
    """What a buyer asks for; `quantity` is packs."""

    at: datetime
    needed_date: date | None = None
    country: str | None = None
    quantity: int | None = None


def offers_call(
    buyer_id: UUID,
    asked: Asked,
    conditions: Sequence[Condition],
    *,
    few: Condition | None = None,
    after: tuple[str, ...] | None,
    limit: int,
) -> Call:
    """Return the statement that reads a page of offers, and one offer beyond it, for the market's role; see `seen_of`.

    It begins at the offers of `few` products (`searching.few_products`), else walks all in their order.
    """
    needed = asked.needed_date.isoformat() if asked.needed_date else None
    parameters: list[str | bytes | None] = [str(buyer_id), asked.at.isoformat(), needed, asked.country]
    source = numbered(few, parameters) + _LOOK_UP if few else _WALK
    where = [numbered(one, parameters) for one in conditions]
    if after is not None:
        where.append(f"(t.product_id, t.id) > (${len(parameters) + 1}::uuid, ${len(parameters) + 2}::uuid)")
        parameters += after
    parameters.append(str(limit + 1))
    sql = f"{_rows(source)}{' WHERE ' + ' AND '.join(where) if where else ''} ORDER BY t.product_id, t.id LIMIT ${len(parameters)}::bigint"
    sql = sql.replace(TENANT, "$1")
    return Call(_NAMED if sql == _NAMED_SQL else Statement.composed(sql, across=ACROSS), parameters)


def seen_of(found: Rows) -> list[Seen]:
    """Return the offers that `offers_call` has read."""
    return found.of(Seen)


def written(seen: Seen, asked: Asked, left: Mapping[UUID, int]) -> bytes:
    """Write what the buyer is told of one offer as JSON; `left` are the packs of offers that are short."""
    allocation = seen.allocation
    return orjson.dumps(
        {
            "product_id": seen.product_id,
            "supplier_id": seen.supplier_id,
            "offer_id": seen.id,
            "status": seen.status,
            **told(seen.packs, display=seen.stock_display, cap=seen.cap),
            "orderable_quantity": _is_orderable(seen, asked.quantity, left.get(seen.id)),
            "earliest_expiry": seen.earliest_expiry,
            "latest_expiry": seen.latest_expiry,
            "incoming": [],
            "lead_time_days": seen.lead_time_days,
            "allocation": allocation.told(left) if allocation else None,
            "as_of": clock.rfc3339(asked.at),
            "reservations": seen.reservations,
        }
    )


def _is_orderable(seen: Seen, quantity: int | None, left: int | None) -> bool | None:
    """Tell whether so many packs can be ordered at once: the quantities fit, the goods are there, within the buyer's share.

    `left` are the packs that an allocation leaves to the buyer; None if there is none.
    """
    if quantity is None:
        return None
    packs = Orderable(seen.least, seen.most, seen.step)
    if fitting(quantity, packs) != quantity or (left is not None and quantity > left):
        return False
    if seen.stock_policy == StockPolicy.MADE_TO_ORDER:
        return True
    if quantity > seen.packs or seen.stock_policy == StockPolicy.FIXED:
        return quantity <= seen.packs
    base = quantity * seen.units_per_pack
    percent = cap_percent(seen.cap_percent, seen.group_percent)
    return bool(seen.own + base <= max(seen.units_per_pack, percent * seen.shared // 100))
