"""Tables of the audit history, whose entries are chained by their hashes and never changed."""

from typing import ClassVar

from django.db import models

from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import TenantQuerySet

from .models import fhir_id


class Kept(TenantRow):
    """Base of rows that are written once. Personal data: none of its own."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)

    objects = TenantQuerySet.as_manager()  # type: ignore[misc]  # further methods than those of TenantRow

    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        abstract = True


class AuditEntry(Kept):
    """One entry of the audit history of one prescription; `hash` covers the entry and the hash before it.

    `origin_digest` covers what lies in `AuditOrigin`. Personal data: whose prescription was changed by whom.
    """

    prescription_id = models.UUIDField()
    patient_id = fhir_id()
    sequence = models.PositiveIntegerField()
    action = models.CharField(max_length=40)
    actor = models.JSONField()
    actor_id = models.UUIDField()
    from_status = models.CharField(max_length=20, blank=True, default="")
    to_status = models.CharField(max_length=20, blank=True, default="")
    details = models.JSONField(default=dict)
    request_id = models.CharField(max_length=64, blank=True, default="")
    origin_digest = models.CharField(max_length=64)
    occurred_at = models.DateTimeField()
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "prescription_id", "sequence"], name="prescriptions_audit_sequence_once"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "occurred_at", "id"], name="prescriptions_audit_by_time"),
            models.Index(fields=["tenant", "patient_id", "occurred_at", "id"], name="prescriptions_audit_by_patient"),
            models.Index(fields=["tenant", "actor_id", "occurred_at", "id"], name="prescriptions_audit_by_actor"),
            models.Index(fields=["tenant", "action", "occurred_at", "id"], name="prescriptions_audit_by_action"),
        ]

    def __str__(self) -> str:
        return f"{self.sequence} {self.action}"


class AuditOrigin(TenantRow):
    """Who an entry's actor was by name and where the request came from; closing a tenant deletes the rows.

    Personal data: a person's name, network address and browser.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    salt = models.CharField(max_length=32)
    display = models.CharField(max_length=255, blank=True, default="")
    ip = models.CharField(max_length=64, blank=True, default="")
    user_agent = models.CharField(max_length=255, blank=True, default="")

    objects = TenantQuerySet.as_manager()  # type: ignore[misc]  # further methods than those of TenantRow

    security: ClassVar = TableSecurity()

    def __str__(self) -> str:
        return str(self.id)
