"""The rules between levels, allocations, reservations, recalls, serials and dispensed lines, for `prove_invariants`. Source: contract, supply.md section 6."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE = "stock"

_RESERVED = """
SELECT v.id AS row_id, 'reserved is ' || v.reserved || ', allocations hold ' || coalesce(sum(a.base_quantity), 0) AS what
FROM suppliers_stocklevel v
LEFT JOIN suppliers_allocation a ON a.tenant_id = v.tenant_id AND a.level_id = v.id AND a.status = 'active' AND a.tenant_id = %(tenant)s
WHERE v.tenant_id = %(tenant)s GROUP BY v.tenant_id, v.id, v.reserved HAVING v.reserved <> coalesce(sum(a.base_quantity), 0)
"""
_HELD = """
SELECT r.id AS row_id, 'holds ' || coalesce(sum(a.base_quantity), 0) || ' of ' || r.base_quantity AS what
FROM suppliers_reservation r
LEFT JOIN suppliers_allocation a ON a.tenant_id = r.tenant_id AND a.reservation_id = r.id AND a.tenant_id = %(tenant)s
WHERE r.tenant_id = %(tenant)s GROUP BY r.tenant_id, r.id, r.base_quantity HAVING r.base_quantity <> coalesce(sum(a.base_quantity), 0)
"""
_ALIKE = """
SELECT a.id AS row_id, 'differs from its reservation' AS what FROM suppliers_allocation a
JOIN suppliers_reservation r ON r.tenant_id = a.tenant_id AND r.id = a.reservation_id AND r.tenant_id = %(tenant)s
WHERE a.tenant_id = %(tenant)s AND (a.kind, a.status, a.expires_at, a.buyer_tenant_id)
  IS DISTINCT FROM (r.kind, r.status, r.expires_at, r.buyer_tenant_id)
"""
_MOVED = """
SELECT v.id AS row_id, 'on_hand is ' || v.on_hand || ', movements sum to ' || coalesce(sum(m.quantity), 0) AS what
FROM suppliers_stocklevel v
LEFT JOIN suppliers_stockmovement m ON m.tenant_id = v.tenant_id AND m.level_id = v.id AND m.tenant_id = %(tenant)s
WHERE v.tenant_id = %(tenant)s GROUP BY v.tenant_id, v.id, v.on_hand HAVING v.on_hand <> coalesce(sum(m.quantity), 0)
"""
_RECALLED = """
SELECT l.id AS row_id, 'is ' || l.status || ', open recalls: ' || count(r.id) AS what FROM suppliers_lot l
LEFT JOIN suppliers_recall r ON r.tenant_id = l.tenant_id AND r.lot_id = l.id AND r.withdrawn_at IS NULL AND r.tenant_id = %(tenant)s
WHERE l.tenant_id = %(tenant)s AND l.origin_tenant_id IS NULL GROUP BY l.tenant_id, l.id, l.status
HAVING (l.status = 'recalled') <> (count(r.id) = 1)
"""
_WALKED = """
SELECT n.id AS row_id, 'is ' || n.status || ', though its recall was walked' AS what FROM suppliers_recallnotice n
JOIN suppliers_recall r ON r.tenant_id = n.tenant_id AND r.id = n.recall_id AND r.tenant_id = %(tenant)s
WHERE n.tenant_id = %(tenant)s AND r.is_walked
  AND (n.status = 'pending' OR r.withdrawn_at IS NOT NULL AND n.status NOT IN ('withdrawn', 'unreachable'))
"""
_VOID = """
SELECT a.id AS row_id, 'holds goods of a lot whose recall was walked' AS what FROM suppliers_recall r
JOIN suppliers_stocklevel v ON v.tenant_id = r.tenant_id AND v.lot_id = r.lot_id AND v.tenant_id = %(tenant)s
JOIN suppliers_allocation a ON a.tenant_id = v.tenant_id AND a.level_id = v.id AND a.tenant_id = %(tenant)s
WHERE r.tenant_id = %(tenant)s AND r.withdrawn_at IS NULL AND r.is_walked AND a.status = 'active'
"""
_NUMBERED = """
SELECT v.id AS row_id, 'on_hand is ' || v.on_hand || ', serial numbers there: ' || count(s.id) AS what
FROM suppliers_stocklevel v
JOIN suppliers_stockitem i ON i.tenant_id = v.tenant_id AND i.id = v.product_id AND i.tenant_id = %(tenant)s
LEFT JOIN suppliers_product p ON p.tenant_id = v.tenant_id AND p.id = i.own_product_id AND p.tenant_id = %(tenant)s
LEFT JOIN suppliers_serial s ON s.tenant_id = v.tenant_id AND s.level_id = v.id AND s.status IN ('in_stock', 'allocated')
  AND s.product_id = v.product_id AND s.lot_id IS NOT DISTINCT FROM v.lot_id AND s.tenant_id = %(tenant)s
WHERE v.tenant_id = %(tenant)s AND coalesce(p.tracking, i.tracking) IN ('serial', 'lot_and_serial')
GROUP BY v.tenant_id, v.id, v.on_hand HAVING v.on_hand <> count(s.id)
"""
_COUNTED = """
SELECT %(tenant)s::uuid AS row_id, 'counted on ' || day || ': ' || sum(counted) || ', movements: ' || sum(moved) AS what FROM (
  SELECT c.day, c.movements AS counted, 0 AS moved FROM suppliers_movementcounter c WHERE c.tenant_id = %(tenant)s
  UNION ALL
  SELECT (m.created_at AT TIME ZONE 'UTC')::date, 0, 1 FROM suppliers_stockmovement m WHERE m.tenant_id = %(tenant)s) d
GROUP BY day HAVING sum(counted) <> sum(moved)
"""
_BY_HOUR = """
WITH known AS (
  SELECT c.day FROM suppliers_movementcounter c WHERE c.tenant_id = %(tenant)s GROUP BY c.tenant_id, c.day
  HAVING sum(c.movements) = sum((SELECT sum(h) FROM unnest(c.hours) h)))
SELECT %(tenant)s::uuid AS row_id, 'counted in hour ' || hour || ' of ' || day || ': ' || sum(counted) || ', movements: '
  || sum(moved) AS what FROM (
  SELECT c.day, u.hour - 1 AS hour, u.counted, 0 AS moved FROM suppliers_movementcounter c
  CROSS JOIN LATERAL unnest(c.hours) WITH ORDINALITY u(counted, hour) WHERE c.tenant_id = %(tenant)s
  UNION ALL
  SELECT (m.created_at AT TIME ZONE 'UTC')::date, extract(hour FROM m.created_at AT TIME ZONE 'UTC')::bigint, 0, 1
  FROM suppliers_stockmovement m WHERE m.tenant_id = %(tenant)s) d
WHERE day IN (SELECT day FROM known) GROUP BY day, hour HAVING sum(counted) <> sum(moved)
"""
_FOLLOWS = """
SELECT l.id AS row_id, 'is ' || l.status || ', open recalls of its origin: ' || count(c.id) AS what FROM suppliers_lot l
LEFT JOIN suppliers_receivedrecall c ON c.tenant_id = l.tenant_id AND c.owner_tenant_id = l.origin_tenant_id
  AND c.lot_id = l.origin_lot_id AND c.status IN ('told', 'answered', 'closed') AND c.tenant_id = %(tenant)s
WHERE l.tenant_id = %(tenant)s AND l.origin_tenant_id IS NOT NULL GROUP BY l.tenant_id, l.id, l.status
HAVING (l.status = 'recalled') <> (count(c.id) > 0)
"""
_ANOTHERS = """
SELECT l.id AS row_id, 'is a recalled lot of another''s product, without its origin' AS what FROM suppliers_lot l
JOIN suppliers_stockitem i ON i.tenant_id = l.tenant_id AND i.id = l.product_id AND i.tenant_id = %(tenant)s
WHERE l.tenant_id = %(tenant)s AND l.status = 'recalled' AND l.origin_tenant_id IS NULL AND i.own_product_id IS NULL
"""
_DISPENSED = """
SELECT b.id AS row_id, 'is ' || b.status || ', movements sum to ' || coalesce(sum(m.quantity), 0) AS what
FROM suppliers_dispensebooking b
LEFT JOIN suppliers_stockmovement m ON m.tenant_id = b.tenant_id AND m.type = 'dispense'
  AND m.reference_id = b.dispensation_id AND m.level_id = b.level_id
  AND (m.id = b.movement_id OR m.reversal_of = b.movement_id) AND m.tenant_id = %(tenant)s
WHERE b.tenant_id = %(tenant)s GROUP BY b.tenant_id, b.id, b.status, b.base_quantity
HAVING coalesce(sum(m.quantity), 0) <> CASE WHEN b.status = 'booked' THEN -b.base_quantity ELSE 0 END
"""
_QUESTIONS = (
    ("suppliers_stocklevel", _RESERVED),
    ("suppliers_stocklevel", _MOVED),
    ("suppliers_reservation", _HELD),
    ("suppliers_allocation", _ALIKE),
    ("suppliers_lot", _RECALLED),
    ("suppliers_recallnotice", _WALKED),
    ("suppliers_allocation", _VOID),
    ("suppliers_stocklevel", _NUMBERED),
    ("suppliers_movementcounter", _COUNTED),
    ("suppliers_movementcounter", _BY_HOUR),
    ("suppliers_lot", _FOLLOWS),
    ("suppliers_lot", _ANOTHERS),
    ("suppliers_dispensebooking", _DISPENSED),
)


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each row that breaks a rule: counters of levels, sums of movements and allocations, allocations out of step."""
    with tenant_context(tenant_id):
        found = [(table, one) for table, sql in _QUESTIONS for one in fetch(_Found, sql, {"tenant": tenant_id})]
    for table, one in found:
        yield Breach(RULE, tenant_id, table, one.row_id, one.what)
