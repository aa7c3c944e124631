"""Medians of acceptance are kept for the days of all zones, so that a year of days reads one number a day, whatever the orders.

A median is no sum: it is found anew for each day that a batch touches, out of all its orders up to there, and the difference to what
was kept is a further row. Rows of roll-ups stay as they are; the medians have marks of their own.
"""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.pipeline import Call, Statement, run

BATCH: Final = 2_000
_ZERO: Final = "'00000000-0000-0000-0000-000000000000'::uuid"
_ORIGIN: Final = "'2000-01-01 00:00:00+00'"
# Up to where medians are kept. One value to the planner, as that of the sums.
MARK: Final = (
    "(SELECT coalesce((SELECT k.upto_id FROM suppliers_acceptancemark k WHERE k.tenant_id = $1 ORDER BY k.upto_id DESC LIMIT 1),"
    f" {_ZERO}))"
)
# Which quarter of an hour of the day of UTC an instant is in.
_SLOT: Final = f"(extract(epoch FROM {{0}} - date_bin('1 day', {{0}}, {_ORIGIN}))::int / 900)"
# Days begin at a half hour of UTC, but for those of the Chatham Islands, of Eucla and of Nepal: 10:15 and 11:15, 15:15, 18:15.
ODD_SLOTS: Final = (41, 45, 61, 73)
_IS_KEPT: Final = f"(mod({{0}}, 2) = 0 OR {{0}} IN ({', '.join(map(str, ODD_SLOTS))}))"
# The begins of the days of which medians are kept that hold the quarter of an hour of `o`.
_DAYS: Final = (
    "CROSS JOIN LATERAL (SELECT g.start FROM generate_series(o.bucket - interval '23 hours 45 minutes', o.bucket,"
    f" interval '15 minutes') AS g(start) WHERE {_IS_KEPT.format(_SLOT.format('g.start'))}) d"
)
# How long an order took that was accepted in a quarter of an hour.
SPENT: Final = "k.bucket, k.document_id, k.currency, sum(k.quantity) AS spent"


def medians_sql(orders: str, chosen: str = "true") -> str:
    """Return the SELECT of the medians of the days of `orders`, a FROM; `chosen` is a condition over their begins `d.start`.

    There is one of each currency, and one of all together where there are several. `spent` is twice the median, in milliseconds: a
    whole number.
    """
    return (
        f"SELECT {_SLOT.format('d.start')} AS slot, d.start, coalesce(o.currency, '') AS currency, count(*) AS orders,"
        " (2 * percentile_cont(0.5) WITHIN GROUP (ORDER BY o.spent))::bigint AS spent"
        f" FROM {orders} o {_DAYS} WHERE {chosen} GROUP BY GROUPING SETS ((d.start, o.currency), (d.start))"
        " HAVING grouping(o.currency) = 0 OR min(o.currency) <> max(o.currency)"
    )


class Batch(NamedTuple):
    """The acceptances behind the last mark: where the batch ends, and how many there are."""

    after: UUID
    upto: UUID
    rows: int


# Medians follow the sums: up to their last mark all rows are committed.
_NEXT = Statement.of(
    f"SELECT z.after, CASE WHEN count(r.id) < {BATCH} THEN z.upto ELSE (array_agg(r.id ORDER BY r.id DESC))[1] END AS upto,"
    " count(r.id) AS rows FROM (SELECT (SELECT k.upto_id FROM suppliers_rollupmark k WHERE k.tenant_id = $1"
    f" ORDER BY k.upto_id DESC LIMIT 1) AS upto, {MARK} AS after) z LEFT JOIN LATERAL (SELECT r.id FROM suppliers_rollup r"
    f" WHERE r.tenant_id = $1 AND r.kind = 'accepted' AND r.id > z.after AND r.id <= z.upto ORDER BY r.id LIMIT {BATCH}) r ON true"
    " WHERE z.upto > z.after GROUP BY z.after, z.upto",
    row=Batch,
)
_KEEP = Statement.of(
    f"""
WITH mark AS (
  INSERT INTO suppliers_acceptancemark (id, tenant_id, after_id, upto_id, rows, created_at)
  VALUES (uuidv7(), $1::uuid, $2::uuid, $3::uuid, $4::bigint, $5::timestamptz) ON CONFLICT DO NOTHING RETURNING upto_id),
batch AS MATERIALIZED (SELECT DISTINCT r.bucket FROM suppliers_rollup r
  WHERE r.tenant_id = $1 AND r.kind = 'accepted' AND r.id > $2::uuid AND r.id <= $3::uuid),
touched AS MATERIALIZED (SELECT DISTINCT d.start FROM batch o {_DAYS}),
orders AS MATERIALIZED (SELECT r.* FROM (SELECT DISTINCT date_bin('1 day', b.bucket, {_ORIGIN}) + n * interval '1 day' AS start
    FROM batch b CROSS JOIN generate_series(-1, 1) AS n) b
  CROSS JOIN LATERAL (SELECT {SPENT} FROM suppliers_rollup k WHERE k.tenant_id = $1 AND k.kind = 'accepted' AND k.bucket >= b.start
    AND k.bucket < b.start + interval '1 day' AND k.id <= $3::uuid GROUP BY k.tenant_id, 1, 2, 3 HAVING sum(k.entries) > 0 OFFSET 0) r),
found AS ({medians_sql("orders", "(d.start IN (SELECT t.start FROM touched t)) IS TRUE")})
INSERT INTO suppliers_acceptanceday (id, tenant_id, slot, start, currency, orders, spent)
SELECT uuidv7(), $1::uuid, z.slot, z.start, z.currency, sum(z.orders), sum(z.spent) FROM (SELECT * FROM found
  UNION ALL SELECT k.slot, k.start, k.currency, -k.orders, -k.spent FROM touched t CROSS JOIN LATERAL (
    SELECT * FROM suppliers_acceptanceday k WHERE k.tenant_id = $1 AND k.slot = {_SLOT.format("t.start")} AND k.start = t.start
    OFFSET 0) k) z
WHERE EXISTS (SELECT 1 FROM mark) GROUP BY z.slot, z.start, z.currency HAVING sum(z.orders) <> 0 OR sum(z.spent) <> 0
ORDER BY z.slot, z.start, z.currency RETURNING 1
"""
)


def keep_medians(tenant_id: UUID, at: datetime) -> int:
    """Keep the medians of the days that one batch touches, in the open transaction; return how many acceptances it had.

    Safe to run twice, and in several workers: a batch is kept once.
    """
    for one in run([Call(_NEXT, [str(tenant_id)])])[0].of(Batch):
        given = [str(tenant_id), str(one.after), str(one.upto), str(one.rows), at.isoformat()]
        run([Call(_KEEP, given)])
        return int(one.rows)
    return 0
