"""Counters of a tenant's movements by day of UTC, from which the list takes its total and skips days.

Source: contract, supply.md section 9.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from core.db import role_context, tenant_context
from core.lanes import in_turn
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from core.row_security import DISPATCHER

from .models import MovementCounter

STRIPES: Final = 16
_QUEUE: Final = "suppliers.fold_days"
_OVER: Final = timedelta(days=2)  # of days so old nobody writes movements any more
_rounds = Rounds()

# The stripe is the writer's session's: two transactions at once wait for each other once in sixteen times.
_COUNT = Statement.of(
    "INSERT INTO suppliers_movementcounter AS c (tenant_id, day, stripe, movements)"
    f" VALUES ($1, ($2::timestamptz AT TIME ZONE 'UTC')::date, pg_backend_pid() % {STRIPES}, $3::bigint)"
    " ON CONFLICT (tenant_id, day, stripe) DO UPDATE SET movements = c.movements + excluded.movements"
)
_FOLD = Statement.of(
    "WITH striped AS (DELETE FROM suppliers_movementcounter WHERE tenant_id = $1 AND stripe > 0 AND day < $2::date"
    " RETURNING tenant_id, day, movements)"
    " INSERT INTO suppliers_movementcounter AS c (tenant_id, day, stripe, movements)"
    " SELECT tenant_id, day, 0, sum(movements)::bigint FROM striped GROUP BY tenant_id, day ORDER BY day"
    " ON CONFLICT (tenant_id, day, stripe) DO UPDATE SET movements = c.movements + excluded.movements"
    " RETURNING c.day::text"
)


def count_call(tenant_id: UUID, at: datetime, movements: int) -> Call:
    """Return the statement that counts new movements of the instant `at`; send it last, since others may wait for it."""
    return Call(_COUNT, [str(tenant_id), at.isoformat(), str(movements)])


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
