"""The rules between promotions and what documents hold of them, for `prove_invariants`. Source: contract, supply.md 6."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE = "promotions"
_COUNTED = """
SELECT p.id AS row_id, 'redemptions are ' || p.redemptions || ' of ' || coalesce(h.redemptions, 0)
  || ', spent is ' || p.spent || ' of ' || coalesce(h.spent, 0) AS what
FROM suppliers_promotion p LEFT JOIN (
  SELECT r.promotion_id, count(*) AS redemptions, coalesce(sum(r.amount) FILTER (WHERE r.currency = o.budget_currency), 0) AS spent
  FROM suppliers_promotionredemption r
  JOIN suppliers_promotion o ON o.tenant_id = %(tenant)s AND o.id = r.promotion_id
  WHERE r.tenant_id = %(tenant)s AND r.given_back_at IS NULL GROUP BY r.tenant_id, r.promotion_id) h ON h.promotion_id = p.id
WHERE p.tenant_id = %(tenant)s AND (p.redemptions <> coalesce(h.redemptions, 0) OR p.spent <> coalesce(h.spent, 0))
"""
_OF_BUYERS = """
SELECT coalesce(b.promotion_id, h.promotion_id) AS row_id, 'a buyer''s redemptions are ' || coalesce(b.redemptions, 0)
  || ' of ' || coalesce(h.redemptions, 0) AS what
FROM (SELECT k.promotion_id, k.buyer_tenant_id, k.redemptions FROM suppliers_promotionbuyer k WHERE k.tenant_id = %(tenant)s) b
FULL JOIN (SELECT r.promotion_id, r.buyer_tenant_id, count(*) AS redemptions FROM suppliers_promotionredemption r
  WHERE r.tenant_id = %(tenant)s AND r.given_back_at IS NULL GROUP BY r.tenant_id, r.promotion_id, r.buyer_tenant_id) h
  ON h.promotion_id = b.promotion_id AND h.buyer_tenant_id = b.buyer_tenant_id
WHERE coalesce(b.redemptions, 0) <> coalesce(h.redemptions, 0)
"""
_QUESTIONS = (("suppliers_promotion", _COUNTED), ("suppliers_promotionbuyer", _OF_BUYERS))


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each promotion, and each buyer's count of one, that counts otherwise than the documents hold of it."""
    with tenant_context(tenant_id):
        found = [(table, one) for table, sql in _QUESTIONS for one in fetch(_Found, sql, {"tenant": tenant_id})]
    for table, one in found:
        yield Breach(RULE, tenant_id, table, one.row_id, one.what)
