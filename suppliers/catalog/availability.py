"""How much stock of a product there is, and the band of it that is stored with the product.

Rows of inventory and marketplace are read by SQL alone, so that every room that changes what the band depends on can call
`refresh_calls`. Source: contract, supply-shelf.md sections 3 and 4; decision 86.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.conditions import TENANT
from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch
from core.pipeline import Call, Statement

RULE: Final = "availability"


def totals_sql(row: str, at: str = "now()", tenant: str = TENANT) -> str:
    """Write the SELECT of a product's stock over all locations: on_hand, reserved, sellable, thresholds; in base units.

    `row` is the alias of the product. A lot is sold while it still lasts for the product's least remaining shelf life, by the date at its location, the day of
    its expiry included. The zone is looked up only where it could matter: no place is further ahead than the day after that of UTC.
    """
    days = f"coalesce({row}.min_remaining_shelf_life_days, 0)"
    zone = (
        "SELECT coalesce(NULLIF(o.time_zone, ''), n.time_zone) FROM organizations_location o"
        f" JOIN organizations_tenant n ON n.id = o.tenant_id WHERE o.tenant_id = {tenant} AND o.id = v.location_id"
    )
    lapsed = (
        f"SELECT coalesce(sum(a.base_quantity), 0) FROM suppliers_allocation a WHERE a.tenant_id = {tenant}"
        f" AND a.level_id = v.id AND a.status = 'active' AND a.kind = 'soft' AND a.expires_at <= {at}"
    )
    return (
        "SELECT coalesce(sum(v.on_hand), 0)::bigint AS on_hand, coalesce(sum(v.reserved), 0)::bigint AS reserved,"
        " coalesce(sum(CASE WHEN NOT coalesce(s.sellable, true) OR coalesce(l.status <> 'released', false) THEN 0"
        f" WHEN l.expiry_date - {days} <= ({at} AT TIME ZONE 'UTC')::date"
        f" AND l.expiry_date - {days} < ({at} AT TIME ZONE ({zone}))::date THEN 0"
        f" WHEN v.reserved = 0 THEN v.on_hand ELSE v.on_hand - v.reserved + ({lapsed}) END), 0)::bigint AS sellable,"
        " coalesce(sum(v.low_stock_threshold), 0)::bigint AS thresholds"
        " FROM suppliers_stocklevel v"
        f" LEFT JOIN suppliers_stockplace s ON s.tenant_id = v.tenant_id AND s.location_id = v.location_id AND s.tenant_id = {tenant}"
        f" LEFT JOIN suppliers_lot l ON l.tenant_id = v.tenant_id AND l.id = v.lot_id AND l.tenant_id = {tenant}"
        f" WHERE v.tenant_id = {tenant} AND v.product_id = {row}.id"
    )


def _band_sql(row: str, at: str, tenant: str) -> str:
    """Write the SELECT of the band of the product `row`: how its sellable stock stands to a pack and to the thresholds."""
    return (
        "SELECT CASE WHEN x.sellable >= k.units AND x.sellable > x.thresholds THEN 'available'"
        " WHEN x.sellable >= k.units THEN 'limited'"
        f" WHEN EXISTS (SELECT 1 FROM suppliers_offer o WHERE o.tenant_id = {tenant} AND o.product_id = {row}.id"
        " AND o.status = 'published' AND o.stock_policy = 'made_to_order') THEN 'backorder' ELSE 'unavailable' END AS band"
        f" FROM ({totals_sql(row, at, tenant)}) x, (SELECT min(c.units_per_pack) AS units FROM suppliers_packaging c"
        f" WHERE c.tenant_id = {tenant} AND c.product_id = {row}.id AND c.state = 'current' AND c.orderable) k"
    )


_LOCK = Statement.of(
    "SELECT p.id::text FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])"
    " ORDER BY p.id FOR NO KEY UPDATE"
)
# The ids bound q, too: else a plan that joins by hash works the band out for each product of the tenant.
_REFRESH = Statement.of(
    "UPDATE suppliers_product p SET availability = g.band FROM suppliers_product q"
    f" CROSS JOIN LATERAL ({_band_sql('q', '$3::timestamptz', '$1')}) g"
    " WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[]) AND q.tenant_id = $1 AND q.id = ANY($2::uuid[]) AND q.id = p.id"
    " AND p.availability <> g.band"
    " RETURNING p.id::text"
)


def refresh_calls(tenant_id: UUID, products: Collection[UUID], at: datetime) -> list[Call]:
    """Return the statements that write the band of some products where it has changed; version and times stay.

    They come behind all that the transaction changes of stock, packagings and offers, and before counters and facts. The
    products are locked first, by their ids: who comes second sees what the first has changed.
    """
    given = [str(tenant_id), array_literal(sorted(set(products)))]
    return [Call(_LOCK, given), Call(_REFRESH, [*given, at.isoformat()])] if products else []


_AN_HOUR_AGO = "(now() - interval '1 hour')"
_UNLIKE = (
    "SELECT p.id AS row_id, p.availability AS stored, n.band AS found FROM suppliers_product p"
    f" CROSS JOIN LATERAL ({_band_sql('p', 'now()', '%(tenant)s')}) n"
    f" CROSS JOIN LATERAL ({_band_sql('p', _AN_HOUR_AGO, '%(tenant)s')}) b"
    " WHERE p.tenant_id = %(tenant)s AND p.availability NOT IN (n.band, b.band) ORDER BY p.id"
)


class _Unlike(NamedTuple):
    row_id: UUID
    stored: str
    found: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each product whose stored band is neither that of now nor, since time alone changes it too, that of an hour ago."""
    with tenant_context(tenant_id):
        found = fetch(_Unlike, _UNLIKE, {"tenant": tenant_id})
    for one in found:
        what = f"availability is {one.stored}, stock and offers give {one.found}"
        yield Breach(RULE, tenant_id, "suppliers_product", one.row_id, what)
