"""The rules between pending orders and the steps that they wait at, for `prove_invariants`."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE = "approvals"

_STEPS = """
SELECT t.id AS row_id, 'it is ' || t.status || ' for "' || t.approval_for || '", its step is for "' || coalesce(s.approval_for, '')
  || '"' AS what
FROM suppliers_purchaseorder t
LEFT JOIN procurement_approvalstep s ON s.tenant_id = t.tenant_id AND s.order_id = t.id AND s.tenant_id = %(tenant)s
WHERE t.tenant_id = %(tenant)s AND t.approval_for <> coalesce(s.approval_for, '')
"""
_AUTHORS = """
SELECT t.id AS row_id, 'an author has decided it' AS what FROM suppliers_purchaseorder t
JOIN procurement_approval a ON a.tenant_id = t.tenant_id AND a.order_id = t.id AND a.revision = t.revision
  AND a.tenant_id = %(tenant)s
WHERE t.tenant_id = %(tenant)s AND (t.authors ? a.approver_id::text OR t.authors ? a.delegated_by_id::text)
"""


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each order whose step is not what it is pending for, and each that one of its authors has decided."""
    with tenant_context(tenant_id):
        found = [one for sql in (_STEPS, _AUTHORS) for one in fetch(_Found, sql, {"tenant": tenant_id})]
    for one in found:
        yield Breach(RULE, tenant_id, "suppliers_purchaseorder", one.row_id, one.what)
