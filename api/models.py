"""Records of requests that carried an Idempotency-Key."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow


class IdempotencyRecord(TenantRow):
    """One key of one subject in one tenant, with the sealed answer.

    Personal data: the sealed answer may hold what the operation answered; it is deleted after seven days.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    subject_id = models.UUIDField()
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.BinaryField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects: ClassVar[models.Manager["IdempotencyRecord"]] = models.Manager()  # type: ignore[assignment]  # lanes write over tenants

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "subject_id", "key"], name="api_idempotency_key_once"),
        ]
        indexes = [models.Index(fields=["created_at"], name="api_idempotency_by_age")]

    def __str__(self) -> str:
        return f"{self.tenant_id} {self.key}"
