"""Carrying reports on. Any number of processes may do so and any of them may die: a batch is one transaction."""

import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from core import clock
from core.actor import system_actor
from core.db import bind_actor_call, needs_transaction, role_context, tenant_context
from core.lanes import in_turn
from core.pipeline import run
from core.rounds import GoOn, Rounds
from core.row_security import DISPATCHER
from core.watermark import begin_batch, settled

from . import finishing, reading
from .actions import CARRY_ON
from .models import Report
from .sources import SOURCES
from .states import GAVE_UP, OPEN, ReportStatus

HOPELESS: Final = timedelta(hours=1)
PAUSE: Final = timedelta(seconds=15)
_rounds = Rounds()

log = logging.getLogger(__name__)


def carry_on(*, go_on: GoOn) -> int:
    """Carry open reports on, a batch of each tenant in turn, while `go_on` says so, until none can go on; count the batches."""
    done = 0
    while go_on():
        moved = 0
        for lane in in_turn(CARRY_ON):
            with role_context(DISPATCHER):
                waiting = lane.filter(_open(clock.now()).exclude(tenant__status="closed"))
                found = list(waiting.order_by("created_at", "id").values_list("tenant_id", "id"))
            moved += _rounds.serve(found, _try, go_on=go_on)
        done += moved
        if not moved:
            break
    return done


def advance(tenant_id: UUID, report_id: UUID, *, at: datetime) -> bool:
    """Carry one report a batch further; tell whether it moved. One that somebody else is busy with is passed over.

    :raises StoreAway, Busy, finishing.ClaimLost: the file could not be handed over now.
    """
    with tenant_context(tenant_id):
        mine = _open(at).filter(tenant_id=tenant_id, id=report_id)
        report: Report | None = mine.select_for_update(skip_locked=True, no_key=True).first()
        if report is None:
            return False
        if report.status == ReportStatus.QUEUED and settled(tenant_id) <= report.as_of:
            return False  # who began to write before may still bring rows
        at = begin_batch(tenant_id, at)
        # What the author may not see is not read for him.
        run([bind_actor_call(replace(system_actor(tenant_id), location_ids=frozenset(report.location_ids)))])
        if report.status == ReportStatus.QUEUED:
            _begin(report, at)
            return True
        if report.read_at is None:
            _read(report, at)
            return True
        report.claimed_until = at + finishing.CLAIM
        _save(report)
    finishing.finish(report)
    return True


@needs_transaction
def _begin(report: Report, at: datetime) -> None:
    report.run()
    report.started_at = at
    if SOURCES[report.type].is_whole:
        reading.read_whole(report, at)
        report.read_at = at
    else:
        report.rows_total = reading.count_rows(report)
    report.save_version("status", "as_of", "started_at", *report.unversioned, at=at)


@needs_transaction
def _read(report: Report, at: datetime) -> None:
    """Read the next batch; behind the last one the number of rows is known."""
    if not reading.read_batch(report, at):
        report.read_at, report.rows_total = at, report.rows_done
    elif report.rows_total is not None:
        report.rows_total = max(report.rows_total, report.rows_done)
    report.troubled_at = None
    _save(report)


def _save(report: Report) -> None:
    report.save(update_fields=[*report.unversioned])


def _open(at: datetime) -> "QuerySet[Any]":
    return Report.objects.filter(Q(claimed_until__isnull=True) | Q(claimed_until__lte=at), status__in=OPEN)


def _try(tenant_id: UUID, report_id: UUID) -> bool:
    at = clock.now()
    try:
        return advance(tenant_id, report_id, at=at)
    except finishing.ClaimLost:
        return False
    except Exception as error:  # one report's trouble must not stop the others; it is tried again
        log.warning("report stumbled", extra={"report": str(report_id), "error": type(error).__name__})
        _note(tenant_id, report_id, at)
        return False


def _note(tenant_id: UUID, report_id: UUID, at: datetime) -> None:
    """Leave a report alone for a little; one that has been in trouble for an hour has failed."""
    with tenant_context(tenant_id):
        mine = Report.objects.filter(tenant_id=tenant_id, id=report_id, status__in=OPEN)
        report: Report | None = mine.select_for_update(skip_locked=True, no_key=True).first()
        if report is None:
            return
        if report.troubled_at and at - report.troubled_at > HOPELESS:
            finishing.fail(report, GAVE_UP, begin_batch(tenant_id, at))
            return
        report.troubled_at, report.claimed_until = report.troubled_at or at, at + PAUSE
        _save(report)
