"""The rules between receipts and the counters of deliveries and orders, for `prove_invariants`. Source: contract, supply.md 6."""

from collections.abc import Iterator
from typing import Final, NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE: Final = "receipts"

# A line of a lost delivery counts as short what no receipt speaks of.
_DELIVERED = """
SELECT l.id AS row_id, 'counts ' || l.accepted || ', ' || l.rejected || ', ' || l.short || '; receipts say '
  || coalesce(s.accepted, 0) || ', ' || coalesce(s.rejected, 0) || ', ' || coalesce(s.short, 0) AS what
FROM suppliers_deliveryline l
JOIN suppliers_delivery d ON d.tenant_id = l.tenant_id AND d.id = l.delivery_id AND d.tenant_id = %(tenant)s
LEFT JOIN (SELECT c.tenant_id, c.delivery_line_id, sum(c.accepted * f.sign)::bigint AS accepted,
    sum(c.rejected * f.sign)::bigint AS rejected, sum(c.short * f.sign)::bigint AS short FROM suppliers_receiptline c
  JOIN suppliers_receipt r ON r.tenant_id = c.tenant_id AND r.id = c.receipt_id AND r.tenant_id = %(tenant)s
  CROSS JOIN LATERAL (SELECT CASE WHEN r.reverses_id IS NULL THEN 1 ELSE -1 END AS sign) f
  WHERE c.tenant_id = %(tenant)s GROUP BY c.tenant_id, c.delivery_line_id) s
  ON s.tenant_id = l.tenant_id AND s.delivery_line_id = l.id
WHERE l.tenant_id = %(tenant)s AND (l.accepted, l.rejected, l.short) IS DISTINCT FROM
  (coalesce(s.accepted, 0), coalesce(s.rejected, 0), CASE WHEN d.status = 'lost'
     THEN greatest(l.base_quantity - coalesce(s.accepted, 0) - coalesce(s.rejected, 0), coalesce(s.short, 0))
     ELSE coalesce(s.short, 0) END)
"""
_ORDERED = """
SELECT o.id AS row_id, 'counts ' || o.shipped || ', ' || o.received || ', ' || o.rejected || ', ' || o.short
  || '; deliveries say ' || coalesce(s.shipped, 0) || ', ' || coalesce(s.accepted, 0) || ', ' || coalesce(s.rejected, 0)
  || ', ' || coalesce(s.short, 0) AS what
FROM suppliers_purchaseorderline o
LEFT JOIN (SELECT l.tenant_id, l.order_line_id, sum(l.base_quantity)::bigint AS shipped, sum(l.accepted)::bigint AS accepted,
    sum(l.rejected)::bigint AS rejected, sum(l.short)::bigint AS short, sum(l.tolerance)::bigint AS over
  FROM suppliers_deliveryline l WHERE l.tenant_id = %(tenant)s GROUP BY l.tenant_id, l.order_line_id) s
  ON s.tenant_id = o.tenant_id AND s.order_line_id = o.id
WHERE o.tenant_id = %(tenant)s AND (o.shipped, o.received, o.rejected, o.short, o.over_received) IS DISTINCT FROM
  (coalesce(s.shipped, 0), coalesce(s.accepted, 0), coalesce(s.rejected, 0), coalesce(s.short, 0), coalesce(s.over, 0))
"""
_COMPLETED = """
SELECT d.id AS row_id, 'is ' || d.status || ', lines that are not dealt with: ' || count(l.id) AS what FROM suppliers_delivery d
LEFT JOIN suppliers_deliveryline l ON l.tenant_id = d.tenant_id AND l.delivery_id = d.id AND l.tenant_id = %(tenant)s
  AND l.accepted + l.rejected + l.short < l.base_quantity
WHERE d.tenant_id = %(tenant)s GROUP BY d.tenant_id, d.id, d.status
HAVING d.status IN ('completed', 'lost') AND count(l.id) > 0 OR d.status NOT IN ('completed', 'lost') AND count(l.id) = 0
"""
_MOVED = """
SELECT l.id AS row_id, 'keeps movements of ' || l.kept || ', the ledger has ' || coalesce(sum(m.quantity), 0) AS what FROM
  (SELECT c.tenant_id, c.id, c.receipt_id, (e ->> 'movement_id')::uuid AS movement_id, (e ->> 'quantity')::bigint AS kept
   FROM suppliers_receiptline c CROSS JOIN LATERAL jsonb_array_elements(coalesce(c.stock, '[]')) e WHERE c.tenant_id = %(tenant)s) l
LEFT JOIN suppliers_stockmovement m ON m.tenant_id = l.tenant_id AND m.id = l.movement_id AND m.reference_id = l.receipt_id
  AND m.tenant_id = %(tenant)s
WHERE l.tenant_id = %(tenant)s GROUP BY l.tenant_id, l.id, l.movement_id, l.kept HAVING l.kept <> coalesce(sum(m.quantity), 0)
"""
_QUESTIONS: Final = (
    ("suppliers_deliveryline", _DELIVERED),
    ("suppliers_purchaseorderline", _ORDERED),
    ("suppliers_delivery", _COMPLETED),
    ("suppliers_receiptline", _MOVED),
)


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each row that breaks a rule: counters of lines, states of deliveries, movements of receipts."""
    with tenant_context(tenant_id):
        found = [(table, one) for table, sql in _QUESTIONS for one in fetch(_Found, sql, {"tenant": tenant_id})]
    for table, one in found:
        yield Breach(RULE, tenant_id, table, one.row_id, one.what)
