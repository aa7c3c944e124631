"""Tables of bulk exports: the wish and how far it came, its files, and their content in compressed parts."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from core.row_security import TableSecurity
from organizations.public import TenantOwned

from . import states


class ExportJob(TenantOwned):
    """A wish to export the record as it was at `transaction_time`; a worker carries it out batch by batch.

    `cursor_type` and `cursor_id` are the last resource that is in the files, so that whoever goes on starts behind it.
    `waits_for` are the transactions that were open when the time had passed: they may still bring versions of before it.
    `ignored` are parameters that were asked for, are not offered and were left out because the client wanted that.
    `patients` are the ids of those whose compartments are exported (NULL: everybody's): those who were named, or the members
    of the group `group_id` at the kick-off. `filters` are searches as `Type?query`, `searchable` the types that their chains
    may lead to (NULL: all), `elements` what is kept of the resources ({}: everything).
    Personal data: who asked; ids of patients; the values of searches in `filters` and `request_url` (phi).
    """

    level = models.CharField(max_length=7)
    state = models.CharField(max_length=9, default=states.QUEUED, db_default=states.QUEUED)
    subject_id = models.UUIDField()
    request_url = models.TextField()
    transaction_time = models.DateTimeField()
    since = models.DateTimeField(null=True)
    types = ArrayField(models.CharField(max_length=24))
    ignored = ArrayField(models.CharField(max_length=80), default=list, db_default=[])
    filters = ArrayField(models.TextField(), default=list, db_default=[])
    searchable = ArrayField(models.CharField(max_length=24), null=True)
    elements = ArrayField(models.CharField(max_length=100), default=list, db_default=[])
    patients = ArrayField(models.CharField(max_length=64), null=True)
    group_id = models.CharField(max_length=64, default="", db_default="", blank=True)
    waits_for = ArrayField(models.CharField(max_length=40), null=True)
    cursor_type = models.CharField(max_length=24, default="", db_default="")
    cursor_id = models.CharField(max_length=64, default="", db_default="", db_collation="C")
    examined = models.BigIntegerField(default=0, db_default=0)
    exported = models.BigIntegerField(default=0, db_default=0)
    error = models.CharField(max_length=200, default="", db_default="")
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    unversioned: ClassVar = ("waits_for", "cursor_type", "cursor_id", "examined", "exported", "error")
    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(level__in=states.LEVELS), name="fhir_api_export_level_known"),
            models.CheckConstraint(condition=Q(state__in=states.ALL), name="fhir_api_export_state_known"),
            models.CheckConstraint(
                condition=~Q(state=states.COMPLETED) | Q(expires_at__isnull=False), name="fhir_api_export_expires"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="fhir_api_export_by_time"),
            models.Index(fields=["created_at", "id"], condition=Q(state__in=states.OPEN), name="fhir_api_export_open"),
        ]

    def __str__(self) -> str:
        return f"export {self.id}"


class ExportFile(TenantOwned):
    """A file of an export: how many lines and bytes it has, and their checksum (CRC-32), which gzip wants at its end.

    Personal data: none; it is in the parts.
    """

    job = models.ForeignKey(
        ExportJob, on_delete=models.PROTECT, related_name="files", db_constraint=False, db_index=False
    )
    name = models.CharField(max_length=60)
    kind = models.CharField(max_length=7)
    type = models.CharField(max_length=24)
    parts = models.PositiveIntegerField(default=0, db_default=0)
    lines = models.PositiveIntegerField(default=0, db_default=0)
    size = models.BigIntegerField(default=0, db_default=0)
    checksum = models.BigIntegerField(default=0, db_default=0)

    unversioned: ClassVar = ("parts", "lines", "size", "checksum")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=states.KINDS), name="fhir_api_export_file_kind_known"),
            models.UniqueConstraint(fields=["tenant", "job", "name"], name="fhir_api_export_file_one"),
        ]

    def __str__(self) -> str:
        return self.name


class ExportPart(TenantOwned):
    """What one batch put into a file: lines, deflated by themselves, and the ids of the patients they are about.

    Personal data: as `Resource` (phi).
    """

    file = models.ForeignKey(
        ExportFile, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    number = models.PositiveIntegerField()
    content = models.BinaryField()
    patients = ArrayField(models.CharField(max_length=64), default=list, db_default=[])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "file", "number"], name="fhir_api_export_part_one"),
        ]

    def __str__(self) -> str:
        return f"part {self.number} of {self.file_id}"


__all__ = ["ExportFile", "ExportJob", "ExportPart"]
