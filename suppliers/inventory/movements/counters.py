"""Counters of a tenant's movements by day of UTC, with those of each hour: the list takes its total from them and skips rows.

Source: contract, supply.md section 9.
"""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from core.db import role_context, tenant_context
from core.lanes import in_turn
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from core.row_security import DISPATCHER

from .models import HOURS, MovementCounter

STRIPES: Final = 16
_QUEUE: Final = "suppliers.fold_days"
_OVER: Final = timedelta(days=2)  # of days so old nobody writes movements any more
_rounds = Rounds()

# The stripe is the writer's session's: two transactions at once wait for each other once in sixteen times.
_COUNT = Statement.of(
    "INSERT INTO suppliers_movementcounter AS c (tenant_id, day, stripe, movements, hours)"
    f" VALUES ($1, $2::date, pg_backend_pid() % {STRIPES}, $3::int,"
    f" array_fill(0, ARRAY[$4::int]) || $3::int || array_fill(0, ARRAY[{HOURS - 1} - $4::int]))"
    " ON CONFLICT (tenant_id, day, stripe) DO UPDATE"
    " SET movements = c.movements + excluded.movements, hours[$4::int + 1] = c.hours[$4::int + 1] + $3::int"
)
_FOLD = Statement.of(
    "WITH striped AS (DELETE FROM suppliers_movementcounter WHERE tenant_id = $1 AND stripe > 0 AND day < $2::date"
    " RETURNING tenant_id, day, movements, hours), of_day AS (SELECT s.tenant_id, s.day, sum(s.movements)::bigint AS movements"
    " FROM striped s GROUP BY s.tenant_id, s.day)"
    " INSERT INTO suppliers_movementcounter AS c (tenant_id, day, stripe, movements, hours)"
    " SELECT d.tenant_id, d.day, 0, d.movements, ARRAY(SELECT sum(u.counted)::int FROM striped s CROSS JOIN LATERAL"
    " unnest(s.hours) WITH ORDINALITY u(counted, hour) WHERE s.day = d.day GROUP BY s.tenant_id, u.hour ORDER BY u.hour)"
    " FROM of_day d ORDER BY d.day ON CONFLICT (tenant_id, day, stripe) DO UPDATE"
    " SET movements = c.movements + excluded.movements,"
    " hours = ARRAY(SELECT u.mine + u.others FROM unnest(c.hours, excluded.hours) WITH ORDINALITY u(mine, others, hour)"
    " ORDER BY u.hour) RETURNING c.day::text"
)


def count_call(tenant_id: UUID, at: datetime, movements: int) -> Call:
    """Return the statement that counts new movements of the instant `at`; send it last, since others may wait for it."""
    at = at.astimezone(UTC)
    return Call(_COUNT, [str(tenant_id), at.date().isoformat(), str(movements), str(at.hour)])


def fold_days(*, at: datetime, go_on: GoOn = ever) -> int:
    """Fold the stripes of each day that is over into one row; return how many days were folded. Safe to run twice."""
    total = 0

    def step(tenant_id: UUID, before: str) -> None:
        nonlocal total
        with tenant_context(tenant_id), transaction.atomic():
            total += len(run([Call(_FOLD, [str(tenant_id), before])])[0])

    for lane in in_turn(_QUEUE):
        with role_context(DISPATCHER):
            tenants = list(
                lane.filter(_striped(at)).order_by("tenant_id").values_list("tenant_id", flat=True).distinct()
            )
        _rounds.drain(dict.fromkeys(tenants, _before(at)), step, go_on=go_on)
    return total


def _before(at: datetime) -> str:
    return (at - _OVER).date().isoformat()


def _striped(at: datetime) -> "QuerySet[MovementCounter]":
    found: QuerySet[MovementCounter] = MovementCounter.objects.filter(stripe__gt=0, day__lt=_before(at))
    return found
