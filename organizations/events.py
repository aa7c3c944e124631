"""Kinds of facts this app records. Thin payloads: ids and states, never names of persons."""

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


class _ApiKeyEvent(EventType):
    resource: ClassVar = "api_key"


@register
@dataclass(frozen=True)
class OrganizationCreated(_OrganizationEvent):
    """An organization was added to the tree."""

    type: ClassVar = "organization.created"
    parent_id: str | None = None


@register
@dataclass(frozen=True)
class OrganizationUpdated(_OrganizationEvent):
    """Fields of an organization changed; names which."""

    type: ClassVar = "organization.updated"
    changed: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class OrganizationMoved(_OrganizationEvent):
    """An organization, with everything below it, hangs under another parent."""

    type: ClassVar = "organization.moved"
    from_parent_id: str | None = None
    to_parent_id: str | None = None


@register
@dataclass(frozen=True)
class OrganizationSuspended(_OrganizationEvent):
    """An organization was stopped."""

    type: ClassVar = "organization.suspended"


@register
@dataclass(frozen=True)
class OrganizationResumed(_OrganizationEvent):
    """An organization works again."""

    type: ClassVar = "organization.resumed"


@register
@dataclass(frozen=True)
class OrganizationClosed(_OrganizationEvent):
    """An organization ended."""

    type: ClassVar = "organization.closed"


@register
@dataclass(frozen=True)
class TenantProvisioned(_TenantEvent):
    """A tenant is set up and open."""

    type: ClassVar = "tenant.provisioned"
    organization_id: str
    kinds: list[str]


@register
@dataclass(frozen=True)
class TenantUpdated(_TenantEvent):
    """Fields of a tenant changed; names which."""

    type: ClassVar = "tenant.updated"
    changed: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class TenantSuspended(_TenantEvent):
    """A tenant refuses writes; its webhooks are paused."""

    type: ClassVar = "tenant.suspended"


@register
@dataclass(frozen=True)
class TenantResumed(_TenantEvent):
    """A suspended tenant works again."""

    type: ClassVar = "tenant.resumed"


@register
@dataclass(frozen=True)
class TenantOffboarding(_TenantEvent):
    """The end of a tenant began."""

    type: ClassVar = "tenant.offboarding"


@register
@dataclass(frozen=True)
class TenantClosed(_TenantEvent):
    """A tenant ended."""

    type: ClassVar = "tenant.closed"


@register
@dataclass(frozen=True)
class MembershipInvited(_MembershipEvent):
    """Somebody was invited to a tenant."""

    type: ClassVar = "membership.invited"
    roles: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class MembershipActivated(_MembershipEvent):
    """A membership counts from now on: accepted, added, or resumed."""

    type: ClassVar = "membership.activated"
    roles: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class MembershipUpdated(_MembershipEvent):
    """Roles, locations or validity of a membership changed; names which."""

    type: ClassVar = "membership.updated"
    changed: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class MembershipSuspended(_MembershipEvent):
    """A membership was stopped for a while."""

    type: ClassVar = "membership.suspended"


@register
@dataclass(frozen=True)
class MembershipRevoked(_MembershipEvent):
    """A membership ended."""

    type: ClassVar = "membership.revoked"


@register
@dataclass(frozen=True)
class MembershipExpired(_MembershipEvent):
    """The time of a membership is over."""

    type: ClassVar = "membership.expired"


@register
@dataclass(frozen=True)
class ApiKeyCreated(_ApiKeyEvent):
    """An API key was made; `key_id` is its public part."""

    type: ClassVar = "api_key.created"
    key_id: str


@register
@dataclass(frozen=True)
class ApiKeyRotated(_ApiKeyEvent):
    """An API key got a successor and works on until the overlap ends."""

    type: ClassVar = "api_key.rotated"
    key_id: str
    replaced_by_id: str
    overlap_ends_at: str


@register
@dataclass(frozen=True)
class ApiKeyRevoked(_ApiKeyEvent):
    """An API key stopped at once."""

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
    """A tenant changed its settings; names the keys, never the values."""

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
    """A tenant's use of something reached the share of its limit that it is warned at, or the limit."""

    type: ClassVar = "quota.threshold_reached"
    resource: ClassVar = "quota"
    key: str
    used: int
    limit: int
    percent: int


@register
@dataclass(frozen=True)
class LocationCreated(EventType):
    """A tenant has a new place."""

    type: ClassVar = "location.created"
    resource: ClassVar = "location"
    href: ClassVar = "/v1/locations/{id}"
    location_type: str


@register
@dataclass(frozen=True)
class LocationUpdated(EventType):
    """Fields of a place changed; names which."""

    type: ClassVar = "location.updated"
    resource: ClassVar = "location"
    href: ClassVar = "/v1/locations/{id}"
    changed: list[str] = field(default_factory=list)


@register
@dataclass(frozen=True)
class StaffAccessStarted(EventType):
    """A member of the platform's staff began to look into this tenant, for a reason and a limited time."""

    type: ClassVar = "staff_access.started"
    resource: ClassVar = "staff_access"
    staff_role: str
    reason: str
    expires_at: str


@register
@dataclass(frozen=True)
class StaffAccessEnded(EventType):
    """A member of the platform's staff stopped looking into this tenant before the time was over."""

    type: ClassVar = "staff_access.ended"
    resource: ClassVar = "staff_access"


@register
@dataclass(frozen=True)
class StaffActionPerformed(EventType):
    """A member of the platform's staff changed something through the admin; the reason is his own words."""

    type: ClassVar = "staff_action.performed"
    resource: ClassVar = "staff_action"
    action: str
    target_type: str
    target_id: str
    staff_role: str
    reason: str
