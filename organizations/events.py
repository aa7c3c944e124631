"""Events that this app records. Payloads are thin: ids and states, never names of persons."""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger.public import EventType, register


class _OrganizationEvent(EventType):
    resource: ClassVar = "organization"
    href: ClassVar = "/v1/organizations/{id}"


class _TenantEvent(EventType):
    resource: ClassVar = "tenant"
    href: ClassVar = "/v1/tenants/{id}"


class _MembershipEvent(EventType):
    resource: ClassVar = "membership"
    data_class: ClassVar = "personal"


class _SupplierUserEvent(EventType):
    """Of the membership behind a supplier's user, when it is changed by the supplier's own interface."""

    resource: ClassVar = "supplier_user"
    data_class: ClassVar = "personal"


class _ApiKeyEvent(EventType):
    resource: ClassVar = "api_key"


@register
@dataclass(frozen=True)
class OrganizationCreated(_OrganizationEvent):
    """An organization was created."""

    type: ClassVar = "organization.created"
    parent_id: str | None = None


@register
@dataclass(frozen=True)
class OrganizationUpdated(_OrganizationEvent):
    """Fields of an organization changed; `changed` names them."""

    type: ClassVar = "organization.updated"
    changed: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class OrganizationMoved(_OrganizationEvent):
    """An organization was moved, with everything below it, under another parent."""

    type: ClassVar = "organization.moved"
    from_parent_id: str | None = None
    to_parent_id: str | None = None


@register
@dataclass(frozen=True)
class OrganizationSuspended(_OrganizationEvent):
    """An organization was suspended."""

    type: ClassVar = "organization.suspended"


@register
@dataclass(frozen=True)
class OrganizationResumed(_OrganizationEvent):
    """A suspended organization was resumed."""

    type: ClassVar = "organization.resumed"


@register
@dataclass(frozen=True)
class OrganizationClosed(_OrganizationEvent):
    """An organization was closed for good."""

    type: ClassVar = "organization.closed"


@register
@dataclass(frozen=True)
class TenantProvisioned(_TenantEvent):
    """A tenant was set up and is active."""

    type: ClassVar = "tenant.provisioned"
    organization_id: str
    kinds: list[str]


@register
@dataclass(frozen=True)
class TenantUpdated(_TenantEvent):
    """Fields of a tenant changed; `changed` names them."""

    type: ClassVar = "tenant.updated"
    changed: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class TenantSuspended(_TenantEvent):
    """A tenant was suspended: it refuses writes, and its webhooks are paused."""

    type: ClassVar = "tenant.suspended"


@register
@dataclass(frozen=True)
class TenantResumed(_TenantEvent):
    """A suspended tenant was resumed."""

    type: ClassVar = "tenant.resumed"


@register
@dataclass(frozen=True)
class TenantOffboarding(_TenantEvent):
    """The offboarding of a tenant began; its data is deleted after the retention time."""

    type: ClassVar = "tenant.offboarding"


@register
@dataclass(frozen=True)
class TenantClosed(_TenantEvent):
    """A tenant was closed for good."""

    type: ClassVar = "tenant.closed"


@register
@dataclass(frozen=True)
class MembershipInvited(_MembershipEvent):
    """A person was invited to a tenant."""

    type: ClassVar = "membership.invited"
    roles: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class MembershipActivated(_MembershipEvent):
    """A membership became active: it was accepted, added or resumed."""

    type: ClassVar = "membership.activated"
    roles: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class MembershipUpdated(_MembershipEvent):
    """Roles, locations or validity of a membership changed; `changed` names the fields."""

    type: ClassVar = "membership.updated"
    changed: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class MembershipSuspended(_MembershipEvent):
    """A membership was suspended."""

    type: ClassVar = "membership.suspended"


@register
@dataclass(frozen=True)
class MembershipRevoked(_MembershipEvent):
    """A membership was revoked for good."""

    type: ClassVar = "membership.revoked"


@register
@dataclass(frozen=True)
class MembershipExpired(_MembershipEvent):
    """A membership reached the end of its validity."""

    type: ClassVar = "membership.expired"


@register
@dataclass(frozen=True)
class ApiKeyCreated(_ApiKeyEvent):
    """An API key was created; `key_id` is its public part."""

    type: ClassVar = "api_key.created"
    key_id: str


@register
@dataclass(frozen=True)
class ApiKeyRotated(_ApiKeyEvent):
    """An API key was replaced by a successor; the old key works until the overlap ends."""

    type: ClassVar = "api_key.rotated"
    key_id: str
    replaced_by_id: str
    overlap_ends_at: str


@register
@dataclass(frozen=True)
class ApiKeyRevoked(_ApiKeyEvent):
    """An API key was revoked and no longer works."""

    type: ClassVar = "api_key.revoked"
    key_id: str


@register
@dataclass(frozen=True)
class ApiKeyExpiring(_ApiKeyEvent):
    """An API key will expire soon."""

    type: ClassVar = "api_key.expiring"
    key_id: str
    expires_at: str


@register
@dataclass(frozen=True)
class ConfigurationUpdated(EventType):
    """Settings of a tenant changed; `keys` names them, never their values."""

    type: ClassVar = "configuration.updated"
    resource: ClassVar = "configuration"
    keys: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class EntitlementChanged(EventType):
    """A tenant's plan, features, quotas or rate limits changed."""

    type: ClassVar = "entitlement.changed"
    resource: ClassVar = "entitlement"
    plan: str
    source: str
    features: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class QuotaThresholdReached(EventType):
    """The use of a quota reached its warning threshold or its limit."""

    type: ClassVar = "quota.threshold_reached"
    resource: ClassVar = "quota"
    key: str
    used: int
    limit: int
    percent: int


@register
@dataclass(frozen=True)
class LocationCreated(EventType):
    """A location was created."""

    type: ClassVar = "location.created"
    resource: ClassVar = "location"
    href: ClassVar = "/v1/locations/{id}"
    location_type: str


@register
@dataclass(frozen=True)
class LocationUpdated(EventType):
    """Fields of a location changed; `changed` names them."""

    type: ClassVar = "location.updated"
    resource: ClassVar = "location"
    href: ClassVar = "/v1/locations/{id}"
    changed: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class StaffAccessStarted(EventType):
    """A member of the platform's staff began to view this tenant, for a stated reason and a limited time."""

    type: ClassVar = "staff_access.started"
    resource: ClassVar = "staff_access"
    staff_role: str
    reason: str
    expires_at: str


@register
@dataclass(frozen=True)
class StaffAccessEnded(EventType):
    """A member of the platform's staff stopped viewing this tenant before the time had run out."""

    type: ClassVar = "staff_access.ended"
    resource: ClassVar = "staff_access"


@register
@dataclass(frozen=True)
class StaffActionPerformed(EventType):
    """A member of the platform's staff changed something through the admin; `reason` is in their own words."""

    type: ClassVar = "staff_action.performed"
    resource: ClassVar = "staff_action"
    action: str
    target_type: str
    target_id: str
    staff_role: str
    reason: str


@register
@dataclass(frozen=True)
class SupplierUserInvited(_SupplierUserEvent):
    """A person was invited as a user of a supplier."""

    type: ClassVar = "supplier_user.invited"
    role: str = field(metadata={"example": "supplier_orders"})


@register
@dataclass(frozen=True)
class SupplierUserUpdated(_SupplierUserEvent):
    """The role of a supplier's user was changed, or the user was deactivated or activated again; `changed` says which."""

    type: ClassVar = "supplier_user.updated"
    changed: list[str] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    status: str = field(default="", metadata={"example": "suspended"})
