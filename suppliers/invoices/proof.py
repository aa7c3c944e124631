"""The rules between invoices, credit notes and what the lines of orders count, for `prove_invariants`.

Source: contract, supply.md 6 invariants 7 and 8, supply-invoice.md 2; decision 112.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE: Final = "invoices"

_LIVE: Final = "i.type <> 'credit_note' AND i.status NOT IN ('rejected', 'cancelled')"
_DUE: Final = "i.gross_total - i.credited_total - i.paid_total + i.offset_total"
_INVOICED = f"""
SELECT o.id AS row_id, 'counts ' || o.invoiced || '; invoices less credits say ' || coalesce(s.invoiced, 0) AS what
FROM suppliers_purchaseorderline o
LEFT JOIN (SELECT l.tenant_id, l.order_line_id, sum(l.base_quantity - l.credited)::bigint AS invoiced FROM suppliers_invoiceline l
  JOIN suppliers_invoice i ON i.tenant_id = l.tenant_id AND i.id = l.invoice_id AND i.tenant_id = %(tenant)s AND {_LIVE}
  WHERE l.tenant_id = %(tenant)s GROUP BY l.tenant_id, l.order_line_id) s
  ON s.tenant_id = o.tenant_id AND s.order_line_id = o.id
WHERE o.tenant_id = %(tenant)s AND o.invoiced <> coalesce(s.invoiced, 0)
"""
_BILLED = f"""
SELECT q.id AS row_id, 'is ' || q.billing_status || '; its lines and invoices say ' || q.derived AS what FROM
  (SELECT o.id, o.billing_status, CASE WHEN NOT bool_or(l.invoiced > 0) THEN 'not_invoiced'
      WHEN bool_or(l.invoiced < l.ordered - l.cancelled - l.returned) THEN 'partially_invoiced'
      WHEN EXISTS (SELECT 1 FROM suppliers_invoice i WHERE i.tenant_id = %(tenant)s AND i.order_id = o.id AND {_LIVE}
        AND NOT (i.status IN ('approved', 'partially_paid', 'paid') AND {_DUE} <= 0)) THEN 'invoiced' ELSE 'paid' END AS derived
    FROM suppliers_purchaseorder o
    JOIN suppliers_purchaseorderline l ON l.tenant_id = o.tenant_id AND l.order_id = o.id AND l.tenant_id = %(tenant)s
    WHERE o.tenant_id = %(tenant)s GROUP BY o.tenant_id, o.id, o.billing_status) q
WHERE q.billing_status <> q.derived
"""
# The note that takes the last of the net takes the last of the gross, rounded tax included, where all are taxed as the invoice is.
# An allowance of goods that came back may stand in another group of tax; what rounding has made too much counts no more.
_UNROUNDED: Final = (
    "(SELECT sum((t->>'net')::numeric * (t->>'tax_rate')::numeric) FROM jsonb_array_elements({0}.taxes) t)"
)
_CREDITED = f"""
SELECT i.id AS row_id, 'counts ' || i.credited_total || ' of ' || i.gross_total || ' as credited; its credit notes come to '
  || coalesce(n.gross, 0) AS what
FROM suppliers_invoice i
LEFT JOIN (SELECT c.tenant_id, c.original_id, sum(c.gross_total) AS gross, sum(c.net_total) AS net,
    coalesce(sum({_UNROUNDED.format("c")}), 0) AS tax, bool_or(c.return_id IS NOT NULL) AS has_return
  FROM suppliers_invoice c
  WHERE c.tenant_id = %(tenant)s AND c.original_id IS NOT NULL GROUP BY c.tenant_id, c.original_id) n
  ON n.tenant_id = i.tenant_id AND n.original_id = i.id
CROSS JOIN LATERAL (SELECT n.net = i.net_total AS whole, n.tax = coalesce({_UNROUNDED.format("i")}, 0) AS alike) h
WHERE i.tenant_id = %(tenant)s AND NOT coalesce(h.whole AND (h.alike OR n.has_return) AND i.credited_total = i.gross_total, false)
  AND (coalesce(h.whole AND h.alike, false) OR i.credited_total <> least(i.gross_total, coalesce(n.gross, 0)))
"""
_CREDITED_LINES = """
SELECT k.invoice_id AS row_id, 'counts for a line of the order ' || k.units || ' units and ' || k.net
  || ' as credited; its credit notes say ' || coalesce(n.units, 0) || ' and ' || coalesce(n.net, 0) AS what
FROM (SELECT l.tenant_id, l.invoice_id, l.order_line_id, sum(l.credited)::bigint AS units, sum(l.credited_net) AS net
  FROM suppliers_invoiceline l WHERE l.tenant_id = %(tenant)s GROUP BY l.tenant_id, l.invoice_id, l.order_line_id) k
LEFT JOIN (SELECT c.tenant_id, c.original_id, l.order_line_id, coalesce(sum(l.base_quantity) FILTER (WHERE l.frees), 0)::bigint AS units,
    sum(l.net) AS net FROM suppliers_invoiceline l
  JOIN suppliers_invoice c ON c.tenant_id = l.tenant_id AND c.id = l.invoice_id AND c.tenant_id = %(tenant)s
    AND c.original_id IS NOT NULL
  WHERE l.tenant_id = %(tenant)s GROUP BY c.tenant_id, c.original_id, l.order_line_id) n
  ON n.tenant_id = k.tenant_id AND n.original_id = k.invoice_id AND n.order_line_id = k.order_line_id
WHERE (k.units, k.net) IS DISTINCT FROM (coalesce(n.units, 0), coalesce(n.net, 0))
"""
_MATCHED = """
SELECT i.id AS row_id, 'is ' || i.status || ', its match ' || i.match_status || ', lines that are not right: '
  || count(l.id) FILTER (WHERE l.result <> 'ok') AS what
FROM suppliers_invoice i JOIN suppliers_invoiceline l ON l.tenant_id = i.tenant_id AND l.invoice_id = i.id AND l.tenant_id = %(tenant)s
WHERE i.tenant_id = %(tenant)s AND i.match_status <> '' GROUP BY i.tenant_id, i.id, i.status, i.match_status
HAVING (i.match_status = 'matched') <> bool_and(l.result = 'ok')
  OR i.status IN ('matched', 'mismatched') AND i.status <> i.match_status
"""
_TOTALS = """
SELECT i.id AS row_id, 'has ' || i.lines_total || ' lines; ' || count(l.id) || ' are there' AS what
FROM suppliers_invoice i LEFT JOIN suppliers_invoiceline l ON l.tenant_id = i.tenant_id AND l.invoice_id = i.id
  AND l.tenant_id = %(tenant)s
WHERE i.tenant_id = %(tenant)s GROUP BY i.tenant_id, i.id, i.lines_total HAVING count(l.id) <> i.lines_total
"""
_QUESTIONS: Final = (
    ("suppliers_purchaseorderline", _INVOICED),
    ("suppliers_purchaseorder", _BILLED),
    ("suppliers_invoice", _CREDITED),
    ("suppliers_invoice", _CREDITED_LINES),
    ("suppliers_invoice", _MATCHED),
    ("suppliers_invoice", _TOTALS),
)


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each row that breaks a rule: counters of lines, bills of orders, credits, matches, numbers of lines."""
    with tenant_context(tenant_id):
        found = [(table, one) for table, sql in _QUESTIONS for one in fetch(_Found, sql, {"tenant": tenant_id})]
    for table, one in found:
        yield Breach(RULE, tenant_id, table, one.row_id, one.what)
