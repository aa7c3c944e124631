"""Roles and scopes: the list endpoints ask for, and who holds what."""

import pytest

from organizations.models import Role
from organizations.roles import IDENTITY_SCOPES, PLATFORM_ROLES, SCOPES, expand
from tests.factories import as_member, provision, suffix

ASKED_FOR = """
analytics.read apikeys.manage appointments.read appointments.write catalog.read catalog.write files.read files.write
inventory.read inventory.write locations.read locations.write marketplace.read marketplace.write memberships.read
memberships.write notifications.read notifications.write orders.read orders.write organizations.read organizations.write
prescriptions.audit.read prescriptions.dispense prescriptions.read prescriptions.route prescriptions.sign
prescriptions.templates prescriptions.write pricing.read pricing.write procurement.approve procurement.invoices
procurement.invoices.approve procurement.pay procurement.read procurement.receive procurement.suppliers procurement.write
suppliers.keys suppliers.read suppliers.users suppliers.write tenants.configure tenants.provision tenants.read webhooks.read
webhooks.write healthcare.read healthcare.write audit.read
""".split()  # noqa: SIM905


def test_scopes_are_those_that_endpoints_ask_for():
    assert sorted(SCOPES) == sorted(ASKED_FOR)


@pytest.mark.parametrize("scope", ASKED_FOR)
def test_scope_is_held_by_some_role(scope):
    assert any(scope in scopes for scopes in PLATFORM_ROLES.values())


def test_roles_in_the_database_are_those_of_the_code():
    stored = {role.code: role.scopes for role in Role.objects.filter(tenant=None)}

    assert stored == PLATFORM_ROLES


def test_tenant_administrator_holds_no_clinical_scope():
    held = PLATFORM_ROLES["tenant_admin"]

    assert not [scope for scope in held if scope.startswith(("prescriptions.", "healthcare.", "appointments."))]


@pytest.mark.parametrize("role", ["integration_service", "supplier_integration"])
def test_machines_never_hold_signing(role):
    assert "prescriptions.sign" not in PLATFORM_ROLES[role]


def test_star_stands_for_every_scope_of_its_family():
    assert expand("inventory.* pricing.read") == ["inventory.read", "inventory.write", "pricing.read"]


def test_unknown_word_is_an_error():
    with pytest.raises(ValueError, match="no such scope"):
        expand("inventory.burn")


def test_identity_scopes_are_nobodys_role():
    assert not set(IDENTITY_SCOPES) & {scope for scopes in PLATFORM_ROLES.values() for scope in scopes}


def test_custom_role_of_a_tenant_is_grantable_there_only():
    tenant = provision("provider")
    Role.objects.create(code="front_desk", tenant=tenant, name="Front desk", scopes=["memberships.read"])
    wanted = {"email": f"kari-{suffix()}@example.org", "name": "Kari", "roles": ["front_desk"]}

    here = as_member(tenant).post("/v1/memberships", json=wanted)
    elsewhere = as_member(provision("provider")).post("/v1/memberships", json=wanted)

    assert here.status_code == 201
    assert elsewhere.json()["errors"][0]["code"] == "unknown_role"
