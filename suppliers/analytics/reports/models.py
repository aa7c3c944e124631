"""Tables of reports: what was asked for and how far it is, and the rows that its batches have read."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel, transition
from core.row_security import TableSecurity
from organizations.public import TenantOwned

from .states import OPEN, Format, ReportStatus, ReportType


class Report(TenantOwned, LifecycleModel):
    """A report that somebody has asked for, as of one time; workers read it batch by batch and write its file.

    `begins_at` and `ends_at` are the instants of `from` and `to`. `location_ids` are the places that its author was
    limited to; an empty list stands for all. `cursor` is the key of the last row that was read, so that whoever goes on
    starts behind it; `read_at` is when the last batch was read. `claimed_until` holds other workers off who would
    write the file, too; `troubled_at` is since when the report does not move. Personal data: who has asked.
    """

    type = models.CharField(max_length=12, choices=ReportType)
    parameters = models.JSONField(default=dict)
    format = models.CharField(max_length=4, choices=Format)
    status = FSMField(default=ReportStatus.QUEUED.value, choices=ReportStatus, protected=True, max_length=7)
    as_of = models.DateTimeField()
    begins_at = models.DateTimeField(null=True)
    ends_at = models.DateTimeField(null=True)
    started_by = models.UUIDField()
    location_ids = ArrayField(models.UUIDField(), default=list, db_default=[])
    cursor = models.CharField(max_length=100, blank=True, default="", db_default="", db_collation="C")
    rows_done = models.BigIntegerField(default=0, db_default=0)
    rows_total = models.BigIntegerField(null=True)
    parts = models.IntegerField(default=0, db_default=0)
    file_id = models.UUIDField(null=True)
    error = models.CharField(max_length=40, blank=True, default="", db_default="")
    claimed_until = models.DateTimeField(null=True)
    troubled_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    unversioned: ClassVar = ("cursor", "rows_done", "rows_total", "parts", "read_at", "claimed_until", "troubled_at")
    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(type__in=ReportType.values), name="suppliers_report_type_known"),
            models.CheckConstraint(condition=Q(format__in=Format.values), name="suppliers_report_format_known"),
            models.CheckConstraint(condition=Q(status__in=ReportStatus.values), name="suppliers_report_status_known"),
            models.CheckConstraint(
                condition=Q(rows_done__gte=0, parts__gte=0)
                & (Q(rows_total__isnull=True) | Q(rows_total__gte=F("rows_done"))),
                name="suppliers_report_progress",
            ),
            models.CheckConstraint(
                condition=Q(status=ReportStatus.READY, file_id__isnull=False, expires_at__isnull=False)
                | ~Q(status=ReportStatus.READY) & Q(file_id__isnull=True),
                name="suppliers_report_ready",
            ),
            models.CheckConstraint(
                condition=Q(status=ReportStatus.FAILED) ^ Q(error=""), name="suppliers_report_failed"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_report_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_report_by_updated"),
            models.Index(fields=["created_at", "tenant"], condition=Q(status__in=OPEN), name="suppliers_report_open"),
            models.Index(
                fields=["expires_at", "tenant"], condition=Q(expires_at__isnull=False), name="suppliers_report_ending"
            ),
            models.Index(
                fields=["tenant", "file_id"], condition=Q(file_id__isnull=False), name="suppliers_report_by_file"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.format}"

    @transition(field=status, source=ReportStatus.QUEUED.value, target=ReportStatus.RUNNING.value)
    def run(self) -> None:
        """Begin to read."""

    @transition(field=status, source=ReportStatus.RUNNING.value, target=ReportStatus.READY.value)
    def finish(self) -> None:
        """Hand the file over."""

    @transition(field=status, source=list(OPEN), target=ReportStatus.FAILED.value)
    def fail(self) -> None:
        """Give up."""

    @transition(field=status, source=ReportStatus.READY.value, target=ReportStatus.EXPIRED.value)
    def expire(self) -> None:
        """Take the file away."""


class ReportPart(TenantOwned):
    """The rows that one batch of a report has read, each a line of JSON; gone once the report has ended.

    Personal data: as the rows of the report.
    """

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False)
    number = models.IntegerField()
    content = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "report", "number"], name="suppliers_reportpart_once")]

    def __str__(self) -> str:
        return f"part {self.number}"
