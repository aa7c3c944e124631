"""What buyers may come to hold: the products that they see in the market. Source: contract, supply-shelf.md "Whose stock"."""

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Statement
from suppliers.inventory.items.offered import SNAPSHOT, Offered, Owner, Questions

from .queries import ACROSS, as_market, seen_by_sql, visible_sql

_OFFERED = Statement.of(
    f"SELECT {SNAPSHOT} AS item FROM suppliers_product p WHERE p.tenant_id = $1 AND p.archived_at IS NULL"
    " AND p.id = ANY(ARRAY(SELECT unnest($2::uuid[]) UNION SELECT k.product_id FROM suppliers_packaging k WHERE k.tenant_id = $1"
    " AND k.gtin = ANY($5::text[]) AND k.state = 'current'))"
    " AND EXISTS (SELECT 1 FROM suppliers_offer o JOIN suppliers_packaging k ON k.tenant_id = $1 AND k.id = o.packaging_id"
    " WHERE o.tenant_id = $1 AND o.product_id = p.id"
    f" AND {seen_by_sql(supplier='$1', buyer='$3', at='$4::timestamptz')})",
    row=Offered,
)
_OWNERS = Statement.of(
    "SELECT p.id AS product_id, p.tenant_id AS supplier_id, n.gtin FROM (SELECT unnest($2::uuid[]) AS id, ''::text AS gtin"
    " UNION ALL SELECT k.product_id, k.gtin::text FROM suppliers_packaging k"
    " WHERE k.on_market AND k.state = 'current' AND k.gtin = ANY($3::text[])) n"
    " JOIN suppliers_product p ON p.id = n.id WHERE p.on_market AND p.archived_at IS NULL"
    " AND EXISTS (SELECT 1 FROM suppliers_offer o JOIN suppliers_packaging k ON k.tenant_id = o.tenant_id AND k.id = o.packaging_id"
    " WHERE o.tenant_id = p.tenant_id AND o.product_id = p.id"
    f" AND {visible_sql(buyer='$1')})",
    row=Owner,
    across=ACROSS,
)


def _offered_call(
    supplier_id: UUID, products: Collection[UUID], gtins: Collection[str], buyer_id: UUID, at: datetime
) -> Call:
    given = [str(supplier_id), array_literal(products), str(buyer_id), at.isoformat(), array_literal(gtins)]
    return Call(_OFFERED, given)


def _owners_calls(buyer_id: UUID, products: Collection[UUID], gtins: Collection[str]) -> list[Call]:
    return as_market([Call(_OWNERS, [str(buyer_id), array_literal(products), array_literal(gtins)])])


QUESTIONS: Final = Questions(_offered_call, _owners_calls)
