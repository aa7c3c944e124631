"""The rules of agreements between rows of several tables, for `prove_invariants`. Source: contract, supply.md 6.

What was taken of a line stays within its cap by a check in the table, and the copies' lines are compared with the owner's,
`consumed` among them, by the proof of received copies. What is left stands here.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch
from core.pipeline import run
from suppliers.company.groups import groups_call, groups_of

from .audience import differences_call
from .following import scoped_of

RULE: Final = "price_agreements"
# Of the buyer's rows: lines hold exactly while their version does, and repeat its header.
_LINES: Final = """
SELECT a.id AS row_id, 'a line is ' || CASE WHEN a.status = 'active' THEN 'not ' ELSE '' END || 'in force' AS what
FROM suppliers_priceagreement a WHERE a.tenant_id = %(tenant)s AND EXISTS (
  SELECT 1 FROM suppliers_priceagreementline l
  WHERE l.tenant_id = %(tenant)s AND l.agreement_id = a.id AND l.in_force <> (a.status = 'active'))
"""
_COUNTS: Final = """
SELECT a.id AS row_id, 'lines_total is ' || a.lines_total AS what FROM suppliers_priceagreement a
WHERE a.tenant_id = %(tenant)s AND a.lines_total <> (
  SELECT count(*) FROM suppliers_priceagreementline l WHERE l.tenant_id = %(tenant)s AND l.agreement_id = a.id)
"""
_HEADERS: Final = """
SELECT l.id AS row_id, 'differs from the header of its version' AS what
FROM suppliers_priceagreementline l JOIN suppliers_priceagreement a ON a.tenant_id = %(tenant)s AND a.id = l.agreement_id
WHERE l.tenant_id = %(tenant)s AND (l.scope_id, l.group_code, l.supplier_tenant_id, l.currency, l.valid_from, l.valid_to)
  IS DISTINCT FROM (a.scope_id, a.group_code, a.supplier_tenant_id, a.currency, a.valid_from,
                    greatest(least(a.valid_to, a.terminates_on), a.valid_from))
"""
_CAPS: Final = """
SELECT l.id AS row_id, l.consumed || ' taken of ' || l.max_quantity AS what FROM suppliers_priceagreementline l
WHERE l.tenant_id = %(tenant)s AND (l.consumed < 0 OR l.consumed > l.max_quantity)
"""
# Of the supplier's rows: who an agreement is for; nobody once its owner's tenant is closed.
_OWN: Final = """
SELECT c.id AS row_id, 'is for its buyer alone, and its audience is not' AS what FROM suppliers_receivedagreement c
JOIN organizations_tenant n ON n.id = c.owner_tenant_id AND n.status <> 'closed'
WHERE c.tenant_id = %(tenant)s AND c.scope = 'tenant' AND c.status IN ('active', 'suspended') AND (
  SELECT coalesce(array_agg((u.member_tenant_id, u.distance)::text), '{}') FROM suppliers_agreementaudience u
  WHERE u.tenant_id = %(tenant)s AND u.agreement_id = c.id) <> ARRAY[(c.owner_tenant_id, 0)::text]
"""
_ENDED: Final = """
SELECT c.id AS row_id, 'has an audience and is ' || c.status || ', its owner is ' || n.status AS what
FROM suppliers_receivedagreement c JOIN organizations_tenant n ON n.id = c.owner_tenant_id
WHERE c.tenant_id = %(tenant)s AND (c.status NOT IN ('active', 'suspended') OR n.status = 'closed') AND EXISTS (
  SELECT 1 FROM suppliers_agreementaudience u WHERE u.tenant_id = %(tenant)s AND u.agreement_id = c.id)
"""
_QUESTIONS: Final = (
    ("suppliers_priceagreement", _LINES),
    ("suppliers_priceagreement", _COUNTS),
    ("suppliers_priceagreementline", _HEADERS),
    ("suppliers_priceagreementline", _CAPS),
    ("suppliers_receivedagreement", _OWN),
    ("suppliers_receivedagreement", _ENDED),
)


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each line that is in force otherwise than its version, and each agreement whose audience is not whom it is for."""
    with tenant_context(tenant_id):
        found = [(table, one) for table, sql in _QUESTIONS for one in fetch(_Found, sql, {"tenant": tenant_id})]
        versions = scoped_of(tenant_id)
        if versions:
            (stored,) = run([groups_call(tenant_id)])
            groups = groups_of(stored)
            counted = run([differences_call(one, groups) for one in versions])
            found += [
                ("suppliers_receivedagreement", _Found(one.version_id, f"has {number} members amiss"))
                for one, rows in zip(versions, counted, strict=True)
                if (number := int(rows.value() or 0))
            ]
    for table, one in found:
        yield Breach(RULE, tenant_id, table, one.row_id, one.what)
