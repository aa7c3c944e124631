"""Periodic work over the rows of all tenants, a batch of each in turn; safe to run twice and in several workers."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from core.db import role_context
from core.lanes import in_turn
from core.rounds import GoOn, Rounds
from core.row_security import DISPATCHER

BATCH: Final = 100

Work = Callable[[UUID, datetime], int]


def by_rounds(
    queue: str, rounds: Rounds, due: "QuerySet[Any]", work: Work, at: datetime, go_on: GoOn, *, batch: int = BATCH
) -> int:
    """Do the work of all tenants that have rows in `due`; return how many rows were worked on.

    `work` does at most `batch` rows of a tenant; one that did so many is asked again.
    """
    total = 0

    def step(tenant_id: UUID, _: bool) -> bool | None:
        nonlocal total
        done = work(tenant_id, at)
        total += done
        return True if done == batch else None

    for lane in in_turn(queue):
        with role_context(DISPATCHER):
            found = lane.filter(due.exclude(tenant__status="closed")).order_by("tenant_id")
            tenants = list(found.values_list("tenant_id", flat=True).distinct())
        rounds.drain(dict.fromkeys(tenants, True), step, go_on=go_on)
    return total
