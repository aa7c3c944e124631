"""The table that counts movements by day."""

from typing import ClassVar, Final

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from core.row_security import TableSecurity
from core.tenant_rows import TenantRow

HOURS: Final = 24


class MovementCounter(TenantRow):
    """The number of a tenant's movements on one day of UTC, cut into stripes so that writers at once seldom meet.

    The stripes of days that are over are folded into the first. `hours` are the movements of each hour of the day, the first
    from midnight of UTC; a day that the release before them counted has less in its hours than in `movements`, and those of
    that day are not used. Personal data: none.
    """

    pk = models.CompositePrimaryKey("tenant_id", "day", "stripe")
    tenant_id = models.UUIDField()
    day = models.DateField()
    stripe = models.SmallIntegerField()
    movements = models.PositiveBigIntegerField()
    hours = ArrayField(models.IntegerField(), db_default=[0] * HOURS)

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(hours__len=HOURS), name="suppliers_movecounter_hours")]
        indexes = [
            models.Index(fields=["day", "tenant_id"], condition=Q(stripe__gt=0), name="suppliers_movecounter_striped"),
        ]

    def __str__(self) -> str:
        return f"{self.movements} on {self.day}"
