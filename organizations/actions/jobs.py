"""Writes on jobs, the long work that a request started: queued, running, then succeeded or failed."""

from datetime import datetime
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import InvalidTransition, NotFound
from organizations.models import Job, JobState
from organizations.ownership import TenantQuerySet

_FROM = {
    JobState.RUNNING: (JobState.QUEUED,),
    JobState.SUCCEEDED: (JobState.QUEUED, JobState.RUNNING),
    JobState.FAILED: (JobState.QUEUED, JobState.RUNNING),
}


@needs_transaction
def start_job(*, actor: Actor, kind: str, at: datetime, total: int | None = None) -> Job:
    """Create a job, which the caller then hands to a worker; the 202 answer names its id."""
    return Job.objects.create(
        tenant_id=actor.tenant_id, kind=kind, total=total, started_by=actor.subject.id, created_at=at, updated_at=at
    )


@needs_transaction
def run_job(*, actor: Actor, job_id: UUID, at: datetime) -> Job:
    """Mark a job as running. Of two workers the second one is refused.

    :raises NotFound: the tenant has no such job.
    :raises InvalidTransition: the job is already running or has ended.
    """
    row = _lock(actor, job_id)
    _move(row, JobState.RUNNING, "run")
    row.started_at = at
    row.save_version("state", "started_at", at=at)
    return row


@needs_transaction
def report_progress(*, actor: Actor, job_id: UUID, done: int, total: int | None = None, at: datetime) -> Job:
    """Record the progress of a running job; it never decreases.

    :raises NotFound: the tenant has no such job.
    :raises InvalidTransition: the job is not running.
    """
    row = _lock(actor, job_id)
    if row.state != JobState.RUNNING:
        raise InvalidTransition(state=row.state, action="report_progress")
    row.total = total if total is not None else row.total
    row.done = max(row.done, done) if row.total is None else min(max(row.done, done), row.total)
    row.save_version("done", "total", at=at)
    return row


@needs_transaction
def succeed_job(*, actor: Actor, job_id: UUID, result_href: str = "", at: datetime) -> Job:
    """Mark a job as succeeded; `result_href` is the address of its result.

    :raises NotFound: the tenant has no such job.
    :raises InvalidTransition: the job has already ended.
    """
    row = _lock(actor, job_id)
    _move(row, JobState.SUCCEEDED, "succeed")
    row.result_href, row.finished_at = result_href, at
    row.done = row.total if row.total is not None else row.done
    row.save_version("state", "result_href", "finished_at", "done", at=at)
    return row


@needs_transaction
def fail_job(*, actor: Actor, job_id: UUID, code: str, message: str, at: datetime) -> Job:
    """Mark a job as failed; code and message come from the platform and contain no data of the work.

    :raises NotFound: the tenant has no such job.
    :raises InvalidTransition: the job has already ended.
    """
    row = _lock(actor, job_id)
    _move(row, JobState.FAILED, "fail")
    row.error, row.finished_at = {"code": code, "message": message}, at
    row.save_version("state", "error", "finished_at", at=at)
    return row


def started_jobs(actor: Actor) -> TenantQuerySet:
    """Return the jobs that the actor started in this tenant."""
    return Job.objects.of(actor).filter(started_by=actor.subject.id)


def _lock(actor: Actor, job_id: UUID) -> Job:
    row: Job | None = Job.objects.of(actor).select_for_update().filter(id=job_id).first()
    if row is None:
        raise NotFound("No such job.")
    return row


def _move(row: Job, target: JobState, action: str) -> None:
    if row.state not in _FROM[target]:
        raise InvalidTransition(state=row.state, action=action)
    row.state = target
