"""The table that counts movements by day."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from core.row_security import TableSecurity
from core.tenant_rows import TenantRow


class MovementCounter(TenantRow):
    """The number of a tenant's movements on one day of UTC, cut into stripes so that writers at once seldom meet.

    The stripes of days that are over are folded into the first. Personal data: none.
    """

    pk = models.CompositePrimaryKey("tenant_id", "day", "stripe")
    tenant_id = models.UUIDField()
    day = models.DateField()
    stripe = models.SmallIntegerField()
    movements = models.PositiveBigIntegerField()

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        indexes = [
            models.Index(fields=["day", "tenant_id"], condition=Q(stripe__gt=0), name="suppliers_movecounter_striped"),
        ]

    def __str__(self) -> str:
        return f"{self.movements} on {self.day}"
