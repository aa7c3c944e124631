"""Tables of notifications: one row for each tenant that is told, who has read it, what is open, and the mails that wait."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from core.clock import now
from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow
from core.versioned import Versioned
from organizations.public import TenantOwned, TenantQuerySet

from .states import EXPIRY_DAYS, Digest, Kind, Severity, Shelved, Type

MOST_BODY = 5000
_CURRENT = Q(archived_at__isnull=True, in_app=True)
_OPEN = Q(kind=Kind.ALERT.value, closed_at__isnull=True, archived_at__isnull=True, in_app=True)


def _default_days() -> list[int]:
    return [*EXPIRY_DAYS]


class Notification(TenantRow, Versioned):
    """A message or an alert as one tenant has it, cut into months by `created_at`.

    `resource_type` and `resource_id` name what it is about. Messages about one document have one `thread_id`, the
    document's id, on both sides; `from_tenant_id` wrote them, and `sender_id` says who, in the writer's own row alone.
    An alert is open until `closed_at`: its cause has gone, or it was archived. `in_app` false keeps it out of the lists.
    `location_id` limits it to the members of a place; `places.py` says whose place counts instead. `files` are those of the writer's tenant, as they were when it wrote.
    Personal data: the text of a message, names of its files, and the ids of who wrote it and who has acknowledged an alert.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(default=now, db_default=Now())
    tenant_id = models.UUIDField()
    kind = models.CharField(max_length=7, choices=Kind)
    type = models.CharField(max_length=24, choices=Type)
    severity = models.CharField(max_length=8, choices=Severity)
    title = models.CharField(max_length=200)
    body = models.CharField(max_length=MOST_BODY)
    resource_type = models.CharField(max_length=24)
    resource_id = models.CharField(max_length=64)
    thread_id = models.UUIDField(null=True)
    from_tenant_id = models.UUIDField(null=True)
    sender_id = models.UUIDField(null=True)
    location_id = models.UUIDField(null=True)
    files = models.JSONField(default=list)
    in_app = models.BooleanField(default=True, db_default=True)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.UUIDField(null=True)
    archived_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    objects = TenantQuerySet.as_manager()  # type: ignore[misc]  # further methods than those of TenantRow

    security: ClassVar = TableSecurity(dispatcher=True)
    partitioned: ClassVar = True

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(severity__in=Severity.values), name="suppliers_notification_severity"),
            models.CheckConstraint(
                condition=Q(kind=Kind.MESSAGE, type=Type.MESSAGE, thread_id__isnull=False, from_tenant_id__isnull=False)
                | Q(kind=Kind.ALERT, thread_id__isnull=True, from_tenant_id__isnull=True, sender_id__isnull=True)
                & Q(type__in=[one for one in Type.values if one != Type.MESSAGE]),
                name="suppliers_notification_kind",
            ),
            models.CheckConstraint(
                condition=Q(acknowledged_at__isnull=True, acknowledged_by__isnull=True)
                | Q(kind=Kind.ALERT, acknowledged_at__isnull=False, acknowledged_by__isnull=False),
                name="suppliers_notification_acknowledged",
            ),
            models.CheckConstraint(
                condition=Q(closed_at__isnull=True) | Q(kind=Kind.ALERT), name="suppliers_notification_closed"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant_id", "id"], name="suppliers_notif_by_id"),
            models.Index(fields=["tenant_id", "created_at", "id"], condition=_CURRENT, name="suppliers_notif_current"),
            models.Index(
                fields=["tenant_id", "type", "created_at", "id"],
                condition=_CURRENT,
                name="suppliers_notif_by_type",
            ),
            models.Index(
                fields=["tenant_id", "created_at", "id"],
                condition=Q(archived_at__isnull=False, in_app=True),
                name="suppliers_notif_archived",
            ),
            models.Index(fields=["tenant_id", "created_at", "id"], condition=_OPEN, name="suppliers_notif_open"),
            models.Index(fields=["tenant_id", "updated_at", "id"], name="suppliers_notif_updated"),
            models.Index(
                fields=["tenant_id", "thread_id", "created_at", "id"],
                condition=Q(thread_id__isnull=False),
                name="suppliers_notif_thread",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


class OpenAlert(TenantRow):
    """That an alert is open: one for each tenant, type and subject, whatever the number of causes. Personal data: none."""

    pk = models.CompositePrimaryKey("tenant_id", "type", "resource_id")
    tenant_id = models.UUIDField()
    type = models.CharField(max_length=24, choices=Type)
    resource_id = models.CharField(max_length=64)
    notification_id = models.UUIDField()
    severity = models.CharField(max_length=8, choices=Severity)
    created_at = models.DateTimeField()

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        verbose_name = "open alert"

    def __str__(self) -> str:
        return f"{self.type} {self.resource_id}"


class NotificationRead(TenantRow):
    """That somebody has read a notification; each reader has their own. Personal data: the reader's id."""

    pk = models.CompositePrimaryKey("tenant_id", "subject_id", "notification_id")
    tenant_id = models.UUIDField()
    subject_id = models.UUIDField()
    notification_id = models.UUIDField()
    read_at = models.DateTimeField()

    security: ClassVar = TableSecurity()

    def __str__(self) -> str:
        return str(self.notification_id)


class NotificationCounter(TenantRow):
    """The number of a tenant's notifications, cut into stripes so that writers at once seldom meet.

    A stripe alone may be below 0; all of them together say how many there are. Personal data: none.
    """

    pk = models.CompositePrimaryKey("tenant_id", "state", "stripe")
    tenant_id = models.UUIDField()
    state = models.CharField(max_length=8, choices=Shelved)
    stripe = models.SmallIntegerField()
    notifications = models.BigIntegerField()

    security: ClassVar = TableSecurity()

    def __str__(self) -> str:
        return f"{self.notifications} {self.state}"


class NotificationPreference(TenantOwned):
    """How a tenant wants to be told; without a row, the defaults hold.

    `channels` has an object for each type that was settled. The quiet hours are wall-clock times in `quiet_zone`; both
    are empty where there are none. Personal data: none.
    """

    channels = models.JSONField(default=dict)
    expiry_days = ArrayField(models.SmallIntegerField(), default=_default_days)
    low_stock_default = models.BigIntegerField(null=True)
    digest = models.CharField(max_length=9, choices=Digest, default=Digest.IMMEDIATE.value)
    quiet_from = models.TimeField(null=True)
    quiet_to = models.TimeField(null=True)
    quiet_zone = models.CharField(max_length=64, blank=True, default="")

    WRITABLE: ClassVar = (
        "channels", "expiry_days", "low_stock_default", "digest", "quiet_from", "quiet_to", "quiet_zone",
    )  # fmt: skip

    class Meta:
        verbose_name = "notification preferences"
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="suppliers_notificationpref_once"),
            models.CheckConstraint(condition=Q(digest__in=Digest.values), name="suppliers_notificationpref_digest"),
            models.CheckConstraint(
                condition=Q(low_stock_default__isnull=True) | Q(low_stock_default__gte=0),
                name="suppliers_notificationpref_low_stock",
            ),
            models.CheckConstraint(
                condition=Q(quiet_from__isnull=True, quiet_to__isnull=True, quiet_zone="")
                | Q(quiet_from__isnull=False, quiet_to__isnull=False) & ~Q(quiet_zone=""),
                name="suppliers_notificationpref_quiet",
            ),
        ]

    def __str__(self) -> str:
        return str(self.tenant_id)


class NotificationMail(TenantOwned):
    """A mail about a notification that waits: `due_at` is when a worker looks at it next. Personal data: none."""

    notification_id = models.UUIDField()
    due_at = models.DateTimeField()

    unversioned: ClassVar = ("due_at",)
    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "notification_id"], name="suppliers_notificationmail_once"),
        ]
        indexes = [
            models.Index(fields=["due_at", "tenant"], name="suppliers_notifmail_due"),
            models.Index(fields=["tenant", "due_at", "id"], name="suppliers_notifmail_of"),
        ]

    def __str__(self) -> str:
        return str(self.notification_id)
