"""Exports by a machine client with `system/` scopes, as SMART Backend Services has them."""

import pytest
from django.db import transaction

from core.actor import system_actor
from core.clock import now
from organizations.actions.first_credentials import new_client
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, observation, patient, prescriber
from tests.fhir_api.exports.asking import exported, fetched, kick_off, manifest
from tests.fhir_api.exports.test_group import group, member
from tests.organizations.oauth.flows import token


@pytest.fixture
def ward():
    """A tenant's prescriber, a patient with an observation, and the export of a group of that patient."""
    client = prescriber(factories.provision("provider", plan="enterprise"))
    person = client.made(patient())
    client.made(observation(f"Patient/{person['id']}"))
    made = client.made(group(member(person["id"])))
    return client, f"/Group/{made['id']}/$export"


def machine_client(tenant, scopes):
    with transaction.atomic():
        made = new_client(
            actor=system_actor(tenant.id), tenant=tenant, name=scopes, at=now(), scopes=["system/*.cruds"]
        )
    asked = {"grant_type": "client_credentials", "client_id": made.client_id, "client_secret": made.client_secret}
    answer = token(**asked, scope=scopes)
    assert answer.status_code == 200, answer.content
    return Fhir(answer.json()["access_token"])


@pytest.mark.parametrize(
    ("scopes", "kinds"),
    [
        ("system/*.rs", {"Patient", "Observation", "Group"}),
        ("system/Group.r system/Patient.rs", {"Patient"}),
        ("system/Group.rs system/Observation.read", {"Observation", "Group"}),
    ],
)
def test_machine_exports_a_group_within_its_scopes(ward, scopes, kinds):
    client, path = ward
    engine = machine_client(client.tenant, scopes)
    assert {kind for kind, _ in exported(engine, path)} == kinds
    told = manifest(engine, path)
    assert fetched(engine, told["output"])
    file = told["output"][0]["url"].partition("/fhir/R4")[2]
    assert client.get(file).status_code == 404, "who did not ask finds nothing"


@pytest.mark.parametrize("scopes", ["system/Patient.rs", "system/Group.s system/Patient.rs", "system/Group.r"])
def test_machine_needs_the_group_and_a_type(ward, scopes):
    client, path = ward
    answer = kick_off(machine_client(client.tenant, scopes), path)
    assert (answer.status_code, code_of(answer)) == (403, "insufficient_scope")


def test_machine_of_another_tenant_finds_no_group(ward):
    _, path = ward
    elsewhere = factories.provision("provider", plan="enterprise")
    answer = kick_off(machine_client(elsewhere, "system/*.rs"), path)
    assert (answer.status_code, code_of(answer)) == (404, "resource_not_found")
