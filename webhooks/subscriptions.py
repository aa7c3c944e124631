"""What endpoints wanted, and when: the fan-out matches an event by what was wanted when it happened.

A trigger on `Endpoint` writes the rows (migration 0012), so that whoever changes an endpoint cannot forget them.
"""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow


class Subscription(TenantRow):
    """The patterns of an active endpoint from `begins_at` up to `ends_at`, by the database's clock, as events have it.

    Kept as long as an event of that time may wait to be matched. Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    endpoint_id = models.UUIDField()
    events = ArrayField(models.CharField(max_length=80))
    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        app_label = "webhooks"
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__isnull=True) | Q(ends_at__gte=F("begins_at")),
                name="webhooks_subscription_has_order",
            ),
            models.UniqueConstraint(
                fields=["tenant_id", "endpoint_id"],
                condition=Q(ends_at__isnull=True),
                name="webhooks_subscription_one_open",
            ),
        ]
        indexes = [models.Index(fields=["tenant_id", "endpoint_id", "begins_at"], name="webhooks_subscription_by_time")]

    def __str__(self) -> str:
        return f"{self.endpoint_id} from {self.begins_at}"
