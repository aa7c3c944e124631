"""Tables of the webhooks app: endpoints, events, deliveries.

History (`Event`, `Delivery`, `Attempt`) is keyed by `(created_at, id)`, so that it can be cut into months; live work
(`NewEvent`, `DueDelivery`) lies in two narrow tables that stay small however long the history grows.
"""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow
from core.validity import Validity
from organizations.public import TenantOwned

from . import states
from .envelope import API_VERSION
from .measures import EndpointHealth, EndpointHour, Meter
from .refusals import ReplayInProgress
from .subscriptions import Subscription

__all__ = [
    "Attempt", "Delivery", "DueDelivery", "Endpoint", "EndpointHealth", "EndpointHour", "Event", "EventBody", "Meter",
    "NewEvent", "Replay", "ResourceSequence", "Secret", "Subscription",
]  # fmt: skip


class Endpoint(TenantOwned):
    """Where a tenant wants events delivered, and which. Deleting keeps the row, because its history stays.

    Personal data: none; `description` is free text of the tenant's administrators.
    """

    class PayloadMode(models.TextChoices):
        THIN = "thin", "thin"
        FULL = "full", "full"

    url = models.CharField(max_length=2048, help_text="Where events are sent; https, public.")
    events = ArrayField(models.CharField(max_length=80), help_text="Exact types, families (`product.*`) or `*`.")
    active = models.BooleanField(default=True, db_default=True, help_text="False stops delivery and keeps the rest.")
    description = models.CharField(max_length=500, blank=True, default="", db_default="")
    api_version = models.CharField(
        max_length=10, default=API_VERSION, db_default=API_VERSION, help_text="The envelope's version, set at creation."
    )
    payload_mode = models.CharField(
        max_length=4, choices=PayloadMode, default=PayloadMode.THIN, db_default=PayloadMode.THIN,
        help_text="`thin` names the resource; `full` carries its representation as of the event, up to 64 KiB.",
    )  # fmt: skip
    ordered = models.BooleanField(
        default=False, db_default=False, help_text="One message of a resource at a time, in the order of its events."
    )
    max_inflight = models.PositiveSmallIntegerField(default=8, db_default=8, help_text="Most messages sent at once.")
    max_rps = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Most messages a second; null: any.")
    disabled_reason = models.CharField(
        max_length=40, blank=True, default="", db_default="",
        help_text="Why it is not active: by_user, gone (the receiver answered 410), failing (72 hours of failures), …; "
        "empty while active.",
    )  # fmt: skip
    disabled_by = models.CharField(
        max_length=100, blank=True, default="", db_default="",
        help_text="Who disabled it: `key:<id>`, `user:<id>`, `service:<id>` or `platform`.",
    )  # fmt: skip
    disabled_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    WRITABLE: ClassVar = (
        "url", "events", "active", "description", "payload_mode", "ordered", "max_inflight", "max_rps",
    )  # fmt: skip
    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(events=[]), name="webhooks_endpoint_wants_something"),
            models.CheckConstraint(
                condition=Q(payload_mode__in=["thin", "full"]), name="webhooks_endpoint_payload_mode_known"
            ),
            models.CheckConstraint(condition=Q(max_inflight__range=(1, 64)), name="webhooks_endpoint_inflight_bounded"),
            models.CheckConstraint(
                condition=Q(max_rps__isnull=True) | Q(max_rps__range=(1, 1000)), name="webhooks_endpoint_rate_bounded"
            ),
            models.CheckConstraint(
                condition=Q(deleted_at__isnull=True) | Q(active=False), name="webhooks_endpoint_deleted_is_silent"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="webhooks_endpoint_by_time"),
            models.Index(fields=["tenant"], condition=Q(active=True), name="webhooks_endpoint_active"),
        ]

    def __str__(self) -> str:
        return f"endpoint {self.id}"


class Secret(TenantOwned):
    """A signing key of an endpoint, sealed because it must be used again; several are live while one is rotated out.

    Personal data: none.
    """

    class Kind(models.TextChoices):
        HMAC = "hmac"
        ED25519 = "ed25519"

    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="secrets", db_constraint=False)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.HMAC)
    sealed_key = models.BinaryField()
    public_key = models.CharField(max_length=60, blank=True, default="", db_default="")  # of an ed25519 pair, as text
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    VALIDITY: ClassVar = Validity(ends=("expires_at",))
    unversioned: ClassVar = ("last_used_at",)
    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["hmac", "ed25519"]), name="webhooks_secret_kind_known")
        ]

    def __str__(self) -> str:
        return f"secret {self.id}"


class Event(TenantRow):
    """One fact for one audience tenant, with the exact bytes that are signed and sent. Never updated.

    Personal data: none; `body` is thin (ids, states, versions).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(db_default=Now())
    tenant_id = models.UUIDField()
    type = models.CharField(max_length=80)
    resource_type = models.CharField(max_length=60)
    resource_id = models.UUIDField()
    sequence = models.BigIntegerField()
    api_version = models.CharField(max_length=10)
    request_id = models.CharField(max_length=128)
    body = models.BinaryField()

    security: ClassVar = TableSecurity(append_only=True, dispatcher=True)
    partitioned: ClassVar = True

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "created_at", "id"], name="webhooks_event_by_time")]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


class EventBody(TenantRow):
    """The bytes of an event in another form than the thin one of `Event.body`: one row for each form in use.

    Personal data: in the mode `full` whatever the resource's own table holds. Bodies are the first thing to be dropped.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField()
    tenant_id = models.UUIDField()
    event_id = models.UUIDField()
    api_version = models.CharField(max_length=10)
    payload_mode = models.CharField(max_length=4)
    body = models.BinaryField()

    security: ClassVar = TableSecurity(append_only=True, dispatcher=True)
    partitioned: ClassVar = True

    class Meta:
        db_table = "webhooks_event_body"
        verbose_name_plural = "event bodies"
        constraints = [
            models.UniqueConstraint(
                fields=["created_at", "event_id", "api_version", "payload_mode", "tenant_id"],
                name="webhooks_event_body_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.payload_mode} body of {self.event_id}"


class NewEvent(TenantRow):
    """An event that was not yet matched with the endpoints: the fan-out's queue, kept apart so the log is never updated.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True)
    created_at = models.DateTimeField()
    tenant_id = models.UUIDField()
    type = models.CharField(max_length=80)
    resource_id = models.UUIDField()

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        db_table = "webhooks_event_new"
        indexes = [models.Index(fields=["tenant_id", "created_at", "id"], name="webhooks_event_new_oldest")]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


class ResourceSequence(TenantRow):
    """How many events a resource has had, per audience tenant: the `sequence` by which receivers order them.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField()
    resource_id = models.UUIDField()
    last = models.BigIntegerField()

    security: ClassVar = TableSecurity()

    class Meta:
        db_table = "webhooks_resource_sequence"
        constraints = [models.UniqueConstraint(fields=["tenant_id", "resource_id"], name="webhooks_sequence_once")]

    def __str__(self) -> str:
        return f"{self.resource_id}: {self.last}"


class Delivery(TenantRow):
    """One event on its way to one endpoint; `created_at` is the event's, so that both age and leave together.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField()
    tenant_id = models.UUIDField()
    event_id = models.UUIDField()
    event_type = models.CharField(max_length=80)
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.PROTECT, related_name="deliveries", db_constraint=False, db_index=False
    )
    state = models.CharField(max_length=10, choices=states.choices(states.ALL), db_default=states.PENDING)
    attempts = models.PositiveSmallIntegerField(db_default=0)
    attempts_before = models.PositiveSmallIntegerField(db_default=0)  # those before it was last sent again on purpose
    last_status = models.PositiveSmallIntegerField(null=True)
    last_error = models.CharField(max_length=40, db_default="")
    next_attempt_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)

    security: ClassVar = TableSecurity(dispatcher=True)
    partitioned: ClassVar = True

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=states.ALL), name="webhooks_delivery_state_known"),
            models.UniqueConstraint(
                fields=["event_id", "endpoint", "created_at", "tenant_id"], name="webhooks_delivery_once"
            ),
        ]
        indexes = [
            models.Index(fields=["id"], name="webhooks_delivery_by_id"),
            models.Index(fields=["endpoint", "created_at", "id"], name="webhooks_delivery_by_endpoint"),
            models.Index(
                fields=["endpoint"], condition=Q(state__in=states.UNFINISHED), name="webhooks_delivery_unfinished"
            ),
        ]

    def __str__(self) -> str:
        return f"delivery {self.id}"


class DueDelivery(TenantRow):
    """Live work: one narrow row for each unfinished delivery. `due_at` doubles as the lease of whoever took it.

    Personal data: none.
    """

    delivery_id = models.UUIDField(primary_key=True)
    created_at = models.DateTimeField()
    tenant_id = models.UUIDField()
    event_id = models.UUIDField()
    endpoint_id = models.UUIDField()
    due_at = models.DateTimeField(db_default=Now())
    lease = models.UUIDField(null=True)
    attempts = models.PositiveSmallIntegerField(db_default=0)
    attempts_before = models.PositiveSmallIntegerField(db_default=0)
    claims = models.PositiveSmallIntegerField(db_default=0)
    trigger = models.CharField(max_length=10, db_default=states.SCHEDULE)
    resource_id = models.UUIDField(null=True)  # with `sequence` where the endpoint is ordered, else null
    sequence = models.BigIntegerField(db_default=0)
    retrying = models.GeneratedField(
        expression=models.ExpressionWrapper(Q(attempts__gt=models.F("attempts_before")), models.BooleanField()),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        db_table = "webhooks_delivery_due"
        verbose_name_plural = "due deliveries"
        indexes = [
            models.Index(fields=["retrying", "due_at"], name="webhooks_due_by_time"),
            models.Index(fields=["endpoint_id", "retrying", "due_at"], name="webhooks_due_by_endpoint"),
            models.Index(fields=["endpoint_id"], condition=Q(lease__isnull=False), name="webhooks_due_leased"),
            models.Index(
                fields=["endpoint_id", "resource_id", "sequence"],
                condition=Q(resource_id__isnull=False),
                name="webhooks_due_in_order",
            ),
        ]

    def __str__(self) -> str:
        return f"due {self.delivery_id}"


class Attempt(TenantRow):
    """One POST and what came back. Never updated; the answer is cut at 4 KiB and its headers to a short list.

    Personal data: none of ours; `response_excerpt` is whatever the receiver wrote.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(db_default=Now())
    tenant_id = models.UUIDField()
    delivery_id = models.UUIDField()
    endpoint_id = models.UUIDField()
    number = models.PositiveSmallIntegerField()
    status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=40, db_default="")
    duration_ms = models.PositiveIntegerField()
    response_excerpt = models.TextField(db_default="")
    response_headers = models.JSONField(default=dict)
    timings = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    remote_ip = models.GenericIPAddressField(null=True)
    trigger = models.CharField(max_length=10, choices=states.choices(states.TRIGGER), db_default=states.SCHEDULE)
    lease = models.UUIDField()

    security: ClassVar = TableSecurity(append_only=True, dispatcher=True)
    partitioned: ClassVar = True

    class Meta:
        indexes = [models.Index(fields=["delivery_id"], name="webhooks_attempt_by_delivery")]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.delivery_id}"


class Replay(TenantOwned):
    """A wish to send a stretch of the past to an endpoint again; a worker carries it out batch by batch.

    `cursor_at` and `cursor_id` are how far it came, so that whoever goes on starts there. Personal data: none.
    """

    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="replays", db_constraint=False)
    since = models.DateTimeField()
    until = models.DateTimeField()
    types = ArrayField(models.CharField(max_length=80), default=list, db_default=[])
    only = models.CharField(max_length=7, choices=states.choices(states.REPLAY_ONLY))
    state = models.CharField(
        max_length=9, choices=states.choices(states.REPLAY), default=states.QUEUED, db_default=states.QUEUED
    )
    requested_by = models.CharField(max_length=100)
    cursor_at = models.DateTimeField(null=True)
    cursor_id = models.UUIDField(null=True)
    examined = models.PositiveIntegerField(default=0, db_default=0)
    queued = models.PositiveIntegerField(default=0, db_default=0)
    error = models.CharField(max_length=200, default="", db_default="")
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    unversioned: ClassVar = ("error", "cursor_at", "cursor_id", "examined", "queued")
    refusals: ClassVar = {"webhooks_replay_one": ReplayInProgress}
    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=states.REPLAY), name="webhooks_replay_state_known"),
            models.CheckConstraint(condition=Q(only__in=states.REPLAY_ONLY), name="webhooks_replay_only_known"),
            models.CheckConstraint(condition=Q(until__gt=models.F("since")), name="webhooks_replay_has_length"),
            models.UniqueConstraint(
                fields=["endpoint", "tenant"], condition=Q(state__in=states.REPLAYING), name="webhooks_replay_one"
            ),
        ]
        indexes = [models.Index(fields=["endpoint", "created_at", "id"], name="webhooks_replay_by_endpoint")]

    def __str__(self) -> str:
        return f"replay {self.id}"
