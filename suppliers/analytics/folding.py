"""Roll-ups are summed up in hours and days, so that a year costs little more than a month.

A batch holds rows that follow one another by their ids and are all committed. Its sums are further rows, and its mark says how
far they go: nothing that was written is rewritten, and a batch that two workers begin is written once.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from django.db import transaction

from core.db import role_context, tenant_context
from core.lanes import in_turn
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from core.row_security import DISPATCHER
from suppliers.company.models import SupplierProfile

from .acceptances import BATCH as MEDIANS_BATCH
from .acceptances import keep_medians

BATCH: Final = 10_000
_QUEUE: Final = "suppliers.fold_figures"
_SETTLED: Final = timedelta(hours=1)  # no transaction is open for so long
_WAIT: Final = timedelta(days=1)  # how old the oldest row is that stands apart: a day gets one sum of each day at most
_FORM: Final = 2
_rounds = Rounds()

ORIGIN: Final = "'2000-01-01 00:00:00+00'"
# One value to the planner, so that rows behind it are found by their ids: COALESCE in a condition is no key of an index
# where row security holds.
MARK: Final = (
    "(SELECT coalesce((SELECT k.upto_id FROM suppliers_rollupmark k WHERE k.tenant_id = $1 ORDER BY k.upto_id DESC LIMIT 1),"
    " '00000000-0000-0000-0000-000000000000'::uuid))"
)


class Batch(NamedTuple):
    """The rows behind the last mark: where the batch ends, and how many rows it has."""

    after: UUID
    upto: UUID
    rows: int


_NEXT = Statement.of(
    f"SELECT z.after, (array_agg(z.id ORDER BY z.id DESC))[1] AS upto, count(*) AS rows FROM (SELECT r.id, {MARK} AS after"
    f" FROM suppliers_rollup r WHERE r.tenant_id = $1 AND r.id > {MARK} AND r.id < $2::uuid ORDER BY r.id LIMIT {BATCH}) z"
    f" GROUP BY z.after HAVING count(*) = {BATCH} OR (array_agg(z.id ORDER BY z.id))[1] < $3::uuid",
    row=Batch,
)
_GROUPINGS: Final = (
    "CROSS JOIN LATERAL (VALUES ('', NULL), ('product', r.product_id::text), ('category', nullif(r.category, '')),"
    " ('buyer', r.buyer_id::text), ('location', r.location_id::text)) AS g(grouping, name)"
)
_ASKED: Final = "(g.grouping <> 'location' OR r.kind IN ('received', 'returned')) AND (g.grouping <> 'buyer' OR r.kind <> 'offered')"
_SPANS: Final = (
    "CROSS JOIN LATERAL (VALUES"
    f" ('day', date_bin('1 day', coalesce(r.due_date::timestamp AT TIME ZONE 'UTC', r.bucket), {ORIGIN})),"
    f" ('hour', CASE WHEN r.due_date IS NULL THEN date_bin('1 hour', r.bucket, {ORIGIN}) END),"
    f" ('half', CASE WHEN r.due_date IS NULL AND g.grouping = '' THEN date_bin('30 minutes', r.bucket, {ORIGIN}) END)) AS s(span, start)"
)
# Half hours are not kept: each belongs to the 48 spans of 24 hours that begin up to then.
_SLID: Final = "CROSS JOIN LATERAL generate_series(f.start - interval '23 hours 30 minutes', f.start, interval '30 minutes') AS g(start)"
# A day ends from 14 hours before to 12 hours after that of UTC, as zones have it: what was whole before counts as its
# midnight, what came later as never.
_DUE: Final = "r.due_date::timestamp AT TIME ZONE 'UTC'"
_WHOLE: Final = (
    f"CASE WHEN r.whole_at < {_DUE} + interval '10 hours' THEN {_DUE}"
    f" WHEN r.whole_at < {_DUE} + interval '36 hours' THEN date_bin('15 minutes', r.whole_at, {ORIGIN}) END"
)
# Which half hour of the day of UTC an instant is in.
_SLOT: Final = f"(extract(epoch FROM {{0}} - date_bin('1 day', {{0}}, {ORIGIN}))::int / 1800)"
# When a date ends in the zones of a slot; `f` is a sum of lines due, at the midnight with which their date begins in UTC.
_ENDS: Final = "f.start + interval '1 day' + g.slot * interval '30 minutes'"
_COLUMNS: Final = "kind, grouping, span, slot, start, name, currency, whole_at"
_SUMS: Final = ("orders", "entries", "quantity", "base", "net", "list_net")
# Orders of the batch: each counts where it has come to have a line, and no longer where it has none left. Their rows are
# looked for order by order, since all rows of a supplier are far more: OFFSET 0 keeps the planner to that, and to the index
# by document.
_ORDERS: Final = f"""
SELECT r.kind, g.grouping, s.span, 0 AS slot, s.start, g.name, r.currency, NULL::timestamptz AS whole_at, r.document_id,
  (coalesce(sum(r.entries), 0) > 0)::int - (coalesce(sum(r.entries) FILTER (WHERE r.id <= $2::uuid), 0) > 0)::int AS orders
FROM (SELECT DISTINCT b.document_id FROM batch b WHERE b.kind = 'ordered') d
CROSS JOIN LATERAL (SELECT k.* FROM suppliers_rollup k WHERE k.tenant_id = $1 AND k.document_id = d.document_id OFFSET 0) r
{_GROUPINGS} {_SPANS} WHERE r.kind = 'ordered' AND r.id <= $3::uuid AND s.start IS NOT NULL AND {_ASKED}
GROUP BY r.tenant_id, 1, 2, 3, s.start, g.name, r.currency, r.document_id
"""
_FOLD = Statement.of(
    f"""
WITH mark AS (
  INSERT INTO suppliers_rollupmark (id, tenant_id, after_id, upto_id, rows, created_at, form)
  VALUES (uuidv7(), $1::uuid, $2::uuid, $3::uuid, $4::bigint, $5::timestamptz, {_FORM}) ON CONFLICT DO NOTHING RETURNING upto_id),
batch AS MATERIALIZED (
  SELECT r.* FROM suppliers_rollup r WHERE r.tenant_id = $1 AND r.id > $2::uuid AND r.id <= $3::uuid AND r.kind <> 'accepted'),
folded AS MATERIALIZED (SELECT {_COLUMNS}, {", ".join(f"sum({one}) AS {one}" for one in _SUMS)} FROM (
  SELECT r.kind, g.grouping, s.span, 0 AS slot, s.start, g.name, r.currency, {_WHOLE} AS whole_at, 0 AS orders, r.entries, r.quantity,
    r.base, r.net, r.list_net FROM batch r {_GROUPINGS} {_SPANS} WHERE {_ASKED} AND s.start IS NOT NULL
  UNION ALL SELECT {_COLUMNS}, o.orders, 0, 0, 0, 0, 0 FROM ({_ORDERS}) o WHERE o.orders <> 0) z
WHERE EXISTS (SELECT 1 FROM mark) GROUP BY {_COLUMNS}),
slid AS (SELECT f.kind, f.grouping, 'sliding', {_SLOT.format("g.start")}, g.start, f.name, f.currency, f.whole_at, {", ".join(f"sum(f.{one}) AS {one}" for one in _SUMS)}
  FROM folded f {_SLID} WHERE f.span = 'half' GROUP BY 1, 2, g.start, 6, 7, 8),
due AS (
  INSERT INTO suppliers_dueday (id, tenant_id, slot, due_date, currency, entries, in_time, quantity, base)
  SELECT uuidv7(), $1::uuid, z.* FROM (
    SELECT g.slot, (f.start AT TIME ZONE 'UTC')::date AS due_date, f.currency, sum(f.entries) AS entries,
      coalesce(sum(f.entries) FILTER (WHERE f.whole_at < {_ENDS}), 0) AS in_time, sum(f.quantity) AS quantity, sum(f.base) AS base
    FROM folded f CROSS JOIN generate_series(-28, 24) AS g(slot)
    WHERE f.kind = 'due' AND f.grouping = '' AND f.span = 'day' GROUP BY 1, 2, 3) z
  WHERE z.entries <> 0 OR z.in_time <> 0 OR z.quantity <> 0 OR z.base <> 0 ORDER BY 3, 4, 5 RETURNING 1)
INSERT INTO suppliers_rollupsum (id, tenant_id, {_COLUMNS}, {", ".join(_SUMS)})
SELECT uuidv7(), $1::uuid, z.* FROM (SELECT * FROM folded f WHERE f.span <> 'half' UNION ALL SELECT * FROM slid) z
WHERE {" OR ".join(f"z.{one} <> 0" for one in _SUMS)} ORDER BY {_COLUMNS} RETURNING 1
"""
)


# A plan that a session has kept from when there were few rows would look through all of them for each order.
_PLAN_ANEW = Statement.of("SELECT set_config('plan_cache_mode', 'force_custom_plan', true)")


def first_id(at: datetime) -> UUID:
    """Return the least id that a row can have which is written at an instant or later."""
    return UUID(int=max(int(at.timestamp() * 1000), 0) << 80)


def fold(tenant_id: UUID, at: datetime, *, wait: timedelta = _WAIT) -> int:
    """Sum up one batch of a supplier's roll-ups, and keep its medians of acceptance; return how many rows were read.

    Safe to run twice, and in several workers. Nothing is done while there are few rows and the oldest is younger than `wait`.
    """
    bounds = [str(first_id(at - _SETTLED)), str(first_id(at - max(wait, _SETTLED)))]
    rows = 0
    with tenant_context(tenant_id), transaction.atomic():
        _, found = run([Call(_PLAN_ANEW), Call(_NEXT, [str(tenant_id), *bounds])])
        for one in found.of(Batch):
            given = [str(tenant_id), str(one.after), str(one.upto), str(one.rows), at.isoformat()]
            run([Call(_FOLD, given)])
            rows = int(one.rows)
    with tenant_context(tenant_id), transaction.atomic():
        run([Call(_PLAN_ANEW)])
        return max(rows, keep_medians(tenant_id, at))


def fold_figures(*, at: datetime, go_on: GoOn = ever) -> int:
    """Sum up what has come for all suppliers, a batch of each in turn; return how many rows were summed up."""
    total = 0

    def step(tenant_id: UUID, _: bool) -> bool | None:
        nonlocal total
        done = fold(tenant_id, at)
        total += done
        return True if done >= MEDIANS_BATCH else None

    for lane in in_turn(_QUEUE):
        with role_context(DISPATCHER):
            suppliers = lane.filter(SupplierProfile.objects.exclude(tenant__status="closed")).order_by("tenant_id")
            tenants = list(suppliers.values_list("tenant_id", flat=True))
        _rounds.drain(dict.fromkeys(tenants, True), step, go_on=go_on)
    return total
