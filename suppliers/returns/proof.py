"""The rules between returns and the counters of deliveries and orders, for `prove_invariants`. Source: contract, supply.md 6."""

from collections.abc import Iterator
from typing import Final, NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE: Final = "returns"

# What was not received back is on no return any more.
_DELIVERED = """
SELECT l.id AS row_id, 'counts ' || l.returned || '; returns say ' || coalesce(s.returned, 0) AS what FROM suppliers_deliveryline l
LEFT JOIN (SELECT r.tenant_id, r.delivery_line_id, sum(r.base_quantity - r.not_received)::bigint AS returned
  FROM suppliers_returnline r JOIN suppliers_return v ON v.tenant_id = r.tenant_id AND v.id = r.document_id
    AND v.tenant_id = %(tenant)s AND v.status NOT IN ('declined', 'cancelled')
  WHERE r.tenant_id = %(tenant)s GROUP BY r.tenant_id, r.delivery_line_id) s
  ON s.tenant_id = l.tenant_id AND s.delivery_line_id = l.id
WHERE l.tenant_id = %(tenant)s AND l.returned <> coalesce(s.returned, 0)
"""
_ORDERED = """
SELECT o.id AS row_id, 'counts ' || o.returned || '; returns say ' || coalesce(s.returned, 0) AS what FROM suppliers_purchaseorderline o
LEFT JOIN (SELECT r.tenant_id, r.order_line_id,
    sum(r.restocked + r.quarantined + r.destroyed + r.to_manufacturer)::bigint AS returned
  FROM suppliers_returnline r WHERE r.tenant_id = %(tenant)s GROUP BY r.tenant_id, r.order_line_id) s
  ON s.tenant_id = o.tenant_id AND s.order_line_id = o.id
WHERE o.tenant_id = %(tenant)s AND o.returned <> coalesce(s.returned, 0)
"""
_INSPECTED = """
SELECT v.id AS row_id, 'is ' || v.status || ', lines that are inspected: ' || count(r.id) || ' of ' || v.lines_total AS what
FROM suppliers_return v LEFT JOIN suppliers_returnline r ON r.tenant_id = v.tenant_id AND r.document_id = v.id
  AND r.tenant_id = %(tenant)s AND r.restocked + r.quarantined + r.destroyed + r.to_manufacturer + r.not_received > 0
WHERE v.tenant_id = %(tenant)s GROUP BY v.tenant_id, v.id, v.status, v.lines_total
HAVING count(r.id) <> CASE WHEN v.status = 'completed' THEN v.lines_total ELSE 0 END
"""
_REPLACED = """
SELECT v.id AS row_id, 'names an order that does not name it' AS what FROM suppliers_return v
WHERE v.tenant_id = %(tenant)s AND v.replacement_order_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM suppliers_purchaseorder o
  WHERE o.tenant_id = %(tenant)s AND o.id = v.replacement_order_id AND o.return_id = v.id)
"""
_REPLACING = """
SELECT o.id AS row_id, 'replaces goods of a return that does not name it' AS what FROM suppliers_purchaseorder o
WHERE o.tenant_id = %(tenant)s AND o.return_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM suppliers_return v
  WHERE v.tenant_id = %(tenant)s AND v.id = o.return_id AND v.replacement_order_id = o.id)
"""
# What replaces or repairs goods costs nothing, and nothing else has its price from a return.
_PRICED = """
SELECT l.id AS row_id, 'has a price of ' || l.unit_price || ' from ' || l.price_source || '; its order '
  || CASE WHEN o.return_id IS NULL THEN 'replaces nothing' ELSE 'replaces goods' END AS what
FROM suppliers_purchaseorderline l
JOIN suppliers_purchaseorder o ON o.tenant_id = l.tenant_id AND o.id = l.order_id AND o.tenant_id = %(tenant)s
WHERE l.tenant_id = %(tenant)s AND CASE WHEN o.return_id IS NULL THEN l.price_source = 'return'
  ELSE (l.price_source, l.price_source_id, l.unit_price, l.net) IS DISTINCT FROM ('return', o.return_id, 0, 0) END
"""
_QUESTIONS: Final = (
    ("suppliers_deliveryline", _DELIVERED),
    ("suppliers_purchaseorderline", _ORDERED),
    ("suppliers_return", _INSPECTED),
    ("suppliers_return", _REPLACED),
    ("suppliers_purchaseorder", _REPLACING),
    ("suppliers_purchaseorderline", _PRICED),
)


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each row that breaks a rule: counters of lines, states of returns, replacements and their prices."""
    with tenant_context(tenant_id):
        found = [(table, one) for table, sql in _QUESTIONS for one in fetch(_Found, sql, {"tenant": tenant_id})]
    for table, one in found:
        yield Breach(RULE, tenant_id, table, one.row_id, one.what)
