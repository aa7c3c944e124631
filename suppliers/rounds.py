"""Periodic work over the rows of all tenants, a batch of each in turn; safe to run twice and in several workers."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from core.db import role_context
from core.errors import Conflict
from core.lanes import in_turn
from core.rounds import GoOn, Rounds
from core.row_security import DISPATCHER

BATCH: Final = 100

Work = Callable[[UUID, datetime], int]

log = logging.getLogger(__name__)


def by_rounds(
    queue: str, rounds: Rounds, due: "QuerySet[Any]", work: Work, at: datetime, go_on: GoOn, *, batch: int = BATCH
) -> int:
    """Do the work of all tenants that have rows in `due`; return how many rows were worked on.

    `work` does at most `batch` rows of a tenant; one that did so many is asked again. A tenant whose rows are refused, as
    where somebody else has them, waits for the next run; the others do not.
    """
    total = 0

    def step(tenant_id: UUID, _: bool) -> bool | None:
        nonlocal total
        try:
            done = work(tenant_id, at)
        except Conflict as error:
            log.warning(
                "work of a tenant put off", extra={"queue": queue, "tenant": str(tenant_id), "code": error.code}
            )
            return None
        total += done
        return True if done == batch else None

    for lane in in_turn(queue):
        with role_context(DISPATCHER):
            found = lane.filter(due.exclude(tenant__status="closed")).order_by("tenant_id")
            tenants = list(found.values_list("tenant_id", flat=True).distinct())
        rounds.drain(dict.fromkeys(tenants, True), step, go_on=go_on)
    return total
