"""The tables of analytics: roll-ups in quarters of an hour of UTC, and what they come to in hours and days."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow

from .states import Grouping, Kind, Span


class RollUp(TenantRow):
    """What a document or an offer adds to a quarter of an hour, by product, buyer and place; never changed.

    What a document adds is the sum of its rows: a correction is a further row with the difference. `bucket` begins the
    quarter of an hour, in UTC; a row that belongs to a day wherever one asks has a `due_date`. `whole_at` is when a due line
    was delivered whole. `quantity` and `base` are base units, or milliseconds of an acceptance; of a
    receipt those accepted and those rejected. Personal data: none.
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
            # A median reads each order that was accepted: from here, without the rows.
            models.Index(
                fields=["tenant_id", "bucket"],
                include=["document_id", "currency", "entries", "quantity"],
                condition=Q(kind=Kind.ACCEPTED),
                name="suppliers_rollup_accepted",
            ),
            models.Index(
                fields=["tenant_id", "due_date"], condition=Q(due_date__isnull=False), name="suppliers_rollup_by_day"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.bucket}"


class RollUpSum(TenantRow):
    """What a batch of roll-ups comes to in an hour or a day of UTC, by one grouping; never changed.

    Of all together there are also the 24 hours from each half hour on, since a day begins at one of them in nearly every zone;
    `slot` is which half hour of the day of UTC that is, from 0 to 47, so those of one time of day lie beside each other.
    What an hour holds is the sum of its rows: a batch that comes later adds further ones. Lines due are kept by their date, at
    midnight of UTC; their `whole_at` is that midnight if they were whole before the day ends anywhere, else a quarter of an hour
    in which it ends in some zone, null if they were later. `orders` counts orders with a line of `name`. Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    kind = models.CharField(max_length=8, choices=Kind)
    grouping = models.CharField(max_length=8, choices=Grouping, blank=True)
    span = models.CharField(max_length=8, choices=Span)
    slot = models.SmallIntegerField(default=0)
    start = models.DateTimeField()
    name = models.CharField(max_length=64, null=True)  # null is what belongs to no group
    currency = models.CharField(max_length=3)
    whole_at = models.DateTimeField(null=True)
    orders = models.BigIntegerField()
    entries = models.BigIntegerField()
    quantity = models.BigIntegerField()
    base = models.BigIntegerField()
    net = models.DecimalField(max_digits=24, decimal_places=4)
    list_net = models.DecimalField(max_digits=24, decimal_places=4)

    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=Kind.values) & ~Q(kind=Kind.ACCEPTED), name="suppliers_rollupsum_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(grouping__in=Grouping.values), name="suppliers_rollupsum_grouping_known"
            ),
            models.CheckConstraint(condition=Q(span__in=Span.values), name="suppliers_rollupsum_span_known"),
            models.CheckConstraint(
                condition=Q(slot=0) | Q(span=Span.SLIDING, grouping="", slot__range=(1, 47)),
                name="suppliers_rollupsum_slot",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant_id", "kind", "grouping", "span", "slot", "start"], name="suppliers_rollupsum_by_time"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.span} {self.start}"


class DueDay(TenantRow):
    """What a batch of roll-ups comes to of lines due on a date, where the date ends at one instant; never changed.

    `slot` is by how many half hours that is after the date ends in UTC: from 28 before to 24 behind, as zones have it. Of the
    `entries`, those `in_time` were whole before then. A batch that comes later adds further rows. Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    slot = models.SmallIntegerField()
    due_date = models.DateField()
    currency = models.CharField(max_length=3)
    entries = models.BigIntegerField()
    in_time = models.BigIntegerField()
    quantity = models.BigIntegerField()
    base = models.BigIntegerField()

    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(slot__range=(-28, 24)), name="suppliers_dueday_slot"),
        ]
        indexes = [models.Index(fields=["tenant_id", "slot", "due_date"], name="suppliers_dueday_by_date")]

    def __str__(self) -> str:
        return f"{self.due_date} {self.slot}"


class AcceptanceDay(TenantRow):
    """How long orders took to be accepted on a day, as differences: what a day holds is the sum of its rows; never changed.

    A day is 24 hours from a quarter of an hour of UTC on, at which days begin in some zone; `slot` is which quarter of the day of
    UTC that is. `orders` were accepted in it, and `spent` is twice the median of their milliseconds. Without a currency it is the day
    of all orders, kept where there are several currencies. Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    slot = models.SmallIntegerField()
    start = models.DateTimeField()
    currency = models.CharField(max_length=3, blank=True)
    orders = models.BigIntegerField()
    spent = models.BigIntegerField()

    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(slot__range=(0, 95)), name="suppliers_acceptanceday_slot"),
        ]
        indexes = [models.Index(fields=["tenant_id", "slot", "start"], name="suppliers_acceptanceday_by_day")]

    def __str__(self) -> str:
        return f"{self.start}"


class BatchMark(TenantRow):
    """Base of marks: a batch holds the roll-ups with ids above `after_id`, up to `upto_id`; `rows` of them were read. Never changed.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    after_id = models.UUIDField()
    upto_id = models.UUIDField()
    rows = models.BigIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        abstract = True
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "after_id"], name="suppliers_%(class)s_follows_once"),
            models.UniqueConstraint(fields=["tenant_id", "upto_id"], name="suppliers_%(class)s_ends_once"),
            models.CheckConstraint(condition=Q(upto_id__gt=F("after_id")), name="suppliers_%(class)s_goes_on"),
        ]

    def __str__(self) -> str:
        return f"up to {self.upto_id}"


class AcceptanceMark(BatchMark):
    """How far medians of acceptance are kept: of the roll-ups with ids above `after_id`, up to `upto_id`; never changed.

    Metrics find the median of a day anew out of its rows where there are some above the last mark. Personal data: none.
    """

    security: ClassVar = TableSecurity(append_only=True)


class RollUpMark(BatchMark):
    """How far the roll-ups are summed up: a batch holds the rows with ids above `after_id`, up to `upto_id`; never changed.

    Metrics add the rows above the last mark one by one. `form` is the form of the sums; a release that knows no form writes no
    marks, since its batches would lack the lines due by days. Personal data: none.
    """

    form = models.SmallIntegerField()

    security: ClassVar = TableSecurity(append_only=True)
