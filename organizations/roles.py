"""All scopes, and the platform's roles, which a receiver of post_migrate seeds. Source: contract, access.md."""

from typing import Any

from django.apps import apps

CLINICAL = {
    "prescriptions.read": "Read prescriptions and dispensations.",
    "prescriptions.write": "Draft, renew and cancel prescriptions.",
    "prescriptions.sign": "Sign prescriptions; never granted to a machine.",
    "prescriptions.route": "Send prescriptions to a pharmacy.",
    "prescriptions.templates": "Use and manage prescription templates.",
    "prescriptions.dispense": "Dispense prescriptions, record returns and reverse dispensations.",
    "prescriptions.audit.read": "Read the audit history of prescriptions.",
    "appointments.read": "Read appointments.",
    "appointments.write": "Book, change and cancel appointments.",
    "healthcare.read": "Read the clinical record (FHIR).",
    "healthcare.write": "Write the clinical record (FHIR).",
}
TRADE = {
    "catalog.read": "Read products, categories and attributes.",
    "catalog.write": "Write products, categories and attributes.",
    "inventory.read": "Read stock, movements and reservations.",
    "inventory.write": "Adjust and move stock.",
    "orders.read": "Read the orders that a supplier has received.",
    "orders.write": "Accept, ship and invoice orders.",
    "pricing.read": "Read prices, rules and promotions; request quotes.",
    "pricing.write": "Write prices, rules and promotions.",
    "marketplace.read": "Read offers.",
    "marketplace.write": "Write and publish offers.",
    "files.read": "Read files.",
    "files.write": "Upload and delete files.",
    "suppliers.read": "Read the supplier's own profile.",
    "suppliers.write": "Change the supplier's own profile.",
    "suppliers.users": "Manage the supplier's users.",
    "suppliers.keys": "Manage the supplier's API keys.",
    "analytics.read": "Read metrics, insights and reports.",
    "notifications.read": "Read notifications and preferences.",
    "notifications.write": "Write notifications and preferences.",
    "webhooks.read": "Read webhook endpoints, deliveries and events.",
    "webhooks.write": "Manage webhook endpoints.",
    "procurement.read": "Read the tenant's purchasing: orders, returns and agreements.",
    "procurement.write": "Write orders, returns and agreements.",
    "procurement.suppliers": "Manage relationships with suppliers.",
    "procurement.approve": "Approve and reject orders and agreements; never granted to a machine.",
    "procurement.receive": "Receive deliveries.",
    "procurement.invoices": "Record, match and dispute invoices.",
    "procurement.invoices.approve": "Approve invoices; never granted to a machine.",
    "procurement.pay": "Pay invoices.",
}
ADMINISTRATIVE = {
    "organizations.read": "Read organizations.",
    "organizations.write": "Create, change and move organizations.",
    "tenants.read": "Read tenants, their configuration and entitlements.",
    "tenants.provision": "Create tenants.",
    "tenants.configure": "Change tenants and their configuration.",
    "locations.read": "Read locations.",
    "locations.write": "Write locations.",
    "memberships.read": "Read memberships.",
    "memberships.write": "Invite, change and remove members.",
    "apikeys.manage": "Create, rotate and revoke API keys.",
    "audit.read": "Read the audit trail.",
}
SCOPES = CLINICAL | TRADE | ADMINISTRATIVE
IDENTITY_SCOPES = {
    "openid": "Sign in.",
    "profile": "Read the name and e-mail address of the signed-in person.",
    "offline_access": "Stay signed in.",
}
# What a person answers for: no API key, service account or machine client ever holds it.
NEVER_BY_MACHINES = frozenset({"prescriptions.sign", "procurement.approve", "procurement.invoices.approve"})
# What any administrator may grant to a machine, though its partner's system alone needs it; to pay is not among it.
FREE_FOR_MACHINES = frozenset(TRADE) - {"procurement.pay"}

TENANT_ADMIN = "tenant_admin"
ORG_ADMIN = "org_admin"
SUPPLIER_ADMIN = "supplier_admin"
# What administrators of a supplier may give and take by the supplier's own interface.
SUPPLIER_ROLES = (
    SUPPLIER_ADMIN, "supplier_user", "supplier_integration", "supplier_read_only", "supplier_catalog", "supplier_warehouse",
    "supplier_orders", "supplier_pricing", "supplier_marketplace",
)  # fmt: skip

_ROLES: dict[str, tuple[str, str]] = {
    "prescriber": (
        "Prescriber",
        (
            "prescriptions.read prescriptions.write prescriptions.sign prescriptions.route prescriptions.templates "
            "appointments.* healthcare.* locations.read"
        ),
    ),
    "nurse": (
        "Nurse",
        "prescriptions.read prescriptions.write prescriptions.templates appointments.* healthcare.* locations.read",
    ),
    "pharmacist": (
        "Pharmacist",
        "prescriptions.read prescriptions.dispense healthcare.read inventory.read notifications.* locations.read",
    ),
    "pharmacy_technician": ("Pharmacy technician", "prescriptions.read inventory.* locations.read"),
    "clinic_receptionist": ("Clinic receptionist", "appointments.* healthcare.read locations.read"),
    "clinical_lead": (
        "Clinical lead",
        "prescriptions.read prescriptions.write prescriptions.templates prescriptions.audit.read healthcare.read",
    ),
    "buyer": (
        "Buyer",
        "procurement.read procurement.write procurement.suppliers files.* locations.read notifications.*",
    ),
    "approver": ("Approver", "procurement.read procurement.approve locations.read notifications.*"),
    "receiving_clerk": (
        "Receiving clerk",
        "procurement.read procurement.receive files.* inventory.* locations.read notifications.*",
    ),
    "finance": (
        "Finance",
        "procurement.read procurement.invoices procurement.invoices.approve procurement.pay files.* notifications.*",
    ),
    SUPPLIER_ADMIN: (
        "Supplier administrator",
        (
            "catalog.* inventory.* orders.* pricing.* marketplace.* files.* suppliers.* analytics.read notifications.* "
            "webhooks.* locations.read"
        ),
    ),
    "supplier_user": (
        "Supplier user",
        "catalog.* inventory.* orders.* files.* pricing.read marketplace.read notifications.*",
    ),
    "supplier_read_only": (
        "Supplier read only",
        (
            "catalog.read inventory.read orders.read pricing.read marketplace.read files.read suppliers.read analytics.read "
            "notifications.read locations.read"
        ),
    ),
    "supplier_catalog": ("Supplier catalog", "catalog.* files.* marketplace.read suppliers.read notifications.*"),
    "supplier_warehouse": (
        "Supplier warehouse",
        "inventory.* catalog.read orders.read files.* notifications.* locations.read",
    ),
    "supplier_orders": (
        "Supplier orders",
        "orders.* catalog.read inventory.read pricing.read files.* suppliers.read notifications.* locations.read",
    ),
    "supplier_pricing": (
        "Supplier pricing",
        "pricing.* catalog.read marketplace.read analytics.read files.read notifications.*",
    ),
    "supplier_marketplace": (
        "Supplier marketplace",
        "marketplace.* catalog.read pricing.read inventory.read files.* analytics.read notifications.*",
    ),
    "supplier_integration": (
        "Supplier integration",
        (
            "catalog.* inventory.* orders.* pricing.* marketplace.* files.* webhooks.* analytics.read suppliers.read "
            "notifications.read"
        ),
    ),
    TENANT_ADMIN: (
        "Tenant administrator",
        "tenants.read tenants.configure organizations.read locations.* memberships.* webhooks.* apikeys.manage",
    ),
    ORG_ADMIN: (
        "Organization administrator",
        "organizations.* tenants.read tenants.provision tenants.configure locations.read",
    ),
    "auditor": ("Auditor", "prescriptions.audit.read audit.read prescriptions.read"),
    "integration_service": (
        "Integration service",
        (
            "prescriptions.read prescriptions.write prescriptions.route prescriptions.templates prescriptions.dispense "
            "prescriptions.audit.read appointments.* healthcare.* catalog.* inventory.* orders.* pricing.* marketplace.* "
            "files.* suppliers.read analytics.read notifications.* webhooks.* procurement.read procurement.write "
            "procurement.suppliers procurement.receive procurement.invoices procurement.pay organizations.read "
            "tenants.read locations.* memberships.read"
        ),
    ),
    "platform_staff": ("Platform staff", "organizations.* tenants.*"),
}


def expand(words: str) -> list[str]:
    """Replace `x.*` by every scope that begins with `x.`; plain scopes stay.

    :raises ValueError: a word matches no scope.
    """
    found: set[str] = set()
    for word in words.split():
        matching = {scope for scope in SCOPES if scope == word or (word.endswith(".*") and scope.startswith(word[:-1]))}
        if not matching:
            raise ValueError(f"no such scope: {word}")
        found |= matching
    return sorted(found)


PLATFORM_ROLES: dict[str, list[str]] = {code: expand(words) for code, (_, words) in _ROLES.items()}


def roles_holding(scope: str) -> frozenset[str]:
    """Return the platform's roles that hold a scope; tenants' own roles are left out."""
    return frozenset(code for code, scopes in PLATFORM_ROLES.items() if scope in scopes)


def seed_roles(using: str, **_: Any) -> None:
    """Make the platform's roles in the database equal to those in this module."""
    roles = apps.get_model("organizations", "Role")._default_manager.using(using)
    for code, (name, _words) in _ROLES.items():
        roles.update_or_create(code=code, tenant=None, defaults={"name": name, "scopes": PLATFORM_ROLES[code]})
    roles.filter(tenant=None).exclude(code__in=_ROLES).delete()
