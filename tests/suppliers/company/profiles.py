"""Bodies of profiles, and short ways to send and read them."""

from typing import Any

from core.db import tenant_context
from ledger.models import Event
from organizations.models import Tenant
from suppliers.company.models import SupplierProfile
from tests.factories import Api

ME = "/v1/suppliers/me"
BUYER = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"


def full(**changes: Any) -> dict[str, Any]:
    """Return every member that can be written."""
    return {
        "legal_name": "Nordic Medical Supplies GmbH",
        "trade_name": "Nordic",
        "country": "DE",
        "registrations": [
            {"scheme": "VAT", "value": "de 136 695 976"},
            {"scheme": "GLN", "value": "4006381000000"},
            {"scheme": "DUNS", "value": "15-048-3782"},
            {"scheme": "LEI", "value": "213800KUD8LAJWSQ9D15"},
            {"scheme": "SRN", "value": "DE-MF-000012345"},
            {"scheme": "national", "value": "HRB 4711"},
        ],
        "addresses": [
            {"use": "legal", "lines": ["1 Harbour Road"], "city": "Hamburg", "postal_code": "20457", "country": "DE"}
        ],
        "contacts": [{"role": "orders", "name": "Order desk", "email": "orders@supplier.example", "phone": None}],
        "currencies": ["EUR", "NOK", "EUR"],
        "payment_terms": {"net_days": 30, "discount_percent": "2.00", "discount_days": 10, "note": "By transfer."},
        "min_order_value": {"amount": "100.5", "currency": "EUR"},
        "ships_to": ["NO", "DE", "NO"],
        "categories": ["gloves", "antidiabetics"],
        "licenses": [license_body(), license_body(type="iso13485", number="MD 1", authority=None, valid_from=None)],
        "bank_account": {"iban": "DE89 3704 0044 0532 0130 00", "bic": "COBADEFFXXX", "holder": "Nordic"},
        "tax_rates": [{"tax_category": "S", "country": "DE", "rate": "19.0", "valid_from": "2026-01-01"}],
        "order_settings": {"auto_allocate": True, "return_window_days": 30, "reservation_cap_percent": 25},
        "buyer_groups": [],
    } | changes


def license_body(**changes: Any) -> dict[str, Any]:
    """Return a licence for medicines."""
    return {
        "type": "wholesale", "number": "WDA-1", "authority": "Hamburg", "valid_from": "2024-01-01", "valid_to": "2099-01-01",
    } | changes  # fmt: skip


def patched(api: Api, **members: Any) -> dict[str, Any]:
    """Change members, and return the profile."""
    answer = api.patch(ME, json=members)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def read(api: Api) -> dict[str, Any]:
    """Return the profile."""
    answer = api.get(ME)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def stored(tenant: Tenant) -> SupplierProfile | None:
    """Return the row, if there is one."""
    with tenant_context(tenant.id):
        return SupplierProfile.objects.filter(tenant_id=tenant.id).first()


def told(tenant: Tenant) -> list[Event]:
    """Return the events of the supplier itself, in their order."""
    with tenant_context(tenant.id):
        return list(Event.objects.filter(tenant_id=tenant.id, resource_type="supplier").order_by("id"))
