"""The rules between payments and the amounts of invoices, for `prove_invariants`. Source: contract, supply.md 6 invariant 8."""

from collections.abc import Iterator
from typing import Final, NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE: Final = "payments"

_SUMS = """
SELECT p.id AS row_id, 'is of ' || p.amount || ', its allocations are of ' || coalesce(a.sum, 0) || ', its credit of '
  || coalesce(c.sum, 0) AS what
FROM suppliers_payment p
LEFT JOIN (SELECT x.tenant_id, x.payment_id, sum(x.amount) AS sum FROM suppliers_paymentallocation x
  WHERE x.tenant_id = %(tenant)s GROUP BY x.tenant_id, x.payment_id) a ON a.tenant_id = p.tenant_id AND a.payment_id = p.id
LEFT JOIN (SELECT x.tenant_id, x.payment_id, sum(x.amount) AS sum FROM suppliers_creditsource x
  WHERE x.tenant_id = %(tenant)s GROUP BY x.tenant_id, x.payment_id) c ON c.tenant_id = p.tenant_id AND c.payment_id = p.id
WHERE p.tenant_id = %(tenant)s AND (coalesce(a.sum, 0) <> p.amount
  OR coalesce(c.sum, 0) <> CASE WHEN p.method = 'offset' THEN p.amount ELSE 0 END)
"""
_BALANCES = """
SELECT i.id AS row_id, 'has held, paid and offset ' || i.held_total || ', ' || i.paid_total || ', ' || i.offset_total
  || '; payments say ' || coalesce(a.held, 0) || ', ' || coalesce(a.paid, 0) || ', ' || coalesce(c.used, 0) AS what
FROM suppliers_invoice i
LEFT JOIN (SELECT x.tenant_id, x.invoice_id, sum(x.amount) FILTER (WHERE p.status IN ('pending', 'processing')) AS held,
    sum(x.amount) FILTER (WHERE p.status = 'succeeded') AS paid FROM suppliers_paymentallocation x
  JOIN suppliers_payment p ON p.tenant_id = x.tenant_id AND p.id = x.payment_id AND p.tenant_id = %(tenant)s
  WHERE x.tenant_id = %(tenant)s GROUP BY x.tenant_id, x.invoice_id) a ON a.tenant_id = i.tenant_id AND a.invoice_id = i.id
LEFT JOIN (SELECT x.tenant_id, x.invoice_id, sum(x.amount) AS used FROM suppliers_creditsource x
  JOIN suppliers_payment p ON p.tenant_id = x.tenant_id AND p.id = x.payment_id AND p.tenant_id = %(tenant)s
  WHERE x.tenant_id = %(tenant)s AND p.status = 'succeeded' GROUP BY x.tenant_id, x.invoice_id) c
  ON c.tenant_id = i.tenant_id AND c.invoice_id = i.id
WHERE i.tenant_id = %(tenant)s AND (i.held_total, i.paid_total, i.offset_total) IS DISTINCT FROM
  (coalesce(a.held, 0), coalesce(a.paid, 0), coalesce(c.used, 0))
"""
_STATES = """
SELECT i.id AS row_id, 'is ' || i.status || ' with ' || (i.gross_total - i.credited_total - i.paid_total + i.offset_total)
  || ' due and ' || i.paid_total || ' paid' AS what
FROM suppliers_invoice i
WHERE i.tenant_id = %(tenant)s AND i.gross_total > 0 AND i.status IN ('approved', 'partially_paid', 'paid') AND i.status <>
  CASE WHEN i.gross_total - i.credited_total - i.paid_total + i.offset_total <= 0 THEN 'paid'
       WHEN i.paid_total > 0 THEN 'partially_paid' ELSE 'approved' END
"""
_QUESTIONS: Final = (
    ("suppliers_payment", _SUMS),
    ("suppliers_invoice", _BALANCES),
    ("suppliers_invoice", _STATES),
)


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each row that breaks a rule: sums of payments, and the amounts and states of the invoices that they pay."""
    with tenant_context(tenant_id):
        found = [(table, one) for table, sql in _QUESTIONS for one in fetch(_Found, sql, {"tenant": tenant_id})]
    for table, one in found:
        yield Breach(RULE, tenant_id, table, one.row_id, one.what)
