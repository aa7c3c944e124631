"""The rules between levels, allocations and reservations, for `prove_invariants`. Source: contract, supply.md section 6."""

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
_QUESTIONS = (
    ("suppliers_stocklevel", _RESERVED),
    ("suppliers_stocklevel", _MOVED),
    ("suppliers_reservation", _HELD),
    ("suppliers_allocation", _ALIKE),
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
