"""Tables of how endpoints do: their health now, and each hour in figures. Kept by the dispatcher, read by everybody."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from core.ids import uuid7
from core.row_security import LOCAL, TableSecurity
from core.tenant_rows import TenantRow

from . import states


class EndpointHealth(TenantRow):
    """How an endpoint has been doing of late; there is a row once something failed or a rate holds. The dispatcher keeps it.

    `circuit_until`, `paused_until` (Retry-After), `next_send_at` (`max_rps`) and `gone_at` (410) hold back its work.
    Personal data: none.
    """

    endpoint_id = models.UUIDField(primary_key=True)
    tenant_id = models.UUIDField()
    consecutive_failures = models.PositiveIntegerField(db_default=0)
    failing_since = models.DateTimeField(null=True, help_text="Since when it fails; null unless it fails now.")
    last_failure_at = models.DateTimeField(null=True)
    warned_at = models.DateTimeField(null=True)
    circuit_state = models.CharField(
        max_length=9, choices=states.choices(states.CIRCUIT), db_default=states.CLOSED,
        help_text="`closed` lets messages through; `open` holds them back; `half_open` sends one to see.",
    )  # fmt: skip
    circuit_until = models.DateTimeField(null=True, help_text="When it is tried again.")
    circuit_openings = models.PositiveSmallIntegerField(db_default=0)
    paused_until = models.DateTimeField(null=True, help_text="Until when the receiver's own Retry-After asks to wait.")
    next_send_at = models.DateTimeField(null=True)
    gone_at = models.DateTimeField(null=True)

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        db_table = "webhooks_endpoint_health"
        verbose_name_plural = "endpoint health"
        constraints = [
            models.CheckConstraint(condition=Q(circuit_state__in=states.CIRCUIT), name="webhooks_health_circuit_known")
        ]
        indexes = [
            models.Index(
                fields=["failing_since"], condition=Q(failing_since__isnull=False), name="webhooks_health_failing"
            )
        ]

    def __str__(self) -> str:
        return f"health of {self.endpoint_id}"


class EndpointHour(TenantRow):
    """One hour of one endpoint in figures, so that nobody ever counts the history.

    `duration_buckets` counts attempts by duration. Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    endpoint_id = models.UUIDField()
    hour = models.DateTimeField()
    attempts = models.PositiveIntegerField(db_default=0)
    delivered = models.PositiveIntegerField(db_default=0)
    failed = models.PositiveIntegerField(db_default=0)
    duration_ms = models.BigIntegerField(db_default=0)
    duration_buckets = ArrayField(models.IntegerField())

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        db_table = "webhooks_endpoint_hour"
        constraints = [models.UniqueConstraint(fields=["endpoint_id", "hour", "tenant_id"], name="webhooks_hour_once")]
        indexes = [models.Index(fields=["tenant_id", "hour"], name="webhooks_hour_by_tenant")]

    def __str__(self) -> str:
        return f"{self.endpoint_id} at {self.hour}"


class Meter(models.Model):
    """One figure of all dispatchers that only ever grows, for Prometheus. Personal data: none."""

    name = models.CharField(primary_key=True, max_length=60)
    value = models.BigIntegerField()

    security: ClassVar = LOCAL

    class Meta:
        db_table = "webhooks_meter"

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"
