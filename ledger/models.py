"""Tables of the ledger: one append-only row for each event, and the queue of events still to be handled."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow


class Event(TenantRow):
    """A recorded event; never updated or deleted, which privileges and a trigger enforce.

    Personal data: none; ids only.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    type = models.CharField(max_length=80)
    version = models.PositiveSmallIntegerField(default=1)
    resource_type = models.CharField(max_length=60)
    resource_id = models.UUIDField()
    resource_version = models.PositiveIntegerField(null=True)
    data = models.JSONField(default=dict)
    figures = models.JSONField(null=True)
    subject_id = models.UUIDField()
    subject_kind = models.CharField(max_length=10)
    credential = models.CharField(max_length=120)
    membership_id = models.UUIDField(null=True)
    request_id = models.CharField(max_length=128, blank=True)
    occurred_at = models.DateTimeField()

    security: ClassVar = TableSecurity(append_only=True, dispatcher=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant_id", "resource_id", "occurred_at"], name="ledger_event_by_resource"),
            models.Index(fields=["tenant_id", "occurred_at", "id"], name="ledger_event_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


class Pending(TenantRow):
    """An event that one after-commit subscriber has not handled yet; `due_at` is also the end of the lease.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    event_id = models.UUIDField()
    subscriber = models.CharField(max_length=80)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())
    last_error = models.CharField(max_length=200, blank=True, default="")

    objects: ClassVar[models.Manager["Pending"]] = models.Manager()  # type: ignore[assignment]  # lanes write over tenants

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        verbose_name_plural = "pending"
        indexes = [models.Index(fields=["tenant_id", "due_at"], name="ledger_pending_next")]

    def __str__(self) -> str:
        return f"{self.subscriber} {self.event_id}"
