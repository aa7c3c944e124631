"""Configurations, entitlements and quotas."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from core.clock import now
from core.ids import uuid7
from core.row_security import REFERENCE, TableSecurity
from core.tenant_rows import TenantRow
from core.versioned import Versioned
from organizations.ownership import TenantOwned, TenantQuerySet
from organizations.plans import Enforcement, Period


class TenantConfiguration(TenantOwned):
    """A tenant's own settings by section; all others are inherited. One row per tenant.

    Personal data: none; the support e-mail address in `branding` is that of a service, not of a person.
    """

    schema_version = models.PositiveSmallIntegerField(default=1)
    policies = models.JSONField(default=dict)
    modules = models.JSONField(default=dict)
    branding = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="organizations_configuration_one_per_tenant")]

    def __str__(self) -> str:
        return f"configuration {self.version} of {self.tenant_id}"


class ConfigurationVersion(TenantRow):
    """One change of a tenant's configuration: author, time, and each setting before and after. Never changed.

    Personal data: none; the subject is an id.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.PositiveIntegerField()
    schema_version = models.PositiveSmallIntegerField()
    diff = models.JSONField()
    changed_by = models.UUIDField()
    changed_by_kind = models.CharField(max_length=10)
    request_id = models.CharField(max_length=128, blank=True)
    changed_at = models.DateTimeField()

    objects = TenantQuerySet.as_manager()  # type: ignore[misc]  # further methods than those of TenantRow

    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="organizations_configuration_version_number")
        ]

    def __str__(self) -> str:
        return f"configuration {self.number} of {self.tenant_id}"


class OrganizationConfiguration(Versioned):
    """Settings of an organization for all tenants below it, which cannot change those in `locked`.

    Global, because the settings in effect for a tenant come from organizations above it. Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    organization = models.OneToOneField("organizations.Organization", on_delete=models.PROTECT, related_name="+")
    policies = models.JSONField(default=dict, blank=True)
    modules = models.JSONField(default=dict, blank=True)
    branding = models.JSONField(default=dict, blank=True)
    locked = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)

    security: ClassVar = REFERENCE

    def __str__(self) -> str:
        return f"configuration of {self.organization_id}"


class Entitlement(TenantOwned):
    """A tenant's plan with its features and rate limits and the tenant's exceptions. One row per tenant.

    Personal data: none.
    """

    plan = models.CharField(max_length=40)
    features = ArrayField(models.CharField(max_length=40), default=list)
    rate_limits = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    valid_from = models.DateTimeField()
    valid_until = models.DateTimeField(null=True, blank=True)
    source = models.CharField(max_length=40)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="organizations_entitlement_one_per_tenant"),
            models.CheckConstraint(
                condition=Q(valid_until__isnull=True) | Q(valid_until__gt=F("valid_from")),
                name="organizations_entitlement_period",
            ),
        ]
        indexes = [
            models.Index(
                fields=["valid_until"],
                condition=Q(valid_until__isnull=False),
                name="org_entitlement_ends",
            )
        ]

    def __str__(self) -> str:
        return f"{self.plan} of {self.tenant_id}"


class Quota(TenantOwned):
    """A tenant's limit and use of one resource. A constraint of the database enforces a hard limit.

    `used` counts since `period_started`; in a new day or month it starts again from zero. Personal data: none.
    """

    key = models.CharField(max_length=40)
    limit = models.BigIntegerField(null=True, blank=True)
    used = models.BigIntegerField(default=0)
    period = models.CharField(max_length=10, choices=[(one, one) for one in Period], default=Period.NONE)
    period_started = models.DateTimeField()
    enforcement = models.CharField(max_length=10, choices=[(one, one) for one in Enforcement], default=Enforcement.HARD)
    warn_at = models.DecimalField(max_digits=3, decimal_places=2, default=0.8)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "key"], name="organizations_quota_key"),
            models.CheckConstraint(condition=Q(used__gte=0), name="organizations_quota_used_not_negative"),
            models.CheckConstraint(
                condition=~Q(enforcement="hard") | Q(limit__isnull=True) | Q(used__lte=F("limit")),
                name="organizations_quota_hard_limit",
            ),
            models.CheckConstraint(
                condition=Q(limit__isnull=True) | Q(limit__gte=0), name="organizations_quota_limit_not_negative"
            ),
            models.CheckConstraint(condition=Q(period__in=list(Period)), name="organizations_quota_period_known"),
            models.CheckConstraint(
                condition=Q(enforcement__in=list(Enforcement)), name="organizations_quota_enforcement_known"
            ),
            models.CheckConstraint(condition=Q(warn_at__gt=0, warn_at__lte=1), name="organizations_quota_warn_at"),
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.tenant_id}: {self.used} of {self.limit}"
