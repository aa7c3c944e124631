"""The profile as it is read: the stored one, and the tenant's own name and country where nothing is stored."""

from typing import Final

from core.conditions import TENANT

_STORED: Final = {
    "trade_name": "''", "registrations": "'[]'", "addresses": "'[]'", "contacts": "'[]'", "currencies": "'[]'",
    "payment_terms": "NULL", "min_order_value": "NULL", "ships_to": "'[]'", "categories": "'[]'", "tax_rates": "'[]'",
    "order_settings": "'{}'", "on_time_rate": "NULL", "fill_rate": "NULL", "quality_rate": "NULL", "orders_counted": "0",
    "rated_until": "NULL", "bank_account_last4": "''", "bank_reviewed_at": "NULL", "qualification_status": "'registered'",
    "version": "1", "created_at": "n.created_at", "updated_at": "n.created_at",
}  # fmt: skip
_COLUMNS: Final = ", ".join(f"coalesce(f.{name}, {default}) AS {name}" for name, default in _STORED.items())
COUNTRY: Final = "coalesce(o.address ->> 'country', '')"  # of an organization `o`

# One row: the profile of the bound supplier, with the default of each column that it has not stored.
PROFILE: Final = f"""(
SELECT coalesce(f.id, n.id) AS id, n.id AS tenant_id, coalesce(nullif(f.legal_name, ''), n.name) AS legal_name,
 coalesce(f.country, {COUNTRY}) AS country, {_COLUMNS}
FROM organizations_tenant n JOIN organizations_organization o ON o.id = n.organization_id
LEFT JOIN suppliers_supplierprofile f ON f.tenant_id = n.id AND f.tenant_id = {TENANT} WHERE n.id = {TENANT})"""
