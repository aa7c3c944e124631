"""Asking for an export, and stopping one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from core import jobs
from core.actor import Actor
from core.db import needs_transaction
from core.errors import NotFound, TooMany
from core.pipeline import Call, Statement, run
from fhir_api.keys import hashed
from fhir_api.smart import SEARCH, Access
from ledger import public as ledger
from organizations.public import consume_quota, release_quota

from . import events, states
from .asking import Wish
from .filters import check_filters
from .models import ExportFile, ExportJob
from .patients import chosen

CARRY_ON: Final = "fhir_exports.carry_on"
SWEEP: Final = "fhir_exports.sweep"
MOST_OPEN: Final = 2
QUOTA: Final = "exports_per_day"
_LOCK: Final = Statement.of("SELECT pg_advisory_xact_lock($1)")


class ExportsRunning(TooMany):
    """The tenant has as many exports under way as it may; one has to end first."""

    code = "exports_running"
    title = "Too many exports are under way."


class NoSuchExport(NotFound):
    """Absent, cancelled, or of somebody else."""

    code = "not_found"
    title = "No such export."


@needs_transaction
def request_export(
    *, actor: Actor, wish: Wish, types: Sequence[str], access: Access, request_url: str, at: datetime
) -> ExportJob:
    """Note the wish to export the record as it is now, and ring for somebody to do it.

    :raises ExportsRunning: two of the tenant are under way.
    :raises core.errors.QuotaExceeded: the plan allows no more today.
    :raises core.errors.PlatformError: as `check_filters` and `chosen`.
    """
    check_filters(actor.tenant_id, wish.filters, access=access, at=at)
    searchable = access.types(SEARCH) if wish.filters else None
    patients = chosen(actor.tenant_id, wish, at=at)
    run([Call(_LOCK, [str(hashed(f"exports of {actor.tenant_id}"))])])  # of two who ask at once, one counts the other
    if ExportJob.objects.of(actor).filter(state__in=states.OPEN).count() >= MOST_OPEN:
        raise ExportsRunning(
            f"A tenant has at most {MOST_OPEN} exports under way; wait for the end of one or cancel it.",
            headers={"Retry-After": "60"},
        )
    job: ExportJob = ExportJob.objects.create(
        tenant_id=actor.tenant_id, level=wish.level, types=list(types), since=wish.since, ignored=list(wish.ignored),
        filters=list(wish.filters), searchable=None if searchable is None else list(searchable),
        elements=list(wish.elements), patients=None if patients is None else list(patients), group_id=wish.group,
        subject_id=actor.subject_id, request_url=request_url, created_at=at, updated_at=at,
        transaction_time=at.replace(microsecond=at.microsecond // 1000 * 1000),
    )  # fmt: skip
    consume_quota(actor=actor, key=QUOTA, at=at)
    record(actor, job, events.ExportRequested(level=job.level, types=job.types), at)
    jobs.enqueue(CARRY_ON, expires_seconds=jobs.RING_SECONDS)
    return job


@needs_transaction
def cancel_export(*, actor: Actor, job: ExportJob, at: datetime) -> ExportJob:
    """Stop a locked export, or give up the files of one that has ended; nobody finds it any more.

    Who stops it before it has a file gets the unit of the day back; workers hold the same lock while they write.

    :raises NoSuchExport: it was cancelled or has expired.
    """
    if job.state in (states.CANCELLED, states.EXPIRED):
        raise NoSuchExport
    if _gave_nothing(actor, job) and job.created_at.date() == at.date():  # another day's unit is gone already
        release_quota(actor=actor, key=QUOTA, at=at)
    job.state, job.finished_at = states.CANCELLED, job.finished_at or at
    job.save_version("state", "finished_at", at=at)
    record(actor, job, events.ExportCancelled(level=job.level), at)
    jobs.enqueue(SWEEP, expires_seconds=jobs.RING_SECONDS)
    return job


def _gave_nothing(actor: Actor, job: ExportJob) -> bool:
    return job.state in states.OPEN and not ExportFile.objects.of(actor).filter(job=job).exists()


@needs_transaction
def locked_export(actor: Actor, job_id: UUID) -> ExportJob:
    """Read an export that the actor asked for, and hold it until the transaction ends.

    :raises NoSuchExport: absent, or of somebody else.
    """
    mine = ExportJob.objects.of(actor).filter(id=job_id, subject_id=actor.subject_id)
    found: ExportJob | None = mine.select_for_update().first()
    if found is None:
        raise NoSuchExport
    return found


@needs_transaction
def record(actor: Actor, job: ExportJob, fact: ledger.EventType, at: datetime) -> None:
    """Record what became of an export."""
    ledger.record(actor=actor, event=fact, resource_id=job.id, at=at, resource_version=job.version)
