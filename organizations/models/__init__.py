"""All models of the app, re-exported from the modules of this package."""

from .clients import AuthorizationGrant, OAuthApplication
from .credentials import (
    DeniedToken,
    Invitation,
    OutgoingMail,
    PasswordReset,
    RefreshToken,
    SignInFailure,
    SigningKey,
    SignInSession,
    TotpDevice,
)
from .identity import ServiceAccount, StaffRole, User
from .jobs import Job, JobState
from .keys import ApiKey, ApiKeyUse, SecurityLogEntry, TenantKey
from .locations import Location, LocationStatus, LocationType, LocationWord, PharmacyListing
from .settings import ConfigurationVersion, Entitlement, OrganizationConfiguration, Quota, TenantConfiguration
from .tenancy import LIVE, Membership, Organization, ProvisioningStep, Role, Tenant

__all__ = [
    "LIVE",
    "ApiKey",
    "ApiKeyUse",
    "AuthorizationGrant",
    "ConfigurationVersion",
    "DeniedToken",
    "Entitlement",
    "Invitation",
    "Job",
    "JobState",
    "Location",
    "LocationStatus",
    "LocationType",
    "LocationWord",
    "Membership",
    "OAuthApplication",
    "Organization",
    "OrganizationConfiguration",
    "OutgoingMail",
    "PasswordReset",
    "PharmacyListing",
    "ProvisioningStep",
    "Quota",
    "RefreshToken",
    "Role",
    "SecurityLogEntry",
    "ServiceAccount",
    "SignInFailure",
    "SignInSession",
    "SigningKey",
    "StaffRole",
    "Tenant",
    "TenantConfiguration",
    "TenantKey",
    "TotpDevice",
    "User",
]
