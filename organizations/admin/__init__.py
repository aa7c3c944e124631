"""Pages of the staff's admin for this app and for the ledger below it; importing them registers them."""

from . import clients, entitlements, keys, ledgers, memberships, people, places, security, settings, tenants, tree

__all__ = [
    "clients",
    "entitlements",
    "keys",
    "ledgers",
    "memberships",
    "people",
    "places",
    "security",
    "settings",
    "tenants",
    "tree",
]
