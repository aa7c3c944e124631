"""The rules between budgets and their entries, for `prove_invariants`. Source: contract, supply.md 6, invariant 10."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE = "budgets"

_SUMS = """
SELECT b.id AS row_id, 'committed is ' || b.committed || ' and spent ' || b.spent || ', entries sum to '
  || coalesce(sum(e.committed), 0) || ' and ' || coalesce(sum(e.spent), 0) AS what
FROM procurement_budget b
LEFT JOIN procurement_budgetentry e ON e.tenant_id = b.tenant_id AND e.budget_id = b.id AND e.tenant_id = %(tenant)s
WHERE b.tenant_id = %(tenant)s GROUP BY b.tenant_id, b.id, b.committed, b.spent
HAVING (b.committed, b.spent) <> (coalesce(sum(e.committed), 0), coalesce(sum(e.spent), 0))
"""
_EXCEEDED = """
SELECT b.id AS row_id, b.committed + b.spent || ' of ' || b.amount || ' is used' AS what FROM procurement_budget b
WHERE b.tenant_id = %(tenant)s AND b.enforcement = 'hard' AND b.committed + b.spent > b.amount
"""


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each budget that counts other amounts than its entries, or that is hard and exceeded."""
    with tenant_context(tenant_id):
        found = [one for sql in (_SUMS, _EXCEEDED) for one in fetch(_Found, sql, {"tenant": tenant_id})]
    for one in found:
        yield Breach(RULE, tenant_id, "procurement_budget", one.row_id, one.what)
