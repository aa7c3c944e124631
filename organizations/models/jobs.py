"""Jobs: long work that a request started, whose progress is at `/v1/jobs/{id}`."""

from django.db import models
from django.db.models import F, Q

from organizations.ownership import TenantOwned


class JobState(models.TextChoices):
    """The state of a job; `succeeded` and `failed` are final."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Job(TenantOwned):
    """One accepted piece of work, visible to the subject that started it.

    Personal data: none; `error` holds a code and a sentence of the platform, never data of the work.
    """

    kind = models.CharField(max_length=60)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    result_href = models.CharField(max_length=500, blank=True, default="")
    error = models.JSONField(null=True)
    started_by = models.UUIDField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="organizations_job_state_known"),
            models.CheckConstraint(
                condition=Q(done__gte=0) & (Q(total__isnull=True) | Q(done__lte=F("total"))),
                name="organizations_job_progress",
            ),
        ]
        indexes = [models.Index(fields=["tenant", "started_by", "created_at"], name="org_job_starter")]

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"
