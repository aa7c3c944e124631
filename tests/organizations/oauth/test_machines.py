"""Machine clients: what they get, and what ends it."""

import pytest
from django.db import transaction

from core.clock import now
from organizations import tokens
from organizations.oauth import clients, scopes
from organizations.roles import NEVER_BY_MACHINES, SCOPES
from tests.organizations.oauth.clients import (
    Browser,
    application,
    grant,
    machine,
    pkce,
    request_of,
)
from tests.organizations.oauth.flows import error_of, is_alive, machine_token, refreshed


def test_a_machine_gets_its_list_and_nothing_more():
    client, secret = machine(scopes=["locations.read", "catalog:read"])

    whole, one = machine_token(client, secret), machine_token(client, secret, scope="catalog:read")

    assert whole.json()["scope"] == "catalog.read locations.read"
    assert one.json()["scope"] == "catalog:read"
    assert tokens.verify(one.json()["access_token"]).scope == frozenset({"catalog.read"})
    assert "refresh_token" not in whole.json()


@pytest.mark.parametrize(
    "scope", ["prescriptions.sign", "locations.write", "openid", "nonsense", "locations.read nonsense", "*", "\u00e9"]
)
def test_a_machine_gets_no_scope_beyond_its_list(scope):
    client, secret = machine(scopes=["locations.read"])

    assert error_of(machine_token(client, secret, scope=scope)) == (400, "invalid_scope")


@pytest.mark.parametrize(
    ("listed", "asked", "given"),
    [
        ("system/*.rs", "system/Observation.rs", True),
        ("system/*.rs", "system/*.r", True),
        ("system/*.rs", "system/Patient.read", True),
        ("system/Observation.r system/Observation.s", "system/Observation.rs", True),
        ("system/*.r system/Observation.s", "system/Observation.rs", True),
        ("system/*.rs", "system/Observation.cruds", False),
        ("system/Observation.cruds", "system/Patient.r", False),
        ("system/Observation.cruds", "system/*.r", False),
        ("system/*.cruds", "user/*.r", False),
        ("system/*.cruds", "patient/Patient.r", False),
        ("system/*.rs", "system/Observation.", False),
    ],
)
def test_a_machine_may_ask_for_less_of_the_record_than_its_list_gives(listed, asked, given):
    client, secret = machine(scopes=listed.split())

    answer = machine_token(client, secret, scope=asked)

    if given:
        assert answer.json()["scope"] == asked
        assert asked in tokens.verify(answer.json()["access_token"]).scope
    else:
        assert error_of(answer) == (400, "invalid_scope")


@pytest.mark.parametrize("scope", ["prescriptions.sign", "procurement.approve", "procurement.invoices.approve"])
def test_what_people_answer_for_is_never_granted_to_machines(scope):
    assert scope in NEVER_BY_MACHINES
    with pytest.raises(clients.UngrantableScope):
        machine(scopes=[scope])
    client, _ = machine()
    client.allowed_scopes = [*SCOPES, "openid"]
    assert scopes.grantable(client) == set(SCOPES) - NEVER_BY_MACHINES


@pytest.mark.parametrize("secret", ["wrong", "", "x" * 9000])
def test_a_wrong_secret_is_refused(secret):
    client, _ = machine()

    status, error = error_of(machine_token(client, secret))

    assert (status, error) in [(401, "invalid_client"), (400, "invalid_request")]


def test_unapproved_clients_get_nothing(person):
    client, secret = machine(approved=False)
    public, _ = application(approved=False)
    browser = Browser()
    browser.sign_in(person)

    assert error_of(machine_token(client, secret)) == (401, "invalid_client")
    page = browser.client.get("/oauth/authorize", request_of(public, pkce()[1]))
    assert page.status_code == 400
    assert "Location" not in page.headers


def test_withdrawing_a_client_ends_its_tokens_at_once(person):
    client, secret = machine()
    public, _ = application()
    of_machine, of_person = machine_token(client, secret).json(), grant(person, public)

    with transaction.atomic():
        clients.withdraw(client, at=now())
        assert clients.withdraw(public, at=now()) == 1

    assert not is_alive(of_machine["access_token"])
    assert not is_alive(of_person["access_token"])
    assert error_of(machine_token(client, secret)) == (401, "invalid_client")
    assert error_of(refreshed(public, of_person["refresh_token"])) == (401, "invalid_client")


def test_a_renewed_secret_replaces_the_old_one():
    client, old = machine()

    new = clients.renew_secret(client)

    assert machine_token(client, old).status_code == 401
    assert machine_token(client, new).status_code == 200


def test_an_inactive_service_account_gets_no_token():
    client, secret = machine()
    client.service_account.is_active = False
    client.service_account.save(update_fields=["is_active"])

    assert error_of(machine_token(client, secret)) == (401, "invalid_client")
