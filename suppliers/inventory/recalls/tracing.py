"""Whom a recall concerns and what became of each: the preview before it is issued, and the trace afterwards."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from core.pipeline import Call, Statement, run

from .buyers import Concerned, concerned


class Stock(NamedTuple):
    """What is on hand of a lot, and reserved of it; base units."""

    supplier_sku: str
    on_hand: int
    reserved: int


class Preview(NamedTuple):
    """What a recall of a lot would concern."""

    stock: Stock
    buyers: Sequence[Concerned]


class Traced(NamedTuple):
    """One buyer whom a recall concerns, and its answer; base units."""

    buyer_tenant_id: UUID
    name: str
    status: str
    reserved: int
    received: int
    told_at: datetime | None
    answered_at: datetime | None
    quantity_found: int | None
    quantity_disposed: int | None
    note: str


_STOCK = Statement.of(
    "SELECT p.supplier_sku, coalesce(sum(v.on_hand), 0)::bigint AS on_hand, coalesce(sum(v.reserved), 0)::bigint AS reserved"
    " FROM suppliers_lot l JOIN suppliers_product p ON p.tenant_id = l.tenant_id AND p.id = l.product_id AND p.tenant_id = $1"
    " LEFT JOIN suppliers_stocklevel v ON v.tenant_id = l.tenant_id AND v.product_id = l.product_id AND v.lot_id = l.id"
    " AND v.tenant_id = $1"
    " WHERE l.tenant_id = $1 AND l.id = $2 GROUP BY l.tenant_id, p.supplier_sku",
    row=Stock,
)
_TRACE = Statement.of(
    "SELECT n.buyer_tenant_id, o.name, n.status, n.reserved, n.received, n.told_at, n.answered_at, n.quantity_found,"
    " n.quantity_disposed, n.note FROM suppliers_recallnotice n JOIN organizations_tenant o ON o.id = n.buyer_tenant_id"
    " WHERE n.tenant_id = $1 AND n.recall_id = $2 ORDER BY o.name, n.id",
    row=Traced,
)


def preview(tenant_id: UUID, lot_id: UUID) -> Preview:
    """Return what a recall of a lot of the bound tenant would concern; nothing is changed."""
    (found,) = run([Call(_STOCK, [str(tenant_id), str(lot_id)])])
    return Preview(found.of(Stock)[0], concerned(tenant_id, lot_id))


def trace(tenant_id: UUID, recall_id: UUID) -> list[Traced]:
    """Return the buyers whom a recall of the bound tenant concerns, by name."""
    (found,) = run([Call(_TRACE, [str(tenant_id), str(recall_id)])])
    return found.of(Traced)
