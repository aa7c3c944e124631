"""What happens to files by itself: announced contents are looked for, and what stands in quarantine is scanned.

A worker claims a file by moving `check_at`, works outside any transaction, and locks it again for the outcome. A claim that
its worker did not live to finish lapses, and another takes the file.
"""

import logging
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from core.actor import system_actor
from core.db import tenant_context
from core.rounds import GoOn, Rounds, ever
from core.watermark import begin_batch
from ledger import public as ledger
from suppliers.rounds import by_rounds

from . import storing
from .actions import reject_file
from .events import FileUpdated
from .models import File
from .receiving import measure
from .refusals import StoreAway
from .scanners import ScannerAway, Verdict, scanner
from .states import OPEN, FileStatus, Rejection

CLAIMED_FOR: Final = timedelta(minutes=5)
FIRST_PAUSE: Final = timedelta(seconds=10)
LONGEST_PAUSE: Final = timedelta(minutes=5)

_QUEUE: Final = "suppliers.scan_files"
_scans = Rounds()

log = logging.getLogger(__name__)


def scan_files(*, at: datetime, go_on: GoOn = ever) -> int:
    """Look at the files that are due, one of each tenant in turn; return how many were looked at."""
    due: QuerySet[File] = File.objects.filter(status__in=OPEN, check_at__lte=at)
    return by_rounds(_QUEUE, _scans, due, _next, at, go_on, batch=1)


def _next(tenant_id: UUID, at: datetime) -> int:
    file = _claimed(tenant_id, at)
    if file is None:
        return 0
    try:
        if file.status == FileStatus.AWAITING_UPLOAD:
            measure(file, at)
        else:
            _scan(file, at)
    except (ScannerAway, StoreAway, FileNotFoundError) as error:
        log.warning("file not scanned", extra={"file": str(file.id), "error": type(error).__name__})
        _later(file, at)
    return 1


def _claimed(tenant_id: UUID, at: datetime) -> File | None:
    """Return the file of a tenant that has been due longest, for this worker alone."""
    with tenant_context(tenant_id):
        mine = File.objects.filter(tenant_id=tenant_id, status__in=OPEN, check_at__lte=at).order_by("check_at", "id")
        found: File | None = mine.select_for_update(skip_locked=True, no_key=True).first()
        if found is not None:
            File.objects.filter(tenant_id=tenant_id, pk=found.pk).update(
                check_at=at + CLAIMED_FOR, attempts=found.attempts + 1
            )
        return found


def _scan(file: File, at: datetime) -> None:
    with storing.opened(file.object_key) as content:
        verdict = scanner()(content)
    with tenant_context(file.tenant_id):
        mine = File.objects.filter(tenant_id=file.tenant_id, pk=file.pk, status=FileStatus.SCANNING.value)
        found: File | None = mine.select_for_update(no_key=True).first()
        if found is not None:
            _settle(found, verdict, begin_batch(file.tenant_id, at))


def _settle(file: File, verdict: Verdict, at: datetime) -> None:
    actor = system_actor(file.tenant_id)
    file.scanned_by = verdict.scanner
    if verdict.finding:
        log.warning("file rejected", extra={"file": str(file.id), "finding": verdict.finding})
        reject_file(actor, file, Rejection.MALWARE, at, finding=verdict.finding)
        return
    file.pass_scan()
    file.save_version("status", "scanned_by", at=at)
    fact = FileUpdated.of(file)
    ledger.record(actor=actor, event=fact, resource_id=file.id, at=at, resource_version=file.version)


def _later(file: File, at: datetime) -> None:
    """Try again after a pause that grows with each attempt."""
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(file.attempts, 10))
    with tenant_context(file.tenant_id):
        File.objects.filter(tenant_id=file.tenant_id, pk=file.pk, status__in=OPEN).update(check_at=at + pause)
