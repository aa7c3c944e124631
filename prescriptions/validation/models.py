"""Table of the runs of clinical validation, which are kept as they ended."""

from typing import ClassVar

from django.db import models

from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import TenantQuerySet
from prescriptions.lifecycle.models import Prescription


class ValidationRun(TenantRow):
    """One run of the clinical rules over a prescription, with the versions of what it knew; it never changes.

    A trigger refuses changes. Runs are deleted with their tenant alone, since they tell of patients.

    Personal data: what was found about a patient's treatment.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    prescription = models.ForeignKey(
        Prescription, on_delete=models.PROTECT, related_name="runs", db_constraint=False, db_index=False
    )
    outcome = models.CharField(max_length=21)
    issues = models.JSONField()
    engine_version = models.CharField(max_length=20)
    knowledge = models.JSONField()
    inputs_digest = models.CharField(max_length=64)
    duration_ms = models.PositiveIntegerField()
    at = models.DateTimeField()

    objects = TenantQuerySet.as_manager()  # type: ignore[misc]  # further methods than those of TenantRow

    security: ClassVar = TableSecurity()

    class Meta:
        indexes = [models.Index(fields=["tenant", "prescription", "at"], name="prescriptions_run_by_rx")]

    def __str__(self) -> str:
        return self.outcome
