"""Carrying exports out. Any number of processes may do so and any of them may die: a batch is one transaction."""

import logging
import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import Error

from core import clock
from core.actor import system_actor
from core.clock import rfc3339
from core.db import role_context, tenant_context
from core.errors import Malformed, QuotaExceeded
from core.lanes import Lane, in_turn
from core.rounds import GoOn, Rounds, until
from core.row_security import DISPATCHER
from fhir_api.access.patients import patients_of
from fhir_api.outcomes import WARNING, Issue, outcome
from fhir_api.resources import Json, written

from . import events, files, settling, states
from .actions import record
from .batches import Batch, Found, read_batch
from .compartments import of_patients
from .elements import shown
from .filters import filter_of
from .models import ExportJob

log = logging.getLogger(__name__)

HOPELESS: Final = timedelta(hours=1)
_PAUSE_SECONDS: Final = 0.25
_PATIENCE_SECONDS: Final = 3.0
_ENTRIES: Final = 500
_rounds = Rounds()
_TIMES: Final = ("started_at", "finished_at", "expires_at")


def carry_on(*, go_on: GoOn) -> int:
    """Carry open exports on, a batch of each tenant in turn, while `go_on` says so, until none can go on; count the batches.

    New ones wait for the writes of their time, which mostly lasts two seconds: they are looked at again for so long.
    """
    is_patient, done = until(_PATIENCE_SECONDS), 0
    while go_on():
        moved, settles = 0, False
        for lane in in_turn("fhir_exports.carry_on"):
            waiting = _open_exports(lane)
            moved += _rounds.serve([(tenant_id, job_id) for tenant_id, job_id, _ in waiting], _try_now, go_on=go_on)
            settles = settles or any(state == states.QUEUED for _, _, state in waiting)
            if not go_on():
                break  # the next run begins with another lane
        done += moved
        if not moved:
            if not settles or not is_patient():
                break  # the others are in somebody else's hands, or in trouble
            time.sleep(_PAUSE_SECONDS)
    return done


def _open_exports(lane: Lane) -> list[tuple[UUID, UUID, str]]:
    with role_context(DISPATCHER):
        found = lane.filter(ExportJob.objects.filter(state__in=states.OPEN)).order_by("created_at", "id")
        return list(found.values_list("tenant_id", "id", "state"))


def _try_now(tenant_id: UUID, job_id: UUID) -> bool:
    return _try(tenant_id, job_id, clock.now())


def _try(tenant_id: UUID, job_id: UUID, at: datetime) -> bool:
    try:
        return advance(tenant_id, job_id, at=at)
    except Error as error:  # one export's trouble must not stop the others; the next sweep tries it again
        log.warning("export stumbled", extra={"export": str(job_id), "error": type(error).__name__})
        _note(tenant_id, job_id, type(error).__name__, at)
        return False


def advance(tenant_id: UUID, job_id: UUID, *, at: datetime) -> bool:
    """Carry one export a batch further; tell whether it moved. One that somebody else is busy with is passed over."""
    with tenant_context(tenant_id):
        mine = ExportJob.objects.filter(tenant_id=tenant_id, id=job_id, state__in=states.OPEN)
        job: ExportJob | None = mine.select_for_update(skip_locked=True).first()
        if job is None:
            return False
        if job.state == states.QUEUED:
            return _begin(job, at)
        type_name = job.cursor_type or job.types[0]
        try:
            asked = filter_of(job, type_name)
        except Malformed:
            _fail(job, "filter_not_valid_any_more", at)
            return True
        try:
            _keep(job, type_name, read_batch(job, asked, job.cursor_id), at)
        except QuotaExceeded:
            _fail(job, "storage_quota_exceeded", at)
            return True
        if job.cursor_type:
            _save_progress(job, at)
        else:
            _complete(job, at)
        return True


def _begin(job: ExportJob, at: datetime) -> bool:
    """Start once everything that was written until the export's time is there."""
    if at < job.transaction_time + settling.CLOCKS:
        return False
    now_open = settling.open_transactions()
    still = sorted(now_open if job.waits_for is None else now_open.intersection(job.waits_for))
    if still and job.waits_for is not None and at - job.created_at > HOPELESS:
        _fail(job, "writes_never_ended", at)
        return True
    moved = still != job.waits_for or not still
    job.waits_for = still
    if not still:
        job.started_at, job.cursor_type = at, job.types[0]
        try:
            _tell_ignored(job, at)
        except QuotaExceeded:
            _fail(job, "storage_quota_exceeded", at)
            return True
        _enter(job, states.RUNNING, at)
    elif moved:
        _save_progress(job, at)
    return not still


def _keep(job: ExportJob, type_name: str, batch: Batch, at: datetime) -> None:
    """Put a batch into the files and note how far the export is; an empty `cursor_type` is the end."""
    found = list(of_patients(job, type_name, batch.found))
    there, gone = ([one for one in found if one.gone is ended] for ended in (False, True))
    lines = [shown(one.body, job.elements) for one in there]
    files.append(job, states.OUTPUT, type_name, lines, at=at, patients=_patients(type_name, there))
    deletions = _deletions(job, type_name, [one.fhir_id for one in gone])
    files.append(job, states.DELETED, type_name, deletions, at=at, patients=_patients(type_name, gone))
    job.examined += batch.examined
    job.exported += len(lines)
    job.cursor_type, job.cursor_id = type_name, batch.cursor_id
    if not batch.more:
        following = job.types[job.types.index(type_name) + 1 :]
        job.cursor_type, job.cursor_id = following[0] if following else "", ""


def _patients(type_name: str, found: Iterable[Found]) -> Sequence[str]:
    """The ids of those whose data lines are, for the access log."""
    told = [(one, patients_of([(type_name, one.fhir_id, one.body)])) for one in found]
    return sorted({patient for one, named in told for patient in (*named, *one.whose)})


def _deletions(job: ExportJob, type_name: str, gone: list[str]) -> list[bytes]:
    """Bundles of deletions. Source: Bulk Data Access IG, export.html, "deleted"."""
    pieces = [gone[n : n + _ENTRIES] for n in range(0, len(gone), _ENTRIES)]
    return [written(_deletion(job, type_name, piece)) for piece in pieces]


def _deletion(job: ExportJob, type_name: str, gone: list[str]) -> Json:
    return {
        "resourceType": "Bundle",
        "meta": {"lastUpdated": rfc3339(job.transaction_time)},
        "type": "transaction",
        "entry": [{"request": {"method": "DELETE", "url": f"{type_name}/{fhir_id}"}} for fhir_id in gone],
    }


def _tell_ignored(job: ExportJob, at: datetime) -> None:
    """Say in a file of errors which parameters were left out."""
    lines = [
        written(outcome([Issue("not-supported", f"'{name}' was ignored.", "", "unsupported_parameter", WARNING)]))
        for name in job.ignored
    ]
    files.append(job, states.ERROR, "OperationOutcome", lines, at=at)


def _complete(job: ExportJob, at: datetime) -> None:
    job.finished_at = at
    job.expires_at = at + timedelta(hours=settings.FHIR_EXPORT_HOURS)
    _enter(job, states.COMPLETED, at)
    fact = events.ExportCompleted(level=job.level, exported=job.exported, expires_at=rfc3339(job.expires_at))
    record(system_actor(job.tenant_id), job, fact, at)


def _fail(job: ExportJob, reason: str, at: datetime) -> None:
    job.finished_at = at
    _enter(job, states.FAILED, at, error=reason)
    record(system_actor(job.tenant_id), job, events.ExportFailed(level=job.level, reason=reason), at)


def _enter(job: ExportJob, state: str, at: datetime, *, error: str = "") -> None:
    job.state, job.error = state, error
    job.save_version("state", *_TIMES, *job.unversioned, at=at)


def _save_progress(job: ExportJob, at: datetime) -> None:
    job.error, job.updated_at = "", at
    job.save(update_fields=[*job.unversioned, "updated_at"])


def _note(tenant_id: UUID, job_id: UUID, error: str, at: datetime) -> None:
    """Keep what went wrong; after an hour without a single batch the export has failed."""
    with tenant_context(tenant_id):
        mine = ExportJob.objects.filter(tenant_id=tenant_id, id=job_id, state__in=states.OPEN)
        job: ExportJob | None = mine.select_for_update(skip_locked=True).first()
        if job is None:
            return
        if job.error and job.updated_at < at - HOPELESS:
            _fail(job, error, at)
        elif not job.error:
            job.error, job.updated_at = error, at
            job.save(update_fields=["error", "updated_at"])
