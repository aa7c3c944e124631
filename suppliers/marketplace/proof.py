"""The rules between products, offers and what the market reads of them, for `prove_invariants`. Source: contract, supply.md 6."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

from . import audiences

RULE = "market"

_OFFERED = """
SELECT p.id AS row_id, 'offered is ' || p.offered AS what FROM suppliers_product p
WHERE p.tenant_id = %(tenant)s AND p.offered <> EXISTS (
  SELECT 1 FROM suppliers_offer o WHERE o.tenant_id = %(tenant)s AND o.product_id = p.id AND o.status = 'published')
"""


def _copy(table: str) -> str:
    return f"""
SELECT c.id AS row_id, 'on_market is ' || c.on_market || ', the product''s ' || p.on_market AS what FROM {table} c
JOIN suppliers_product p ON p.tenant_id = %(tenant)s AND p.id = c.product_id
WHERE c.tenant_id = %(tenant)s AND c.on_market <> p.on_market
"""


_WORDS = """
SELECT coalesce(k.product_id, n.product_id) AS row_id,
       CASE WHEN k.product_id IS NULL THEN 'lacks a term of the market' ELSE 'has a term that is not on the market' END AS what
FROM (SELECT DISTINCT o.audience_id, s.word, o.product_id FROM suppliers_offer o
      JOIN suppliers_product p ON p.tenant_id = %(tenant)s AND p.id = o.product_id AND p.on_market
      CROSS JOIN LATERAL (SELECT '' AS word UNION ALL SELECT w.word FROM suppliers_productword w
                          WHERE w.tenant_id = %(tenant)s AND w.product_id = o.product_id) s
      WHERE o.tenant_id = %(tenant)s AND o.on_market AND o.visibility_mode <> 'private') n
FULL JOIN (SELECT w.audience_id, w.word, w.product_id FROM suppliers_marketword w WHERE w.tenant_id = %(tenant)s) k
  ON k.audience_id = n.audience_id AND k.word = n.word AND k.product_id = n.product_id
WHERE k.product_id IS NULL OR n.product_id IS NULL
"""
_QUESTIONS = (
    ("suppliers_product", _OFFERED),
    ("suppliers_packaging", _copy("suppliers_packaging")),
    ("suppliers_listprice", _copy("suppliers_listprice")),
    ("suppliers_marketword", _WORDS),
)


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each product that the market shows otherwise than its status and its offers say, and each audience that has other members."""
    with tenant_context(tenant_id):
        found = [(table, one) for table, sql in _QUESTIONS for one in fetch(_Found, sql, {"tenant": tenant_id})]
        found += [("suppliers_audience", _Found(one, what)) for one, what in audiences.differences(tenant_id)]
    for table, one in found:
        yield Breach(RULE, tenant_id, table, one.row_id, one.what)
