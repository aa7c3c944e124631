"""Organizations, tenants, roles and memberships. Global tables: they are read before a tenant is known."""

from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now
from django_fsm import FSMField

from core.clock import now
from core.ids import uuid7
from core.lifecycle import LifecycleModel, refusing, transition
from core.row_security import LOCAL, REFERENCE, Market, TableSecurity
from core.tenant_rows import TenantRow
from core.text_folding import folded_sql
from core.validity import Validity
from core.versioned import Versioned
from organizations.refusals import AlreadyMember, LegalHold, OrganizationInUse

from .identity import ServiceAccount, User

LIVE = ("invited", "active", "suspended")
# As `core.text_folding` folds them in Python, each behind a blank.
NAME_WORDS = folded_sql("name")


class Organization(LifecycleModel, Versioned):
    """A health system, hospital, clinic, pharmacy, supplier or other unit in the tree of organizations.

    Personal data: names, e-mails and telephone numbers of contacts in `contact`.
    """

    class Type(models.TextChoices):
        HEALTH_SYSTEM = "health_system"
        HOSPITAL = "hospital"
        CLINIC = "clinic"
        PHARMACY = "pharmacy"
        SUPPLIER = "supplier"
        LABORATORY = "laboratory"
        PAYER = "payer"
        GROUP = "group"

    class Status(models.TextChoices):
        ACTIVE = "active"
        SUSPENDED = "suspended"
        CLOSED = "closed"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80, unique=True, null=True, blank=True, db_index=False)
    type = models.CharField(max_length=20, choices=Type, default=Type.GROUP)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="children")
    status = FSMField(default=Status.ACTIVE.value, choices=Status, protected=True, max_length=20)
    identifiers = models.JSONField(default=list, blank=True)
    contact = models.JSONField(default=dict, blank=True)
    address = models.JSONField(default=dict, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)

    WRITABLE: ClassVar = ("name", "slug", "type", "identifiers", "contact", "address", "metadata")
    security: ClassVar = replace(REFERENCE, market=Market(columns=("id", "parent_id", "address")))

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(parent=models.F("id")), name="organizations_organization_not_own_parent"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["active", "suspended", "closed"]),
                name="organizations_organization_status_known",
            ),
        ]
        indexes = [models.Index(fields=["name", "id"], name="organizations_org_by_name")]

    def __str__(self) -> str:
        return self.name

    @transition(field=status, source="active", target="suspended")
    def suspend(self) -> None:
        """Suspend the organization."""

    @transition(field=status, source="suspended", target="active")
    def resume(self) -> None:
        """Resume the organization."""

    def has_nothing_open_below(self) -> bool:
        """Tell whether every organization and tenant directly below is closed."""
        open_below = self.children.exclude(status=self.Status.CLOSED).exists()
        return not open_below and not self.tenants.exclude(status="closed").exists()

    @transition(
        field=status,
        source=["active", "suspended"],
        target="closed",
        conditions=[refusing(OrganizationInUse, has_nothing_open_below)],
    )
    def close(self) -> None:
        """Close the organization for good."""


class Tenant(LifecycleModel, Versioned):
    """One customer's separate data on the platform, run by one organization.

    One that is `managed_by` a buyer stands for a supplier that is not on the platform: nobody is a member of it, which a
    trigger on the memberships holds. It is closed once it is `merged_into` a supplier on the platform. Lists are searched by
    the words of its name, `name_words`. Personal data: none.
    """

    class Kind(models.TextChoices):
        PROVIDER = "provider"
        PHARMACY = "pharmacy"
        SUPPLIER = "supplier"

    class Status(models.TextChoices):
        PROVISIONING = "provisioning"
        ACTIVE = "active"
        SUSPENDED = "suspended"
        OFFBOARDING = "offboarding"
        CLOSED = "closed"

    class Environment(models.TextChoices):
        PRODUCTION = "production"
        SANDBOX = "sandbox"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="tenants")
    kinds = ArrayField(models.CharField(max_length=20, choices=Kind))
    name = models.CharField(max_length=200)
    name_words = models.GeneratedField(
        expression=RawSQL(NAME_WORDS, []),  # noqa: S611  # nosec B611 - a constant without parameters
        output_field=models.TextField(),
        db_persist=True,
    )
    slug = models.SlugField(max_length=80, unique=True, db_index=False)
    status = FSMField(default=Status.PROVISIONING.value, choices=Status, protected=True, max_length=20)
    region = models.CharField(max_length=40, blank=True, default="")
    time_zone = models.CharField(max_length=64, default="UTC")
    locale = models.CharField(max_length=35, default="en")
    currency = models.CharField(max_length=3, default="EUR")
    plan = models.CharField(max_length=40, default="standard")
    environment = models.CharField(max_length=12, choices=Environment, default=Environment.PRODUCTION)
    suspended_reason = models.CharField(max_length=500, blank=True, default="")
    settings_version = models.PositiveIntegerField(default=1, db_default=1)
    features = ArrayField(
        models.CharField(max_length=40), default=list, blank=True, help_text="Entitled and not switched off; a copy."
    )
    rate_limits = models.JSONField(default=dict, blank=True, help_text="A copy of the entitlement's.")
    reads_while_suspended = models.BooleanField(default=True, db_default=True, help_text="A copy of the policy.")
    entitled_until = models.DateTimeField(null=True, blank=True, help_text="A copy of the entitlement's end.")
    provisioning_job_id = models.UUIDField(null=True, blank=True)
    managed_by = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The buyer whose private supplier without users this is.",
    )
    merged_into = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="The supplier on the platform that has taken over the documents of this managed one.",
    )
    legal_hold = models.BooleanField(default=False, db_default=False)
    offboarding_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)

    WRITABLE: ClassVar = ("name", "region", "time_zone", "locale", "currency", "legal_hold")
    # Copies from the configuration and the entitlement, kept up to date by `organizations.actions`.
    unversioned: ClassVar = (
        "plan", "settings_version", "features", "rate_limits", "reads_while_suspended", "entitled_until",
    )  # fmt: skip
    security: ClassVar = replace(
        REFERENCE,
        market=Market(
            columns=("id", "organization_id", "name", "kinds", "status", "time_zone", "currency", "merged_into_id")
        ),
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(kinds=[]), name="organizations_tenant_has_kind"),
            models.CheckConstraint(
                condition=Q(kinds__contained_by=["provider", "pharmacy", "supplier"]),
                name="organizations_tenant_kinds_known",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["provisioning", "active", "suspended", "offboarding", "closed"]),
                name="organizations_tenant_status_known",
            ),
            models.CheckConstraint(
                condition=Q(managed_by__isnull=True) | Q(kinds=["supplier"]) & ~Q(managed_by=models.F("id")),
                name="organizations_tenant_managed_is_supplier",
            ),
            models.CheckConstraint(
                condition=Q(merged_into__isnull=True)
                | Q(managed_by__isnull=False, status="closed") & ~Q(merged_into=models.F("id")),
                name="organizations_tenant_merged_is_closed",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @transition(field=status, source="provisioning", target="active")
    def activate(self) -> None:
        """Activate the tenant after all steps of provisioning."""

    @transition(field=status, source="active", target="suspended")
    def suspend(self, reason: str) -> None:
        """Suspend the tenant: it refuses writes until it is resumed."""
        self.suspended_reason = reason

    @transition(field=status, source="suspended", target="active")
    def resume(self) -> None:
        """Resume the tenant."""
        self.suspended_reason = ""

    @transition(field=status, source=["active", "suspended"], target="offboarding")
    def offboard(self, at: datetime) -> None:
        """Begin offboarding; the retention time starts."""
        self.offboarding_at = at

    def may_be_deleted(self) -> bool:
        """Tell whether the tenant is free of a legal hold."""
        return not self.legal_hold

    @transition(field=status, source="offboarding", target="closed", conditions=[refusing(LegalHold, may_be_deleted)])
    def close(self, at: datetime) -> None:
        """Close the tenant for good."""
        self.closed_at = at


class Role(models.Model):
    """A named set of scopes: one of the platform (`tenant` null, seeded from `roles.py`) or a tenant's own.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    code = models.SlugField(max_length=60, db_index=False)
    tenant = models.ForeignKey(Tenant, null=True, blank=True, on_delete=models.CASCADE, related_name="roles")
    name = models.CharField(max_length=120)
    scopes = ArrayField(models.CharField(max_length=80), default=list)

    security: ClassVar = REFERENCE

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["code", "tenant"], nulls_distinct=False, name="organizations_role_code_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.code


class Membership(TenantRow, LifecycleModel, Versioned):
    """The tie between one user or service account and one tenant: roles, locations and validity.

    Personal data: refers to the person; until the invitation is accepted, the name as the inviter wrote it.
    """

    class Status(models.TextChoices):
        INVITED = "invited"
        ACTIVE = "active"
        SUSPENDED = "suspended"
        REVOKED = "revoked"
        EXPIRED = "expired"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="memberships")
    service_account = models.ForeignKey(
        ServiceAccount, null=True, blank=True, on_delete=models.PROTECT, related_name="memberships"
    )
    roles = ArrayField(models.CharField(max_length=60), default=list)
    location_ids = ArrayField(models.UUIDField(), default=list, blank=True)
    status = FSMField(default=Status.INVITED.value, choices=Status, protected=True, max_length=20)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)
    practitioner_id = models.CharField(
        max_length=64, null=True, blank=True, help_text="The FHIR id of a Practitioner of the tenant."
    )
    invited_by = models.UUIDField(null=True, blank=True)
    invited_name = models.CharField(
        max_length=200, blank=True, default="", db_default="", help_text="As the inviter wrote it."
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)

    WRITABLE: ClassVar = ("roles", "location_ids", "valid_from", "valid_until", "practitioner_id")
    VALIDITY: ClassVar = Validity(begins=("valid_from",), ends=("valid_until",))
    # Whoever was invited and never accepted may be a stranger to the tenant: of them it sees what it wrote itself.
    UNACCEPTED: ClassVar = "(t.\"accepted_at\" IS NULL AND t.\"status\" IN ('invited', 'revoked', 'expired'))"
    refusals: ClassVar = {
        "organizations_membership_user_once": AlreadyMember,
        "organizations_membership_service_once": AlreadyMember,
    }
    security: ClassVar = TableSecurity(before_binding=True, placement="reference")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, service_account__isnull=True)
                | Q(user__isnull=True, service_account__isnull=False),
                name="organizations_membership_one_subject",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["invited", "active", "suspended", "revoked", "expired"]),
                name="organizations_membership_status_known",
            ),
            models.CheckConstraint(
                condition=Q(valid_until__isnull=True)
                | Q(valid_from__isnull=True)
                | Q(valid_until__gt=models.F("valid_from")),
                name="organizations_membership_valid_span",
            ),
            models.UniqueConstraint(
                fields=["tenant", "user"], condition=Q(status__in=LIVE), name="organizations_membership_user_once"
            ),
            models.UniqueConstraint(
                fields=["tenant", "service_account"],
                condition=Q(status__in=LIVE),
                name="organizations_membership_service_once",
            ),
        ]
        indexes = [models.Index(fields=["tenant", "created_at", "id"], name="organizations_member_by_time")]

    def __str__(self) -> str:
        return str(self.id)

    @transition(field=status, source="invited", target="active")
    def accept(self, at: datetime) -> None:
        """Activate the membership; from now on the person's own name is shown."""
        self.accepted_at, self.invited_name = at, ""

    @transition(field=status, source="active", target="suspended")
    def suspend(self) -> None:
        """Suspend the membership."""

    @transition(field=status, source="suspended", target="active")
    def resume(self) -> None:
        """Resume the membership."""

    @transition(field=status, source=["invited", "active", "suspended"], target="revoked")
    def revoke(self) -> None:
        """Revoke the membership; the subject may get a new one."""

    @transition(field=status, source=["invited", "active", "suspended"], target="expired")
    def expire(self) -> None:
        """End the membership because its validity has ended."""


class ProvisioningStep(models.Model):
    """One finished step of provisioning a tenant; a later run continues after it.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="provisioning_steps")
    name = models.CharField(max_length=60)
    result = models.JSONField(default=dict)
    finished_at = models.DateTimeField()

    security: ClassVar = LOCAL

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="organizations_provisioning_step_once"),
        ]

    def __str__(self) -> str:
        return self.name
