"""What /v1/suppliers/me refuses: members of the platform's own, wrong numbers, unknown ids; and that nothing changes then."""

from typing import Any

import pytest

from core.db import tenant_context
from suppliers.company.models import BuyerGroup, SupplierLicense
from tests.factories import Api, as_member, provision
from tests.suppliers.company.profiles import BUYER, ME, full, license_body, patched, read, stored, told


@pytest.fixture
def tenant() -> Any:
    return provision("supplier", qualified=False)


@pytest.fixture
def api(tenant: Any) -> Api:
    return as_member(tenant, ["supplier_admin"])


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("id", BUYER), ("tenant_id", BUYER), ("qualification_status", "qualified"), ("rating", {"orders_counted": 5}),
        ("created_at", "2026-01-01T00:00:00Z"), ("updated_at", "2026-01-01T00:00:00Z"), ("verified_at", None),
        ("bank_account_last4", "3000"), ("bank_reviewed_at", "2026-01-01T00:00:00Z"),
        ("identity_reviewed_at", "2026-01-01T00:00:00Z"), ("licences", []),
    ],
)  # fmt: skip
def test_member_of_the_platform_is_refused(tenant: Any, api: Api, member: str, value: Any) -> None:
    answer = api.patch(ME, json={"trade_name": "A", member: value})

    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_field")
    assert [one["field"] for one in answer.json()["errors"]] == [member]
    assert stored(tenant) is None


@pytest.mark.parametrize("member", ["id", "verified", "verified_at", "told_days", "position"])
def test_licence_cannot_say_that_it_is_verified(tenant: Any, api: Api, member: str) -> None:
    answer = api.patch(ME, json={"licenses": [license_body(**{member: True})]})

    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_field")
    assert answer.json()["errors"][0]["field"] == f"licenses.0.{member}"
    assert stored(tenant) is None


def _registration(scheme: str, value: str) -> dict[str, Any]:
    return {"registrations": [{"scheme": scheme, "value": value}]}


def _rate(**changes: Any) -> dict[str, Any]:
    return {"tax_category": "S", "country": "DE", "rate": "19", "valid_from": "2026-01-01"} | changes


FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({"legal_name": ""}, "legal_name", "blank"), ({"legal_name": None}, "legal_name", "null"),
    ({"legal_name": "x" * 256}, "legal_name", "max_length"), ({"country": "ZZ"}, "country", "invalid_choice"),
    ({"country": None}, "country", "null"), ({"registrations": None}, "registrations", "null"),
    (_registration("VAT", "DE123"), "registrations.0.value", "invalid_number"),
    (_registration("GLN", "4006381000001"), "registrations.0.value", "invalid_number"),
    (_registration("GLN", "40063810000"), "registrations.0.value", "invalid_number"),
    (_registration("DUNS", "12345678"), "registrations.0.value", "invalid_number"),
    (_registration("LEI", "213800KUD8LAJWSQ9D16"), "registrations.0.value", "invalid_number"),
    (_registration("SRN", "DE-XX-000012345"), "registrations.0.value", "invalid_number"),
    (_registration("EORI", "1"), "registrations.0.scheme", "invalid_choice"),
    ({"registrations": [{"scheme": "GLN"}]}, "registrations.0.value", "required"),
    ({"registrations": [{"scheme": "national", "value": "1"}] * 2}, "registrations.1.value", "duplicate"),
    ({"addresses": [{"lines": ["a"], "city": "b"}]}, "addresses.0.country", "required"),
    ({"addresses": [{"lines": [], "city": "b", "country": "DE"}]}, "addresses.0.lines", "min_length"),
    ({"contacts": [{"name": "nobody"}]}, "contacts.0.email", "required"),
    ({"contacts": [{"email": "no address"}]}, "contacts.0.email", "invalid"),
    ({"currencies": ["EUR", "XXX"]}, "currencies.1", "invalid_choice"),
    ({"payment_terms": {}}, "payment_terms.net_days", "required"),
    ({"payment_terms": {"net_days": 30, "discount_percent": "2"}}, "payment_terms.discount_days", "required"),
    (
        {"payment_terms": {"net_days": 5, "discount_percent": "2", "discount_days": 10}},
        "payment_terms.discount_days", "max_value",
    ),
    ({"min_order_value": {"amount": "1.005", "currency": "EUR"}}, "min_order_value.amount", "max_decimal_places"),
    ({"min_order_value": {"amount": "1.5", "currency": "JPY"}}, "min_order_value.amount", "max_decimal_places"),
    ({"min_order_value": {"amount": "-1", "currency": "EUR"}}, "min_order_value.amount", "min_value"),
    ({"min_order_value": {"amount": "1"}}, "min_order_value.currency", "required"),
    ({"ships_to": ["DE", "EU"]}, "ships_to.1", "invalid_choice"),
    ({"categories": ["gloves", "moon-dust"]}, "categories.1", "unknown_category"),
    ({"licenses": [license_body(type="driving")]}, "licenses.0.type", "invalid_choice"),
    ({"licenses": [license_body(valid_to="2024-01-01")]}, "licenses.0.valid_to", "min_value"),
    ({"licenses": [license_body(valid_to="2024-02-30")]}, "licenses.0.valid_to", "invalid"),
    ({"licenses": [license_body(), license_body(authority="B")]}, "licenses.1.number", "duplicate"),
    ({"licenses": [license_body()] * 101}, "licenses", "max_length"),
    ({"bank_account": {"iban": "DE88370400440532013000", "holder": "A"}}, "bank_account.iban", "invalid_number"),
    (
        {"bank_account": {"iban": "DE89370400440532013000", "bic": "NOBIC", "holder": "A"}},
        "bank_account.bic", "invalid_number",
    ),
    ({"bank_account": {"iban": "DE89370400440532013000"}}, "bank_account.holder", "required"),
    ({"tax_rates": [_rate(rate="100.1")]}, "tax_rates.0.rate", "max_value"),
    ({"tax_rates": [_rate(rate="-1")]}, "tax_rates.0.rate", "min_value"),
    ({"tax_rates": [_rate(), _rate(rate="7")]}, "tax_rates.1.valid_from", "duplicate"),
    ({"order_settings": {"max_soft_minutes": 0}}, "order_settings.max_soft_minutes", "min_value"),
    ({"order_settings": {"max_soft_minutes": 1441}}, "order_settings.max_soft_minutes", "max_value"),
    ({"order_settings": {"reservation_cap_percent": 0}}, "order_settings.reservation_cap_percent", "min_value"),
    ({"order_settings": {"reservation_cap_percent": 101}}, "order_settings.reservation_cap_percent", "max_value"),
    ({"order_settings": {"accept_within_hours": 721}}, "order_settings.accept_within_hours", "max_value"),
    ({"order_settings": {"return_window_days": 366}}, "order_settings.return_window_days", "max_value"),
    ({"order_settings": {"cancel_until": "delivered"}}, "order_settings.cancel_until", "invalid_choice"),
    ({"order_settings": {"auto_alocate": True}}, "order_settings.auto_alocate", "unknown_field"),
    ({"buyer_groups": [{"code": "a b"}]}, "buyer_groups.0.code", "invalid"),
    ({"buyer_groups": [{"code": "a"}, {"code": "a"}]}, "buyer_groups.1.code", "duplicate"),
    ({"buyer_groups": [{"code": "a", "buyer_ids": [BUYER]}]}, "buyer_groups.0.buyer_ids.0", "unknown_tenant"),
    (
        {"buyer_groups": [{"code": "a", "organization_ids": [BUYER]}]},
        "buyer_groups.0.organization_ids.0", "unknown_organization",
    ),
    ({"buyer_groups": [{"code": "a", "buyer_ids": [BUYER] * 1001}]}, "buyer_groups.0.buyer_ids", "max_length"),
    (
        {"buyer_groups": [{"code": "a", "organization_ids": [BUYER] * 101}]},
        "buyer_groups.0.organization_ids", "max_length",
    ),
    (
        {"buyer_groups": [{"code": "a", "reservation_cap_percent": 0}]},
        "buyer_groups.0.reservation_cap_percent", "min_value",
    ),
    ({"buyer_groups": [{"code": f"g{one}"} for one in range(101)]}, "buyer_groups", "max_length"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "field", "code"), FAULTS, ids=[f"{field}-{code}" for _, field, code in FAULTS])
def test_fault_is_named_and_nothing_changes(tenant: Any, api: Api, body: dict[str, Any], field: str, code: str) -> None:
    before = patched(api, **full())

    answer = api.patch(ME, json={"trade_name": "Changed"} | body)

    assert answer.status_code == 400, answer.content
    assert (field, code) in {(one["field"], one["code"]) for one in answer.json()["errors"]}
    assert read(api) == before
    assert len(told(tenant)) == 1
    with tenant_context(tenant.id):
        assert SupplierLicense.objects.filter(tenant_id=tenant.id).count() == 2
        assert not BuyerGroup.objects.filter(tenant_id=tenant.id).exists()


def test_the_largest_groups_are_accepted(api: Api) -> None:
    buyer = str(provision("provider").id)
    groups = [{"code": f"g{one}", "buyer_ids": [buyer] * 1_000} for one in range(100)]  # beyond a body of 1 MiB

    found = patched(api, buyer_groups=groups)

    assert len(found["buyer_groups"]) == 100
    assert found["buyer_groups"][99]["buyer_ids"] == [buyer]
