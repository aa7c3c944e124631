"""What buyers may see of products: the marks and search terms by which the market's role reads them.

A product is on the market while it is active and an offer of it is published. Whoever changes one of both, or a text by
which products are found, or who may see an offer, sends these statements in the same transaction. They read what the
transaction has written so far, so they may be sent at any time behind it. `marketplace.proof` recomputes all of it.
Source: contract, supply.md 3.7.
"""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Statement

WHOLE: Final = ""  # the term that each product of an audience has

_LOCK = Statement.of(
    "SELECT p.id::text FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[]) ORDER BY p.id FOR NO KEY UPDATE"
)
_OFFERED = Statement.of(
    "UPDATE suppliers_product p SET offered = g.offered FROM (SELECT n.id, EXISTS (SELECT 1 FROM suppliers_offer o"
    " WHERE o.tenant_id = $1 AND o.product_id = n.id AND o.on_market) AS offered FROM unnest($2::uuid[]) AS n(id)) g"
    " WHERE p.tenant_id = $1 AND p.id = g.id AND p.offered <> g.offered RETURNING p.id::text"
)


def _copy(table: str) -> Statement:
    return Statement.of(
        f"UPDATE {table} c SET on_market = p.on_market FROM suppliers_product p WHERE c.tenant_id = $1 AND p.tenant_id = $1"
        " AND p.id = ANY($2::uuid[]) AND c.product_id = p.id AND c.on_market <> p.on_market RETURNING c.id::text"
    )


_PACKAGINGS, _PRICES = _copy("suppliers_packaging"), _copy("suppliers_listprice")
_SHOWN = "o.on_market AND p.on_market AND o.visibility_mode <> 'private'"
_DROP = Statement.of(
    "DELETE FROM suppliers_marketword w WHERE w.tenant_id = $1 AND w.product_id = ANY($2::uuid[]) AND NOT ("
    "EXISTS (SELECT 1 FROM suppliers_offer o JOIN suppliers_product p ON p.tenant_id = $1 AND p.id = o.product_id"
    f" WHERE o.tenant_id = $1 AND o.product_id = w.product_id AND o.audience_id = w.audience_id AND {_SHOWN})"
    f" AND (w.word = '{WHOLE}' OR EXISTS (SELECT 1 FROM suppliers_productword n WHERE n.tenant_id = $1"
    " AND n.word = w.word AND n.product_id = w.product_id)))"
)
_ADD = Statement.of(
    "INSERT INTO suppliers_marketword (tenant_id, audience_id, word, product_id)"
    " SELECT DISTINCT $1::uuid, o.audience_id, n.word, o.product_id FROM suppliers_offer o"
    " JOIN suppliers_product p ON p.tenant_id = $1 AND p.id = o.product_id"
    f" CROSS JOIN LATERAL (SELECT '{WHOLE}' AS word UNION ALL SELECT w.word FROM suppliers_productword w"
    " WHERE w.tenant_id = $1 AND w.product_id = o.product_id) n"
    f" WHERE o.tenant_id = $1 AND o.product_id = ANY($2::uuid[]) AND {_SHOWN}"
    " ON CONFLICT (tenant_id, audience_id, word, product_id) DO NOTHING RETURNING 1"
)


def market_calls(tenant_id: UUID, products: Collection[UUID]) -> list[Call]:
    """Return the statements that lock products of a tenant and bring all that the market reads of them up to date.

    The locks come first and alone: of two transactions that each hide one of a product's offers, the second sees what
    the first has done.
    """
    if not products:
        return []
    given = [str(tenant_id), array_literal(sorted(products))]
    return [Call(statement, given) for statement in (_LOCK, _OFFERED, _PACKAGINGS, _PRICES, _DROP, _ADD)]
