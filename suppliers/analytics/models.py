"""The table of analytics: roll-ups in quarters of an hour of UTC."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow

from .states import Kind


class RollUp(TenantRow):
    """What a document or an offer adds to a quarter of an hour, by product, buyer and place; never changed.

    What a document adds is the sum of its rows: a correction is a further row with the difference. `bucket` begins the
    quarter of an hour, in UTC; a row that belongs to a day wherever one asks has a `due_date`. `whole_at` is when a due line
    was delivered whole. `quantity` and `base` are base units, or seconds of an acceptance. Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    kind = models.CharField(max_length=8, choices=Kind)
    bucket = models.DateTimeField()
    due_date = models.DateField(null=True)
    document_id = models.UUIDField()
    line_no = models.IntegerField()
    product_id = models.UUIDField(null=True)
    category = models.CharField(max_length=64)
    buyer_id = models.UUIDField(null=True)
    location_id = models.UUIDField(null=True)
    currency = models.CharField(max_length=3)
    whole_at = models.DateTimeField(null=True)
    entries = models.IntegerField()
    quantity = models.BigIntegerField()
    base = models.BigIntegerField()
    net = models.DecimalField(max_digits=19, decimal_places=4)
    list_net = models.DecimalField(max_digits=19, decimal_places=4)

    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="suppliers_rollup_kind_known"),
            models.CheckConstraint(
                condition=Q(kind=Kind.DUE, due_date__isnull=False) | ~Q(kind=Kind.DUE) & Q(due_date__isnull=True),
                name="suppliers_rollup_due",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant_id", "kind", "bucket"], name="suppliers_rollup_by_time"),
            models.Index(fields=["tenant_id", "document_id"], name="suppliers_rollup_by_document"),
            models.Index(
                fields=["tenant_id", "due_date"], condition=Q(due_date__isnull=False), name="suppliers_rollup_by_day"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.bucket}"
