"""What each staff role may see and do in the admin. Every page and every button checks these tables."""

from enum import StrEnum
from typing import Any

from organizations.models import StaffRole


class Area(StrEnum):
    """A group of pages that a role may see."""

    PEOPLE = "people"
    ORGANIZATIONS = "organizations"
    TENANTS = "tenants"
    MEMBERSHIPS = "memberships"
    ROLES = "roles"
    KEYS = "keys"
    CLIENTS = "clients"
    CONFIGURATION = "configuration"
    ENTITLEMENTS = "entitlements"
    LOCATIONS = "locations"
    JOBS = "jobs"
    SECURITY = "security"
    LEDGER = "ledger"
    CATALOG = "catalog"
    BILLING = "billing"
    WEBHOOKS = "webhooks"
    RECORDS = "records"


class Permission(StrEnum):
    """A kind of change that a role may make."""

    PROVISION_TENANTS = "tenants.provision"
    STOP_TENANTS = "tenants.suspend"
    END_TENANTS = "tenants.end"
    CHANGE_ORGANIZATIONS = "organizations.change"
    CHANGE_PLANS = "entitlements.change"
    CHANGE_MEMBERSHIPS = "memberships.change"
    REVOKE_KEYS = "keys.revoke"
    APPROVE_CLIENTS = "clients.approve"
    LOCK_PEOPLE = "people.lock"
    APPOINT_STAFF = "people.appoint"
    SEND_WEBHOOKS = "webhooks.send"
    SWITCH_WEBHOOKS = "webhooks.switch"
    EXPUNGE_WEBHOOKS = "webhooks.expunge"
    VERIFY_RECORDS = "records.verify"
    PROJECT_RECORDS = "records.project"
    LOAD_TABLES = "tables.load"
    DEFINE_ATTRIBUTES = "attributes.define"
    QUALIFY_SUPPLIERS = "suppliers.qualify"
    MERGE_SUPPLIERS = "suppliers.merge"
    RECALL_LOTS = "lots.recall"
    MODERATE_CATALOGS = "catalogs.moderate"
    REVIEW_FILES = "files.review"
    SETTLE_AGREEMENTS = "agreements.settle"
    SETTLE_ORDERS = "orders.settle"
    SETTLE_DELIVERIES = "deliveries.settle"
    SETTLE_INVOICES = "invoices.settle"
    SETTLE_PAYMENTS = "payments.settle"
    SETTLE_RETURNS = "returns.settle"


_TENANT_CARE = {Area.ORGANIZATIONS, Area.TENANTS, Area.ENTITLEMENTS, Area.LOCATIONS, Area.JOBS, Area.LEDGER}

_SEES: dict[str, frozenset[Area]] = {
    StaffRole.SUPPORT: frozenset(Area) - {Area.SECURITY, Area.CLIENTS, Area.RECORDS},
    StaffRole.SUPPLY: frozenset(_TENANT_CARE | {Area.CATALOG, Area.BILLING, Area.WEBHOOKS, Area.CONFIGURATION}),
    StaffRole.FINANCE: frozenset(_TENANT_CARE | {Area.BILLING}),
    StaffRole.SECURITY: frozenset(Area),
    StaffRole.ADMINISTRATOR: frozenset(Area),
}
_DOES: dict[str, frozenset[Permission]] = {
    StaffRole.SUPPORT: frozenset({Permission.SEND_WEBHOOKS}),
    StaffRole.SUPPLY: frozenset(
        {
            Permission.SEND_WEBHOOKS,
            Permission.DEFINE_ATTRIBUTES,
            Permission.MODERATE_CATALOGS,
            Permission.QUALIFY_SUPPLIERS,
            Permission.MERGE_SUPPLIERS,
            Permission.RECALL_LOTS,
            Permission.REVIEW_FILES,
            Permission.SETTLE_AGREEMENTS,
            Permission.SETTLE_ORDERS,
            Permission.SETTLE_DELIVERIES,
            Permission.SETTLE_RETURNS,
        }
    ),
    StaffRole.FINANCE: frozenset(
        {
            Permission.CHANGE_PLANS,
            Permission.SETTLE_INVOICES,
            Permission.SETTLE_PAYMENTS,
            Permission.SETTLE_RETURNS,
        }
    ),
    StaffRole.SECURITY: frozenset(
        {
            Permission.STOP_TENANTS,
            Permission.CHANGE_MEMBERSHIPS,
            Permission.REVOKE_KEYS,
            Permission.APPROVE_CLIENTS,
            Permission.LOCK_PEOPLE,
            Permission.SWITCH_WEBHOOKS,
            Permission.EXPUNGE_WEBHOOKS,
            Permission.VERIFY_RECORDS,
            Permission.REVIEW_FILES,
        }
    ),
    StaffRole.ADMINISTRATOR: frozenset(Permission),
}


def role_of(user: Any) -> str:
    """Return the staff role of a user; "" if the user is not active staff."""
    if not (getattr(user, "is_active", False) and getattr(user, "is_staff", False)):
        return ""
    return str(user.staff_role)


def sees(user: Any, area: Area) -> bool:
    """Return whether a user may see an area."""
    return area in _SEES.get(role_of(user), frozenset())


def does(user: Any, permission: Permission) -> bool:
    """Return whether a user may make a kind of change."""
    return permission in _DOES.get(role_of(user), frozenset())
