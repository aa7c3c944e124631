"""The end of a report whose rows are read: its file is written outside any transaction, stored, and handed over whole.

Whoever writes holds the report by `claimed_until` and moves it on; who does not any more lets another begin anew.
"""

import hashlib
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from core import clock, jobs
from core.actor import system_actor
from core.db import needs_transaction, tenant_context
from core.errors import QuotaExceeded
from core.watermark import begin_batch
from suppliers.files.making import Made, add_made, give_up_made, store_made
from suppliers.files.refusals import FileTooLarge
from suppliers.files.states import MOST_MADE_BYTES

from .actions import record
from .events import ReportCompleted, ReportFailed
from .models import Report, ReportPart
from .reading import parts_of
from .states import FILE_TOO_LARGE, STORAGE_EXCEEDED, ReportStatus
from .writing import WRITERS, file_name

CLAIM: Final = timedelta(minutes=1)
STORE_CLAIM: Final = timedelta(minutes=10)
KEPT_FOR: Final = timedelta(days=7)
# A file stays as long as a report has it.
EVIDENCE: Final = (
    "report",
    "SELECT 1 FROM suppliers_report r WHERE r.tenant_id = $1 AND r.file_id = $2",
)
_RENEW_SECONDS: Final = 10.0
_PIECE: Final = 1_048_576


class ClaimLost(Exception):
    """Another worker writes the report, it has ended, or this worker ends."""


class Written(NamedTuple):
    """A file on disk."""

    path: Path
    size: int
    sha256: str


def finish(report: Report) -> None:
    """Write, store and hand over the file of a claimed report.

    :raises ClaimLost: the report is left to another worker.
    :raises StoreAway, Busy: the store does not answer, or an equal file is not ready; try again later.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="report-") as folder:
            written = _write(report, Path(folder))
            _claim(report, STORE_CLAIM)
            with written.path.open("rb") as content:
                at = clock.now()
                made = store_made(report.tenant_id, content, size=written.size, sha256=written.sha256, at=at)
    except FileTooLarge:
        end_badly(report, FILE_TOO_LARGE)
    except QuotaExceeded:
        end_badly(report, STORAGE_EXCEEDED)
    else:
        try:
            _hand_over(report, made)
        except BaseException:
            give_up_made(report.tenant_id, made, clock.now())
            raise


def end_badly(report: Report, code: str) -> None:
    """Note that a report has failed, unless it has ended meanwhile."""
    with tenant_context(report.tenant_id):
        at = begin_batch(report.tenant_id, clock.now())
        found = _locked(report)
        if found is not None:
            fail(found, code, at)


@needs_transaction
def fail(report: Report, code: str, at: datetime) -> None:
    """End a locked report without a file."""
    report.fail()
    report.error, report.finished_at, report.claimed_until = code, at, None
    report.save_version("status", "error", "finished_at", *report.unversioned, at=at)
    drop_parts(report)
    fact = ReportFailed(report_type=report.type, format=report.format, code=code)
    record(system_actor(report.tenant_id), report, fact, at)


@needs_transaction
def drop_parts(report: Report) -> None:
    """Delete the rows that were read for a report."""
    ReportPart.objects.filter(tenant_id=report.tenant_id, report=report).delete()


def _write(report: Report, folder: Path) -> Written:
    """Write the file of a report into a folder.

    :raises FileTooLarge: it has more bytes than a file may have.
    """
    path = folder / f"report.{report.format}"
    writer, renewed = WRITERS[report.format](path, report), time.monotonic()
    for rows in parts_of(report):
        writer.add(rows)
        if jobs.is_ending():
            raise ClaimLost
        if time.monotonic() - renewed > _RENEW_SECONDS:
            _claim(report, CLAIM)
            renewed = time.monotonic()
        _check_size(path)
    writer.close()
    _check_size(path)
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while piece := content.read(_PIECE):
            digest.update(piece)
    return Written(path, path.stat().st_size, digest.hexdigest())


def _check_size(path: Path) -> None:
    if path.exists() and path.stat().st_size > MOST_MADE_BYTES:
        raise FileTooLarge(limit_bytes=MOST_MADE_BYTES)


def _claim(report: Report, span: timedelta) -> None:
    """Hold a report for a further span.

    :raises ClaimLost: somebody else holds it, or it has ended.
    """
    until = clock.now() + span
    with tenant_context(report.tenant_id):
        mine = Report.objects.filter(
            tenant_id=report.tenant_id, id=report.id, status=ReportStatus.RUNNING.value,
            claimed_until=report.claimed_until,
        )  # fmt: skip
        if not mine.update(claimed_until=until):
            raise ClaimLost
    report.claimed_until = until


def _hand_over(report: Report, made: Made) -> None:
    """Give a report its stored file.

    :raises ClaimLost: it has ended meanwhile.
    """
    with tenant_context(report.tenant_id):
        at = begin_batch(report.tenant_id, clock.now())
        found = _locked(report)
        if found is None:
            raise ClaimLost
        actor = system_actor(report.tenant_id)
        name, media = file_name(found), WRITERS[found.format].media
        found.file_id = add_made(actor, made, name=name, content_type=media, at=at).id
        found.finish()
        found.finished_at, found.expires_at, found.claimed_until = at, at + KEPT_FOR, None
        found.save_version("status", "file_id", "finished_at", "expires_at", "claimed_until", *found.unversioned, at=at)
        drop_parts(found)
        fact = ReportCompleted(
            report_type=found.type, format=found.format, rows=found.rows_done, file_id=str(found.file_id)
        )
        record(actor, found, fact, at)


def _locked(report: Report) -> Report | None:
    """Return the report as it stands, locked, if it is still this worker's."""
    mine = Report.objects.filter(
        tenant_id=report.tenant_id, id=report.id, status=ReportStatus.RUNNING.value, claimed_until=report.claimed_until
    )
    found: Report | None = mine.select_for_update(no_key=True).first()
    return found
