"""The door by which prescriptions find a pharmacy, and what the proof of a membership tells of a practitioner."""

import pytest
from django.test import RequestFactory

from core import pipeline
from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.errors import Unprocessable
from core.ids import uuid7
from organizations.actions.tenants import suspend_tenant
from organizations.authentication import Authenticator
from organizations.models import Tenant
from organizations.public import Pharmacy, PharmacyNotFound, pharmacy, pharmacy_call, pharmacy_of
from tests.factories import Api, actor_of, as_member, bearer, committed, member, provision

ADDRESS = {"lines": ["1 Street"], "city": "Bergen", "country": "NO"}


def place(tenant, **fields):
    body = {"name": "Pharmacy", "type": "pharmacy", "listed": True, "address": ADDRESS, **fields}
    answer = as_member(tenant).post("/v1/locations", json=body)
    assert answer.status_code == 201, answer.content
    return answer.json()["data"]["id"]


def found(location_id, tenant):
    actor = actor_of(tenant)
    with tenant_context(tenant.id):
        return pharmacy(location_id, actor)


def test_a_listed_pharmacy_of_another_tenant_is_found_in_one_statement(django_assert_num_queries):
    theirs, clinic = provision("pharmacy"), provision()
    location_id = place(theirs, name="North Pharmacy")
    actor = actor_of(clinic)

    with tenant_context(clinic.id), django_assert_num_queries(0):  # a statement of the pipeline, none of Django's
        (rows,) = pipeline.run([pharmacy_call(location_id, actor)])

    assert tuple(map(str, pharmacy_of(rows)[:3])) == (location_id, str(theirs.id), "North Pharmacy")
    assert pharmacy_of(rows).address == ADDRESS
    assert isinstance(pharmacy_of(rows), Pharmacy)


def test_an_own_pharmacy_is_found_listed_or_not():
    clinic = provision()
    for listed in (True, False):
        location_id = place(clinic, listed=listed, address=None)
        assert (str(found(location_id, clinic).tenant_id), found(location_id, clinic).address) == (str(clinic.id), None)


def test_what_is_not_listed_or_not_in_use_is_refused():
    theirs, clinic = provision("pharmacy"), provision()
    inactive = place(theirs)
    as_member(theirs).patch(f"/v1/locations/{inactive}", json={"status": "inactive"})
    own_inactive = place(clinic)
    as_member(clinic).patch(f"/v1/locations/{own_inactive}", json={"status": "suspended"})
    ward = as_member(clinic).post("/v1/locations", json={"name": "Ward", "type": "ward"}).json()["data"]["id"]

    for location_id in (place(theirs, listed=False), inactive, own_inactive, ward, uuid7()):
        with pytest.raises(PharmacyNotFound) as refused:
            found(location_id, clinic)
        assert (isinstance(refused.value, Unprocessable), refused.value.code) == (True, "pharmacy_not_found")


def test_a_pharmacy_whose_tenant_is_suspended_or_has_no_prescriptions_is_refused():
    suspended, without, clinic = provision("pharmacy"), provision("pharmacy"), provision()
    places = [place(suspended), place(without)]
    assert [str(found(one, clinic).location_id) for one in places] == places

    def suspend():
        row = Tenant.objects.select_for_update().get(pk=suspended.id)
        suspend_tenant(system_actor(row.id), row, now(), "test")

    committed(suspend)
    features = [name for name in Tenant.objects.get(pk=without.id).features if name != "prescriptions"]
    Tenant.objects.filter(pk=without.id).update(features=features)

    for one in places:
        with pytest.raises(PharmacyNotFound):
            found(one, clinic)


def _proved(person, tenant):
    """Return the actor that the authenticator makes of a credential, in one trip."""
    request = RequestFactory().get("/", headers={"Authorization": f"Bearer {bearer(person)}"})
    gate = Authenticator()
    subject = gate.subject(request)
    (rows,) = pipeline.run([gate.proof(subject, tenant.id)])
    return gate.actor(subject, tenant.id, rows, request, writing=True)


@pytest.mark.parametrize("practitioner_id", ["dr-1.A", "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f", "x" * 64])
def test_the_proof_tells_practitioner_roles_and_locations(practitioner_id):
    tenant = provision()
    location_id = place(tenant)
    person, membership = member(tenant, ["prescriber"], practitioner_id=practitioner_id)
    answer = as_member(tenant).patch(f"/v1/memberships/{membership.id}", json={"location_ids": [location_id]})
    assert answer.json()["data"]["practitioner_id"] == practitioner_id

    actor = _proved(person, tenant)

    assert (actor.practitioner_id, actor.roles) == (practitioner_id, {"prescriber"})
    assert [str(one) for one in actor.location_ids] == [location_id]
    me = Api(token=bearer(person), tenant=tenant).get("/v1/me").json()["data"]
    assert me["membership"]["practitioner_id"] == practitioner_id


def test_who_is_no_practitioner_has_none():
    tenant = provision()
    person, _ = member(tenant, ["nurse"])

    assert _proved(person, tenant).practitioner_id == ""


@pytest.mark.parametrize("practitioner_id", ["", "a/b", "x" * 65, "é", "a\nb"])
def test_a_practitioner_is_named_by_a_fhir_id(practitioner_id):
    tenant = provision()
    _, membership = member(tenant, ["prescriber"])

    answer = as_member(tenant).patch(f"/v1/memberships/{membership.id}", json={"practitioner_id": practitioner_id})

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "practitioner_id"
