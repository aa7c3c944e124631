"""API keys, the security log and the keys of tenants. Global tables: they are read and written before a tenant is known."""

from datetime import datetime
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django_fsm import FSMField

from core.clock import now
from core.ids import uuid7
from core.lifecycle import LifecycleModel, transition
from core.row_security import REFERENCE, TableSecurity
from core.tenant_rows import TenantRow
from core.validity import Validity
from core.versioned import Versioned
from organizations.roles import NEVER_BY_MACHINES

from .tenancy import Membership, Tenant


class ApiKey(TenantRow, LifecycleModel, Versioned):
    """An API key of a supplier or partner. Its secret is stored as a digest and shown only once.

    Personal data: none.
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        ROTATING = "rotating"
        EXPIRED = "expired"
        REVOKED = "revoked"

    class Environment(models.TextChoices):
        LIVE = "live"
        TEST = "test"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    key_id = models.CharField(max_length=8, unique=True)
    digest = models.CharField(max_length=160)
    last4 = models.CharField(max_length=4)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="api_keys")
    membership = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="api_keys")
    name = models.CharField(max_length=200)
    partner = models.CharField(max_length=200, blank=True, default="")
    roles = ArrayField(models.CharField(max_length=60), default=list)
    scopes = ArrayField(models.CharField(max_length=80), default=list)
    allowed_cidrs = ArrayField(models.CharField(max_length=43), default=list, blank=True)
    environment = models.CharField(max_length=4, choices=Environment, default=Environment.LIVE)
    expires_at = models.DateTimeField()
    status = FSMField(default=Status.ACTIVE.value, choices=Status, protected=True, max_length=20)
    overlap_ends_at = models.DateTimeField(null=True, blank=True)
    rotated_from = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaced_by"
    )
    expiring_told_at = models.DateTimeField(null=True, blank=True)
    created_by = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)

    WORKING: ClassVar = (Status.ACTIVE, Status.ROTATING)
    VALIDITY: ClassVar = Validity(ends=("expires_at", "overlap_ends_at"))
    unversioned: ClassVar = ("expiring_told_at",)
    security: ClassVar = TableSecurity(before_binding=True, placement="reference")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["active", "rotating", "expired", "revoked"]),
                name="organizations_apikey_status_known",
            ),
            models.CheckConstraint(
                condition=~Q(status="rotating") | Q(overlap_ends_at__isnull=False),
                name="organizations_apikey_overlap_known",
            ),
            models.CheckConstraint(
                condition=~Q(scopes__overlap=sorted(NEVER_BY_MACHINES)), name="organizations_apikey_no_persons_scope"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="organizations_apikey_by_time"),
            models.Index(
                fields=["expires_at"],
                condition=Q(status__in=["active", "rotating"]),
                name="organizations_apikey_expiry",
            ),
        ]

    def __str__(self) -> str:
        return f"hpk_{self.environment}_{self.key_id}_…{self.last4}"

    @transition(field=status, source="active", target="rotating")
    def rotate(self, overlap_ends_at: datetime) -> None:
        """Let the key work beside its successor until the overlap ends."""
        self.overlap_ends_at = overlap_ends_at

    @transition(field=status, source=["active", "rotating"], target="expired")
    def expire(self) -> None:
        """End the key because its validity or overlap has ended."""

    @transition(field=status, source=["active", "rotating"], target="revoked")
    def revoke(self) -> None:
        """End the key at once."""


class ApiKeyUse(TenantRow):
    """The use of an API key, in a table of its own: keys are read on every request and seldom written.

    Written at most once a minute, outside the request's transaction. Personal data: the network address of the last use.
    """

    api_key = models.OneToOneField(ApiKey, primary_key=True, on_delete=models.CASCADE, related_name="use")
    tenant_id = models.UUIDField()
    last_used_at = models.DateTimeField(null=True, help_text="The last use, up to a minute late.")
    last_used_ip = models.GenericIPAddressField(null=True, help_text="The network address of the last use.")
    usage_count = models.BigIntegerField(db_default=0, help_text="How often the key was used, up to a minute late.")

    security: ClassVar = TableSecurity(before_binding=True, placement="local")

    def __str__(self) -> str:
        return f"use of key {self.api_key_id}"


class SecurityLogEntry(models.Model):
    """One refused request, written outside the request's transaction and never changed.

    Personal data: the network address and, where known, the id of the subject.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField(default=now, db_default=Now())
    code = models.CharField(max_length=60)
    subject = models.CharField(max_length=80, blank=True, default="")
    credential = models.CharField(max_length=120, blank=True, default="")
    tenant_id = models.UUIDField(null=True, blank=True)
    route = models.CharField(max_length=200, blank=True, default="")
    address = models.GenericIPAddressField(null=True, blank=True)
    request_id = models.CharField(max_length=128, blank=True, default="")

    security: ClassVar = TableSecurity(tenant_column=None, append_only=True, placement="local")

    class Meta:
        verbose_name_plural = "security log entries"
        indexes = [
            models.Index(fields=["at"], name="organizations_security_at"),
            models.Index(fields=["tenant_id", "at"], name="organizations_security_tenant"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.at:%Y-%m-%dT%H:%M:%SZ}"


class TenantKey(models.Model):
    """The key of a tenant, sealed by the platform's key ring. The row of a destroyed key stays, and no other key follows it.

    Outside row security: a transaction seals rows of two tenants, and without the key ring a sealed key opens nothing.

    Personal data: none.
    """

    tenant = models.OneToOneField(
        "organizations.Tenant", primary_key=True, on_delete=models.PROTECT, related_name="+", editable=False
    )
    sealed_key = models.BinaryField(null=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)
    destroyed_at = models.DateTimeField(null=True)

    security: ClassVar = REFERENCE

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(sealed_key__isnull=True, destroyed_at__isnull=False)
                | Q(sealed_key__isnull=False, destroyed_at__isnull=True),
                name="organizations_tenant_key_or_destroyed",
            ),
        ]

    def __str__(self) -> str:
        return str(self.tenant_id)
