"""The reports of stock: what is on hand by location and lot, and what has moved it.

What was on hand at a time is what is there now without what has moved since. The state of a lot that has changed since is
that of its newest fact before.
"""

from typing import Final

from core.conditions import TENANT
from suppliers.inventory.queries import WITHIN

from .base import AS_OF, LOCATION, NIL, PRODUCT, Column, Source, among, between, equals, given, instant, number, text

_WITHIN: Final = {one: WITHIN.over(one).sql.replace(TENANT, "$1") for one in ("v", "m")}
_HELD: Final = (
    "v.on_hand - coalesce((SELECT sum(m.quantity) FROM suppliers_stockmovement m WHERE m.tenant_id = $1"
    f" AND m.product_id = v.product_id AND m.created_at > {AS_OF} AND m.level_id = v.id), 0)"
)
_LEVELS: Final = (
    f"SELECT v.id::text AS key, v.id, v.product_id, v.location_id, v.lot_id, ({_HELD})::bigint AS held"
    " FROM suppliers_stocklevel v WHERE v.tenant_id = $1 AND v.id > $3::uuid"
    f" AND {equals('v.product_id', 'product_id', 'uuid')} AND {equals('v.location_id', 'location_id', 'uuid')}"
    f" AND {_WITHIN['v']} ORDER BY v.id LIMIT $4::bigint"
)


def _was(member: str, now: str, otherwise: str, cast: str) -> str:
    return (
        f"CASE WHEN l.updated_at <= {AS_OF} OR l.id IS NULL THEN {now} ELSE coalesce((SELECT f.data ->> '{member}'"
        f" FROM ledger_event f WHERE f.tenant_id = $1 AND f.resource_id = l.id AND f.type LIKE 'lot.%'"
        f" AND f.data ? 'status' AND f.occurred_at <= {AS_OF} ORDER BY f.occurred_at DESC, f.id DESC LIMIT 1)::{cast},"
        f" {otherwise}) END"
    )


_EXPIRY: Final = _was("expiry_date", "l.expiry_date", "l.expiry_date", "date")

STOCK: Final = Source(
    columns=(
        Column("level_id", "p.id"),
        Column("product_id", "p.product_id"),
        text("supplier_sku", "x.supplier_sku"),
        text("name", "x.name"),
        text("category", "x.category"),
        text("base_unit", "x.base_unit"),
        Column("location_id", "p.location_id"),
        text("location", "w.name"),
        text("lot_number", "l.lot_number"),
        Column("lot_status", _was("status", "l.status", "'released'", "text")),
        Column("expiry_date", f"({_EXPIRY})::text"),
        number("on_hand", "p.held"),
    ),
    page=_LEVELS,
    order="p.id",
    rows=(
        f"page p {PRODUCT.format('p')} LEFT JOIN suppliers_lot l ON l.tenant_id = $1 AND l.id = p.lot_id"
        f" {LOCATION.format('p')} WHERE p.held <> 0"
        f" AND ({given('expires_before')} IS NULL OR {_EXPIRY} < {given('expires_before', 'date')})"
    ),
    row_order="p.id",
)

_AT: Final = "split_part($3::text, '|', 1)::timestamptz"
MOVEMENTS: Final = Source(
    columns=(
        Column("id", "p.id"),
        instant("at", "p.created_at"),
        Column("type", "p.type"),
        Column("product_id", "p.product_id"),
        text("supplier_sku", "x.supplier_sku"),
        text("name", "x.name"),
        Column("location_id", "p.location_id"),
        text("location", "w.name"),
        text("lot_number", "p.lot_number"),
        number("quantity", "p.quantity"),
        number("balance_after", "p.balance_after"),
        text("reason_code", "p.reason_code"),
        text("reference_type", "p.reference_type"),
        Column("reference_id", "p.reference_id"),
        text("reference", "p.reference_text"),
        text("note", "p.note"),
    ),
    page=(
        "SELECT m.created_at::text || '|' || m.id AS key, m.id, m.created_at, m.type, m.product_id, m.location_id, m.lot_number,"
        " m.quantity, m.balance_after, m.reason_code, m.reference_type, m.reference_id, m.reference_text, m.note"
        f" FROM suppliers_stockmovement m WHERE m.tenant_id = $1 AND m.created_at >= {_AT} AND m.created_at <= {AS_OF}"
        f" AND (m.created_at, m.id) > ({_AT}, split_part($3::text, '|', 2)::uuid) AND {between('m.created_at')}"
        f" AND {equals('m.product_id', 'product_id', 'uuid')} AND {equals('m.location_id', 'location_id', 'uuid')}"
        f" AND {among('m.type', 'movement_type')} AND {_WITHIN['m']} ORDER BY m.created_at, m.id LIMIT $4::bigint"
    ),
    order="p.created_at DESC, p.id",
    rows=f"page p {PRODUCT.format('p')} {LOCATION.format('p')}",
    row_order="p.created_at, p.id",
    first=f"-infinity|{NIL}",
)
