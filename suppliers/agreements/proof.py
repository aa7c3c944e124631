"""The rules between versions of agreements and their lines, for `prove_invariants`."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE = "price_agreements"
_DIFFER = """
SELECT a.id AS row_id, 'a line is ' || CASE WHEN a.status = 'active' THEN 'not ' ELSE '' END || 'in force' AS what
FROM suppliers_priceagreement a WHERE a.tenant_id = %(tenant)s AND EXISTS (
  SELECT 1 FROM suppliers_priceagreementline l
  WHERE l.tenant_id = %(tenant)s AND l.agreement_id = a.id AND l.in_force <> (a.status = 'active'))
UNION ALL
SELECT a.id, 'lines_total is ' || a.lines_total FROM suppliers_priceagreement a
WHERE a.tenant_id = %(tenant)s AND a.lines_total <> (
  SELECT count(*) FROM suppliers_priceagreementline l WHERE l.tenant_id = %(tenant)s AND l.agreement_id = a.id)
"""


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each version whose lines hold while it does not, or the other way round, or that counts other lines than it has."""
    with tenant_context(tenant_id):
        found = fetch(_Found, _DIFFER, {"tenant": tenant_id})
    for one in found:
        yield Breach(RULE, tenant_id, "suppliers_priceagreement", one.row_id, one.what)
