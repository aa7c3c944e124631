"""Admin pages of this app and of the ledger; importing the modules registers the pages."""

from . import (
    clients,
    entitlements,
    keys,
    ledgers,
    locations,
    memberships,
    people,
    security,
    settings,
    signing_keys,
    tenants,
    tree,
)

__all__ = [
    "clients",
    "entitlements",
    "keys",
    "ledgers",
    "locations",
    "memberships",
    "people",
    "security",
    "settings",
    "signing_keys",
    "tenants",
    "tree",
]
