"""Tables of files: own and received ones, what they are bound to, and the objects in the store that no file holds."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel, transition
from core.row_security import Market, TableSecurity
from organizations.public import TenantOwned

from .states import MOST_BYTES, MOST_MADE_BYTES, OPEN, FileStatus, Purpose, Rejection, ResourceType, Visibility


class File(TenantOwned, LifecycleModel):
    """A file of a tenant. `object_key` is its object in the store, "" as long as there is none.

    `size` counts against the quota `storage_bytes` until the file is rejected or deleted. `check_at` is when workers look at
    it next, and `attempts` how often they did in vain. Whoever shares a document that hands a file over gets a row of its
    own, which names the same object.
    Personal data: the name, the title and the content may hold names of persons.
    """

    name = models.CharField(max_length=255)
    purpose = models.CharField(max_length=20, choices=Purpose)
    status = FSMField(default=FileStatus.AWAITING_UPLOAD.value, choices=FileStatus, protected=True, max_length=15)
    content_type = models.CharField(max_length=80)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    object_key = models.CharField(max_length=160, blank=True, default="")
    visibility = models.CharField(max_length=12, choices=Visibility, default=Visibility.PRIVATE.value)
    title = models.CharField(max_length=255, blank=True, default="")
    expires_on = models.DateField(null=True)
    rejection_reason = models.CharField(max_length=16, choices=Rejection, blank=True, default="")
    scanned_by = models.CharField(max_length=20, blank=True, default="")
    finding = models.CharField(max_length=200, blank=True, default="")
    upload_expires_at = models.DateTimeField(null=True)
    check_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    on_market = models.GeneratedField(
        expression=Q(visibility=Visibility.CATALOG.value, status=FileStatus.READY.value),  # type: ignore[arg-type]  # a Q
        output_field=models.BooleanField(),
        db_persist=True,
    )

    WRITABLE: ClassVar = ("title", "visibility", "expires_on")
    unversioned: ClassVar = ("check_at", "attempts", "on_market")
    security: ClassVar = TableSecurity(
        dispatcher=True,
        market=Market(
            when="on_market",
            columns=(
                "tenant_id", "id", "name", "purpose", "status", "content_type", "size", "sha256", "object_key",
                "visibility", "title", "expires_on", "on_market", "created_at", "updated_at", "version",
            ),
        ),
    )  # fmt: skip

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "sha256", "purpose"],
                condition=~Q(status=FileStatus.REJECTED.value),
                name="suppliers_file_content_once",
            ),
            models.CheckConstraint(condition=Q(status__in=FileStatus.values), name="suppliers_file_status_known"),
            models.CheckConstraint(condition=Q(purpose__in=Purpose.values), name="suppliers_file_purpose_known"),
            models.CheckConstraint(condition=Q(visibility__in=Visibility.values), name="suppliers_file_seen_by_known"),
            models.CheckConstraint(
                condition=Q(size__range=(1, MOST_BYTES))
                | Q(purpose=Purpose.REPORT.value, size__range=(1, MOST_MADE_BYTES)),
                name="suppliers_file_size",
            ),
            models.CheckConstraint(
                condition=Q(status__in=[FileStatus.AWAITING_UPLOAD.value, FileStatus.REJECTED.value])
                | ~Q(object_key=""),
                name="suppliers_file_has_object",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=OPEN) | Q(check_at__isnull=False), name="suppliers_file_open_is_due"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_file_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_file_by_updated"),
            models.Index(fields=["tenant", "name", "id"], name="suppliers_file_by_name"),
            models.Index(fields=["tenant", "purpose", "created_at", "id"], name="suppliers_file_by_purpose"),
            models.Index(fields=["check_at", "tenant"], condition=Q(status__in=OPEN), name="suppliers_file_due"),
        ]

    def __str__(self) -> str:
        return self.name

    @transition(field=status, source=FileStatus.AWAITING_UPLOAD.value, target=FileStatus.SCANNING.value)
    def receive(self) -> None:
        """Keep what was uploaded in quarantine."""

    @transition(field=status, source=FileStatus.SCANNING.value, target=FileStatus.READY.value)
    def pass_scan(self) -> None:
        """Let the content be read."""

    @transition(
        field=status,
        source=[FileStatus.AWAITING_UPLOAD.value, FileStatus.SCANNING.value, FileStatus.READY.value],
        target=FileStatus.REJECTED.value,
    )
    def reject(self) -> None:
        """Never let the content be read."""

    @transition(
        field=status,
        source=[FileStatus.SCANNING.value, FileStatus.READY.value],
        target=FileStatus.SCANNING.value,
    )
    def rescan(self) -> None:
        """Put the content back into quarantine."""


class FileBinding(TenantOwned):
    """One thing that a file belongs to. Personal data: none."""

    file = models.ForeignKey(File, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    resource_type = models.CharField(max_length=9, choices=ResourceType)
    resource_id = models.UUIDField()
    role = models.CharField(max_length=32, blank=True, default="")
    position = models.PositiveIntegerField(default=0)
    language = models.CharField(max_length=35, blank=True, default="")

    security: ClassVar = TableSecurity(market=Market())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "file", "resource_type", "resource_id", "role"], name="suppliers_file_bound_once"
            ),
            models.CheckConstraint(
                condition=Q(resource_type__in=ResourceType.values), name="suppliers_file_bound_to_known"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "resource_id", "resource_type", "position"], name="suppliers_file_bound_to"),
        ]

    def __str__(self) -> str:
        return f"{self.resource_type} {self.resource_id}"


class ReceivedFile(TenantOwned):
    """A file that a document has handed over to this tenant, as it was then; the object is its owner's, and stored once.

    It is written with the document that names it, and never changed. What the file is bound to is its owner's matter.
    Personal data: name and title may hold names of persons.
    """

    owner_tenant_id = models.UUIDField()
    file_id = models.UUIDField()
    name = models.CharField(max_length=255)
    purpose = models.CharField(max_length=20, choices=Purpose)
    content_type = models.CharField(max_length=80)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    title = models.CharField(max_length=255, blank=True)
    expires_on = models.DateField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "file_id"], name="suppliers_receivedfile_once"),
        ]

    def __str__(self) -> str:
        return self.name


class LooseObject(TenantOwned):
    """An object in the store that no file holds: it is still being written, or its file has gone.

    The row is committed before the object is written, so that an upload that ended in the middle is found. At `due_at` the
    sweep deletes the object, and then the row; `reserved_bytes` are given back to the quota `storage_bytes`.
    Personal data: none; the object's content may hold some.
    """

    object_key = models.CharField(max_length=160)
    reserved_bytes = models.BigIntegerField(default=0)
    due_at = models.DateTimeField()

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "object_key"], name="suppliers_loose_object_once"),
        ]
        indexes = [models.Index(fields=["due_at", "tenant"], name="suppliers_loose_object_due")]

    def __str__(self) -> str:
        return self.object_key
