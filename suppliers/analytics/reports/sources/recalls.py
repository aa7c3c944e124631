"""The report of recalls: a row for each buyer whom a recall concerns, with what was told and answered.

A recall that had just been issued then names its buyers, though they were listed a moment later (decision 135). A notice that
has changed since the time of the report is read from its times and from the newest answer before.
"""

from typing import Final

from .base import AS_OF, PRODUCT, Column, Source, between, equals, instant, number, text

_CHANGED: Final = f"n.updated_at > {AS_OF}"
_STATUS: Final = (
    f"CASE WHEN NOT p.changed THEN p.status WHEN p.withdrawn_from_at <= {AS_OF} THEN 'withdrawn'"
    " WHEN (a.data ->> 'closed')::boolean THEN 'closed' WHEN a.data IS NOT NULL THEN 'answered'"
    f" WHEN p.told_at <= {AS_OF} THEN 'told' ELSE 'pending' END"
)


def _past(column: str) -> str:
    return f"CASE WHEN {column} <= {AS_OF} THEN {column} END"


def _answer(member: str) -> str:
    return f"CASE WHEN p.changed THEN (a.data ->> '{member}')::bigint ELSE p.{member} END"


RECALL_TRACE: Final = Source(
    columns=(
        Column("recall_id", "p.recall_id"),
        Column("recall_class", "p.recall_class"),
        text("reference", "p.reference"),
        instant("issued_at", "p.issued_at"),
        instant("withdrawn_at", _past("p.withdrawn_at")),
        Column("product_id", "p.product_id"),
        text("supplier_sku", "x.supplier_sku"),
        text("name", "x.name"),
        text("lot_number", "p.lot_number"),
        Column("expiry_date", "p.expiry_date::text"),
        Column("buyer_id", "p.buyer_tenant_id"),
        text("buyer", "o.name"),
        Column("status", _STATUS),
        number("reserved", "p.reserved"),
        number("received", "p.received"),
        instant("told_at", _past("p.told_at")),
        instant("answered_at", "CASE WHEN p.changed THEN a.occurred_at ELSE p.answered_at END"),
        number("quantity_found", _answer("quantity_found")),
        number("quantity_disposed", _answer("quantity_disposed")),
        text("note", f"CASE WHEN NOT p.changed OR p.answered_at <= {AS_OF} THEN p.note END"),
    ),
    page=(
        "SELECT n.id::text AS key, n.id, n.recall_id, n.buyer_tenant_id, n.status, n.reserved, n.received, n.told_at,"
        " n.answered_at, n.quantity_found, n.quantity_disposed, n.note, n.withdrawn_at AS withdrawn_from_at,"
        f" {_CHANGED} AS changed, r.lot_id, r.product_id, r.lot_number, r.expiry_date, r.recall_class, r.reference,"
        " r.issued_at, r.withdrawn_at FROM suppliers_recallnotice n JOIN suppliers_recall r ON r.tenant_id = $1"
        f" AND r.id = n.recall_id WHERE n.tenant_id = $1 AND n.id > $3::uuid"
        f" AND r.issued_at <= {AS_OF} AND {between('r.issued_at')} AND {equals('r.id', 'recall_id', 'uuid')}"
        f" AND {equals('r.lot_id', 'lot_id', 'uuid')} AND {equals('r.product_id', 'product_id', 'uuid')}"
        f" AND {equals('n.buyer_tenant_id', 'buyer_id', 'uuid')} ORDER BY n.id LIMIT $4::bigint"
    ),
    order="p.id",
    rows=(
        f"page p {PRODUCT.format('p')} LEFT JOIN organizations_tenant o ON o.id = p.buyer_tenant_id"
        " LEFT JOIN LATERAL (SELECT f.data, f.occurred_at FROM ledger_event f WHERE p.changed AND f.tenant_id = $1"
        " AND f.resource_id = p.lot_id AND f.type = 'lot.recall_answered' AND f.data ->> 'notice_id' = p.id::text"
        f" AND f.occurred_at <= {AS_OF} ORDER BY f.occurred_at DESC, f.id DESC LIMIT 1) a ON true"
    ),
    row_order="p.id",
)
