"""The rule that sums and medians of roll-ups are what was summed up, for `prove_invariants`. Source: contract, supply-invoice.md 6."""

from collections.abc import Iterator
from typing import Final, NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

from .acceptances import SPENT, medians_sql

RULE: Final = "figures"

# Days are compared with the rows up to the last mark, hours with days; each hour lies in 48 sliding days, and each line due in
# one sum for each half hour at which its date ends. A breach names the kind; there is no row to name.
_QUESTION: Final = """
WITH mark AS (SELECT coalesce((SELECT k.upto_id FROM suppliers_rollupmark k WHERE k.tenant_id = %(tenant)s
    ORDER BY k.upto_id DESC LIMIT 1), '00000000-0000-0000-0000-000000000000'::uuid) AS id),
days AS (SELECT f.kind, sum(f.entries) AS entries, sum(f.quantity) AS quantity, sum(f.base) AS base, sum(f.net) AS net
  FROM suppliers_rollupsum f WHERE f.tenant_id = %(tenant)s AND f.span = 'day' AND f.grouping = '' GROUP BY f.tenant_id, f.kind),
hours AS (SELECT f.kind, sum(f.entries) AS entries, sum(f.quantity) AS quantity, sum(f.base) AS base, sum(f.net) AS net
  FROM suppliers_rollupsum f WHERE f.tenant_id = %(tenant)s AND f.span = 'hour' AND f.grouping = '' GROUP BY f.tenant_id, f.kind),
sliding AS (SELECT f.kind, sum(f.entries) AS entries, sum(f.quantity) AS quantity, sum(f.base) AS base, sum(f.net) AS net
  FROM suppliers_rollupsum f WHERE f.tenant_id = %(tenant)s AND f.span = 'sliding' GROUP BY f.tenant_id, f.kind),
whole AS (SELECT g.slot, sum(f.entries) AS entries, sum(f.quantity) AS quantity, sum(f.base) AS base,
  coalesce(sum(f.entries) FILTER (WHERE f.whole_at < f.start + interval '1 day' + g.slot * interval '30 minutes'), 0) AS in_time
  FROM suppliers_rollupsum f CROSS JOIN generate_series(-28, 24) AS g(slot) WHERE f.tenant_id = %(tenant)s AND f.kind = 'due'
  AND f.span = 'day' AND f.grouping = '' GROUP BY f.tenant_id, g.slot),
due AS (SELECT f.slot, sum(f.entries) AS entries, sum(f.quantity) AS quantity, sum(f.base) AS base, sum(f.in_time) AS in_time
  FROM suppliers_dueday f WHERE f.tenant_id = %(tenant)s GROUP BY f.tenant_id, f.slot),
kept AS (SELECT r.kind, sum(r.entries) AS entries, sum(r.quantity) AS quantity, sum(r.base) AS base, sum(r.net) AS net
  FROM suppliers_rollup r WHERE r.tenant_id = %(tenant)s AND r.kind <> 'accepted' AND r.id <= (SELECT m.id FROM mark m)
  GROUP BY r.tenant_id, r.kind)
SELECT coalesce(r.kind, d.kind) AS kind, 'days say ' || coalesce(d.entries, 0) || ', ' || coalesce(d.quantity, 0) || ', '
  || coalesce(d.base, 0) || ', ' || coalesce(d.net, 0) || '; rows say ' || coalesce(r.entries, 0) || ', '
  || coalesce(r.quantity, 0) || ', ' || coalesce(r.base, 0) || ', ' || coalesce(r.net, 0) AS what
FROM kept r FULL JOIN days d ON d.kind = r.kind WHERE (coalesce(d.entries, 0), coalesce(d.quantity, 0), coalesce(d.base, 0),
  coalesce(d.net, 0)) <> (coalesce(r.entries, 0), coalesce(r.quantity, 0), coalesce(r.base, 0), coalesce(r.net, 0))
UNION ALL SELECT d.kind, 'days and hours differ' FROM days d LEFT JOIN hours h ON h.kind = d.kind WHERE d.kind <> 'due'
  AND (d.entries, d.quantity, d.base, d.net) <> (coalesce(h.entries, 0), coalesce(h.quantity, 0), coalesce(h.base, 0),
  coalesce(h.net, 0))
UNION ALL SELECT d.kind, 'days and sliding days differ' FROM days d LEFT JOIN sliding g ON g.kind = d.kind WHERE d.kind <> 'due'
  AND (48 * d.entries, 48 * d.quantity, 48 * d.base, 48 * d.net) <> (coalesce(g.entries, 0), coalesce(g.quantity, 0),
  coalesce(g.base, 0), coalesce(g.net, 0))
UNION ALL SELECT 'due', 'sums of days and those of when they end differ in ' || count(*) || ' of 53' FROM whole w
  FULL JOIN due u ON u.slot = w.slot WHERE (coalesce(w.entries, 0), coalesce(w.quantity, 0), coalesce(w.base, 0), coalesce(w.in_time, 0))
  <> (coalesce(u.entries, 0), coalesce(u.quantity, 0), coalesce(u.base, 0), coalesce(u.in_time, 0)) HAVING count(*) > 0
"""
_TENANT: Final = "%(tenant)s"
_UPTO: Final = f"(SELECT max(m.upto_id::text)::uuid FROM suppliers_acceptancemark m WHERE m.tenant_id = {_TENANT})"
_ORDERS: Final = (
    f"(SELECT {SPENT} FROM suppliers_rollup k CROSS JOIN mark m WHERE k.tenant_id = {_TENANT} AND k.kind = 'accepted' AND k.id <= m.id"
    " GROUP BY k.tenant_id, 1, 2, 3 HAVING sum(k.entries) > 0)"
)
# Every day that holds an acceptance up to the last mark of medians is found anew.
_MEDIANS: Final = f"""
WITH mark AS MATERIALIZED (SELECT {_UPTO} AS id), kept AS (
  SELECT k.slot, k.start, k.currency, sum(k.orders) AS orders, sum(k.spent) AS spent FROM suppliers_acceptanceday k
  WHERE k.tenant_id = {_TENANT} GROUP BY k.tenant_id, 1, 2, 3 HAVING sum(k.orders) <> 0 OR sum(k.spent) <> 0),
found AS ({medians_sql(_ORDERS)})
SELECT 'accepted' AS kind, 'medians of days are not those of the rows in ' || count(*) || ' days' AS what
FROM found f FULL JOIN kept k ON k.slot = f.slot AND k.start = f.start AND k.currency = f.currency
WHERE coalesce(f.orders, 0) <> coalesce(k.orders, 0) OR coalesce(f.spent, 0) <> coalesce(k.spent, 0) HAVING count(*) > 0
"""


class _Differing(NamedTuple):
    """A kind of roll-ups whose sums or medians are not what was summed up."""

    kind: str
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield the kinds of roll-ups whose sums or medians are not what was summed up."""
    with tenant_context(tenant_id):
        found = [
            row for question in (_QUESTION, _MEDIANS) for row in fetch(_Differing, question, {"tenant": tenant_id})
        ]
    for one in found:
        yield Breach(RULE, tenant_id, "suppliers_rollupsum", tenant_id, f"{one.kind}: {one.what}")
