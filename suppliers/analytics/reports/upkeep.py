"""The end of reports: their files expire after a week, and they are forgotten three months after their end."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from core.actor import Actor, system_actor
from core.db import needs_transaction, tenant_context
from core.rounds import GoOn, Rounds, ever
from core.watermark import begin_batch
from suppliers.files.actions import delete_file
from suppliers.files.models import File
from suppliers.files.refusals import FileBound
from suppliers.rounds import BATCH, by_rounds

from .models import Report
from .states import OVER, ReportStatus

REMEMBER: Final = timedelta(days=90)
SWEEP: Final = "suppliers.sweep_reports"
_rounds = Rounds()


def sweep_reports(*, at: datetime, go_on: GoOn = ever) -> int:
    """Expire the reports that are due, and forget old ones; return how many were worked on."""
    return by_rounds(SWEEP, _rounds, _due(at), _sweep_batch, at, go_on)


def _due(at: datetime) -> "QuerySet[Any]":
    """Return the reports that are to be worked on: ready ones to expire, and others that ended long ago."""
    return Report.objects.filter(
        Q(status=ReportStatus.READY.value, expires_at__lte=at) | Q(status__in=OVER, finished_at__lte=at - REMEMBER)
    )


def _sweep_batch(tenant_id: UUID, at: datetime) -> int:
    with tenant_context(tenant_id):
        keys = list(
            _due(at).filter(tenant_id=tenant_id).order_by("created_at", "id").values_list("id", flat=True)[:BATCH]
        )
    for key in keys:
        with tenant_context(tenant_id):
            _sweep_one(tenant_id, key, at)
    return len(keys)


@needs_transaction
def _sweep_one(tenant_id: UUID, report_id: UUID, at: datetime) -> None:
    begun = begin_batch(tenant_id, at)
    mine = _due(at).filter(tenant_id=tenant_id, id=report_id)
    report: Report | None = mine.select_for_update(skip_locked=True).first()
    if report is None:
        return
    if report.status != ReportStatus.READY:
        report.delete()
        return
    file_id, report.file_id = report.file_id, None
    report.expire()
    report.save_version("status", "file_id", at=begun)
    _delete(system_actor(tenant_id), file_id, begun)


@needs_transaction
def _delete(actor: Actor, file_id: UUID | None, at: datetime) -> None:
    """Delete a file that no report holds any more; one that its tenant has bound to something stays."""
    file: File | None = File.objects.of(actor).select_for_update(no_key=True).filter(pk=file_id).first()
    if file is None:
        return
    try:
        delete_file(actor, file, at)
    except FileBound:
        return
