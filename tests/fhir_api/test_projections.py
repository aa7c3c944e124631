"""Organization and Location as FHIR: made with their rows, changed with them, and by nobody else."""

import json
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from fhirclient.models import location as location_models
from fhirclient.models import organization as organization_models

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from fhir_api.models import Resource
from fhir_api.projections.building import location, organization
from fhir_api.resources.types import NUMBERS
from fhir_api.validation import validate
from ledger import public as ledger
from organizations.actions import locations as places
from organizations.actions import provisioning, tree
from organizations.models import Location, Organization, Tenant
from organizations.public import ShownLocation, ShownOrganization
from tests.factories import Api, bearer, member, provision
from tests.fhir_api.clients import code_of, issue_type, observation, patient, prescriber


@pytest.fixture(autouse=True)
def projections(settings):
    settings.FHIR_PROJECTIONS = True


@pytest.fixture
def client(projections):
    return prescriber()


@pytest.fixture
def admin(client):
    person, _ = member(client.tenant, ["tenant_admin"])
    return Api(token=bearer(person), tenant=client.tenant)


def own_place(tenant):
    with tenant_context(tenant.id):
        return Location.objects.get(tenant_id=tenant.id)


def facts_of(tenant, kind):
    with tenant_context(tenant.id):
        return list(ledger.Event.objects.filter(tenant_id=tenant.id, type=kind).order_by("occurred_at", "id"))


def test_new_tenant_has_its_organization_and_first_place(client):
    tenant, place = client.tenant, own_place(client.tenant)
    found = client.get(f"/Organization/{tenant.organization_id}").json()
    assert (found["name"], found["active"]) == (tenant.organization.name, True)
    assert found["type"][0]["coding"][0]["code"] == "prov"
    assert found["meta"]["source"].endswith(f"/v1/organizations/{tenant.organization_id}")
    shown = client.get(f"/Location/{place.id}").json()
    assert (shown["name"], shown["status"], shown["mode"]) == (place.name, "active", "instance")
    assert shown["managingOrganization"] == {"reference": f"Organization/{tenant.organization_id}"}
    assert [fact.data["reference"] for fact in facts_of(tenant, "fhir.Location.created")] == [f"Location/{place.id}"]
    assert len(facts_of(tenant, "fhir.Organization.created")) == 1


def test_place_made_over_rest_is_there_at_once_with_all_it_has(client, admin):
    parent = own_place(client.tenant)
    answer = admin.post(
        "/v1/locations",
        json={
            "name": "Ward 3",
            "type": "ward",
            "parent_id": str(parent.id),
            "address": {"lines": ["1 High St"], "city": "Bern", "postal_code": "3000", "country": "CH"},
            "geo": {"latitude": 46.95, "longitude": 7.45},
            "contact": {"phone": "+41 31 000 00 00", "email": "ward@example.org"},
            "identifiers": [{"system": "urn:gln", "value": "7601"}, {"system": "House book", "value": "W 3"}],
            "opening_hours": [
                {"days": ["mon", "holiday"], "opens": "08:00", "closes": "17:30"},
                {"days": ["sun"], "all_day": True},
                {"days": ["holiday"], "all_day": True},
            ],
        },
    )
    assert answer.status_code == 201, answer.content
    key = answer.json()["data"]["id"]
    found = client.get(f"/Location/{key}").json()
    found.pop("meta")
    assert found == {
        "resourceType": "Location",
        "id": key,
        "identifier": [{"system": "urn:gln", "value": "7601"}, {"type": {"text": "House book"}, "value": "W 3"}],
        "status": "active",
        "name": "Ward 3",
        "mode": "instance",
        "type": [{"text": "Ward"}],
        "telecom": [{"system": "phone", "value": "+41 31 000 00 00"}, {"system": "email", "value": "ward@example.org"}],
        "address": {"line": ["1 High St"], "city": "Bern", "postalCode": "3000", "country": "CH"},
        "physicalType": {
            "coding": [
                {
                    "system": "http://terminology.hl7.org/CodeSystem/location-physical-type",
                    "code": "wa",
                    "display": "Ward",
                }
            ],
            "text": "Ward",
        },
        "position": {"longitude": 7.45, "latitude": 46.95},
        "managingOrganization": {"reference": f"Organization/{client.tenant.organization_id}"},
        "partOf": {"reference": f"Location/{parent.id}"},
        "hoursOfOperation": [
            {"daysOfWeek": ["mon"], "openingTime": "08:00:00", "closingTime": "17:30:00"},
            {"daysOfWeek": ["sun"], "allDay": True},
        ],
    }
    near = client.get("/Location?near=46.95|7.45|1|km").json()
    assert [entry["resource"]["id"] for entry in near["entry"]] == [key]


def test_change_over_rest_makes_a_version_and_a_change_of_nothing_none(client, admin):
    place = own_place(client.tenant)
    assert admin.patch(f"/v1/locations/{place.id}", json={"name": "North wing"}).status_code == 200
    found = client.get(f"/Location/{place.id}")
    assert (found.json()["name"], found["ETag"]) == ("North wing", 'W/"2"')
    assert admin.patch(f"/v1/locations/{place.id}", json={"listed": False}).status_code == 200
    assert client.get(f"/Location/{place.id}")["ETag"] == 'W/"2"'
    assert admin.patch(f"/v1/locations/{place.id}", json={"status": "inactive"}).status_code == 200
    assert client.get(f"/Location/{place.id}").json()["status"] == "inactive"
    told = facts_of(client.tenant, "fhir.Location.updated")
    assert [fact.resource_version for fact in told] == [2, 3]
    assert told[0].subject_kind == "user"
    history = client.get(f"/Location/{place.id}/_history").json()
    assert [entry["resource"]["meta"]["versionId"] for entry in history["entry"]] == ["3", "2", "1"]


def test_organization_changed_by_another_tenant_changes_where_it_is_shown(client):
    other, home = provision(), client.tenant.organization_id
    actor = replace(provisioning.platform_actor(), tenant_id=other.id)
    with tenant_context(other.id):
        row = Organization.objects.select_for_update().get(pk=home)
        tree.update_organization(actor=actor, organization=row, data={"name": "Renamed"}, at=now())
        values = {"parent_id": other.organization_id, "status": "suspended"}
        tree.update_organization(actor=actor, organization=row, data=values, at=now())
    found = client.get(f"/Organization/{home}").json()
    assert (found["name"], found["active"], found["meta"]["versionId"]) == ("Renamed", False, "3")
    assert "partOf" not in found  # the parent is not shown in this tenant
    assert prescriber(other).get(f"/Organization/{home}").status_code == 404


@pytest.mark.parametrize("kind", ["Location", "Organization"])
def test_fhir_writes_to_what_the_platform_keeps_are_refused(client, kind):
    key = str(own_place(client.tenant).id if kind == "Location" else client.tenant.organization_id)
    stands = client.get(f"/{kind}/{key}").json()
    changed = {**stands, "name": "Mine now"}
    rename = [{"op": "replace", "path": "/name", "value": "Mine now"}]
    for answer in (
        client.put(f"/{kind}/{key}", changed),
        client.patch(f"/{kind}/{key}", rename),
        client.delete(f"/{kind}/{key}"),
        client.delete(f"/{kind}?_id={key}"),
    ):
        assert (answer.status_code, code_of(answer), issue_type(answer)) == (409, "projected_resource", "business-rule")
        assert f"/v1/{kind.lower()}s/{key}" in answer.json()["issue"][0]["diagnostics"]
    entry = {"resource": changed, "request": {"method": "PUT", "url": f"{kind}/{key}"}}
    answer = client.post("", {"resourceType": "Bundle", "type": "transaction", "entry": [entry]})
    assert (answer.status_code, code_of(answer)) == (409, "projected_resource")
    assert answer.json()["issue"][0]["expression"][0].startswith("Bundle.entry[0]")
    assert client.get(f"/{kind}/{key}").json() == stands


def test_resources_that_came_through_fhir_stay_writable(client):
    made = client.made({"resourceType": "Location", "name": "Elsewhere"})
    assert client.put(f"/Location/{made['id']}", {**made, "name": "There"}).status_code == 200
    assert (
        client.put("/Organization/org-1", {"resourceType": "Organization", "id": "org-1", "name": "A"}).status_code
        == 201
    )
    assert client.delete(f"/Location/{made['id']}").status_code == 204


def test_place_of_another_tenant_is_no_reason_to_refuse(client):
    foreign = str(own_place(provision()).id)
    answer = client.put(f"/Location/{foreign}", {"resourceType": "Location", "id": foreign, "name": "Mine"})
    assert answer.status_code == 201


def test_projected_resources_can_be_referred_to(client):
    person = client.made(patient())["id"]
    made = client.made(
        observation(f"Patient/{person}", performer=[{"reference": f"Organization/{client.tenant.organization_id}"}])
    )
    found = client.get(f"/Observation?performer=Organization/{client.tenant.organization_id}").json()
    assert [entry["resource"]["id"] for entry in found["entry"]] == [made["id"]]


def test_rollback_of_the_row_takes_the_resource_along(client):
    tenant = client.tenant
    with pytest.raises(ZeroDivisionError), tenant_context(tenant.id):
        made = places.create_location(actor=system_actor(tenant.id), data={"name": "Gone", "type": "ward"}, at=now())
        raise ZeroDivisionError
    assert client.get(f"/Location/{made.id}").status_code == 404


def test_tenant_without_fhir_gets_its_resources_with_the_feature(capsys):
    tenant = provision("supplier")
    Tenant.objects.filter(pk=tenant.id).update(features=[])
    with tenant_context(tenant.id):
        assert set(Tenant.objects.get(pk=tenant.id).features) == set()
        places.create_location(actor=system_actor(tenant.id), data={"name": "Hall", "type": "warehouse"}, at=now())
        before = Resource.objects.filter(tenant_id=tenant.id).count()
    with pytest.raises(CommandError, match="no tenant"):
        call_command("fhir_project", tenant=tenant.slug)
    Tenant.objects.filter(pk=tenant.id).update(features=["fhir"])
    call_command("fhir_project", tenant=tenant.slug, json=True)
    assert json.loads(capsys.readouterr().out)["written"] >= 1
    with tenant_context(tenant.id):
        rows = Resource.objects.filter(tenant_id=tenant.id, type=NUMBERS["Location"])
        assert rows.count() == 2
        assert Resource.objects.filter(tenant_id=tenant.id).count() > before
    call_command("fhir_project", tenant=tenant.slug, json=True)
    assert json.loads(capsys.readouterr().out) == {"tenants": 1, "written": 0}


FULL = {
    "identifiers": [{"system": "urn:oid:1.2", "value": " 7 "}, {"system": "a b", "value": "x"}, {"value": ""}],
    "contact": {"phone": "1", "email": "a@example.org", "url": "https://example.org"},
    "address": {"lines": ["a", " "], "city": "b", "state": "c", "postal_code": "d", "country": "CH"},
}
KEY = Organization(name="x").id


@pytest.mark.parametrize("kind", [*Organization.Type.values, "something_new"])
@pytest.mark.parametrize("more", [FULL, {"identifiers": [], "contact": {}, "address": {}}])
def test_every_organization_is_valid_fhir(kind, more):
    shown = ShownOrganization(id=KEY, name="Clinic  A", type=kind, status="closed", parent_id=KEY, **more)
    for known in ((), (str(KEY),)):
        found = {**organization(shown, known=known), "id": str(KEY)}
        assert validate(found) == []
        assert organization_models.Organization(found).as_json() == found


@pytest.mark.parametrize("kind", [choice for choice, _ in Location._meta.get_field("type").choices])
@pytest.mark.parametrize("more", [FULL, {"identifiers": [], "contact": None, "address": None}])
def test_every_place_is_valid_fhir(kind, more):
    hours = [{"days": ["mon", "holiday"], "opens": "08:00", "closes": "17:00"}, {"days": ["sat"], "all_day": True}]
    for geo, status in (({"latitude": 0, "longitude": -180}, "active"), (None, "suspended")):
        shown = ShownLocation(
            id=KEY,
            name="Ward",
            type=kind,
            status=status,
            organization_id=KEY,
            parent_id=None,
            geo=geo,
            opening_hours=hours if geo else [],
            **more,
        )
        found = {**location(shown), "id": str(KEY)}
        assert validate(found) == []
        assert location_models.Location(found).as_json() == found


def test_switched_off_they_are_neither_made_nor_kept_from_clients(settings):
    settings.FHIR_PROJECTIONS = False
    client = prescriber()
    place = own_place(client.tenant)
    assert client.get(f"/Location/{place.id}").status_code == 404
    answer = client.put(f"/Location/{place.id}", {"resourceType": "Location", "id": str(place.id), "name": "Mine"})
    assert answer.status_code == 201
