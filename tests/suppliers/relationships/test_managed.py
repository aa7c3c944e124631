"""Suppliers that are not on the platform: who sees them, what they cannot do, and how they end with their buyer."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, transaction

from bench.statements import recording
from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from ledger.models import Event
from organizations.actions.provisioning import OtherTenant, TenantSpec, platform_actor, provision_tenant
from organizations.actions.tenants import offboard_tenant
from organizations.models import Membership, Organization, Tenant
from suppliers.company.desk import suppliers
from suppliers.relationships.models import ManagedRegistration, ManagedSupplier
from tests import factories
from tests.suppliers import products
from tests.suppliers.inventory.shelf import refused

PATH = "/v1/suppliers"
GLN = {"scheme": "GLN", "value": "4006381000000"}


def full(**changes):
    return {
        "legal_name": f"Village Orthotics {factories.suffix()}", "country": "NO", "registrations": [GLN],
        "contacts": [{"role": "orders", "name": "Front desk", "email": "desk@orthotics.example", "phone": None}],
        "currencies": ["NOK", "EUR", "NOK"], "payment_terms": {"net_days": 14},
        "tax_rates": [{"tax_category": "S", "country": "NO", "rate": "25.0", "valid_from": "2026-01-01"}],
    } | changes  # fmt: skip


def create(one, **changes):
    answer = one.api.post(PATH, json=full(**changes))
    assert answer.status_code == 201, answer.content
    return answer.json()["data"]


def rows(one):
    with tenant_context(one.id):
        return [table.objects.filter(tenant_id=one.id).count() for table in (ManagedSupplier, ManagedRegistration)]


def told(one):
    with tenant_context(one.id):
        found = Event.objects.filter(tenant_id=one.id, type="supplier.created").order_by("id")
        return [(str(event.resource_id), event.data) for event in found]


def test_managed_supplier_is_read_as_it_was_written(buyer):
    given = full()
    answer = buyer.api.post(PATH, json=given)
    made = answer.json()["data"]
    assert answer.status_code == 201, answer.content
    assert answer.headers["Location"] == f"{PATH}/{made['id']}"
    terms = {"net_days": 14, "discount_percent": None, "discount_days": None, "note": None}
    expected = given | {"currencies": ["NOK", "EUR"], "payment_terms": terms, "qualification_status": "managed"}
    expected["tax_rates"] = [given["tax_rates"][0] | {"rate": "25"}]
    expected["payment_terms"] = made["payment_terms"]
    assert made["payment_terms"]["net_days"] == 14
    assert {name: made[name] for name in expected} == expected
    assert (made["licenses"], made["relationship"]["status"], made["relationship"]["version"]) == ([], "active", 1)
    assert buyer.api.get(f"{PATH}/{made['id']}").json()["data"] == made
    assert told(buyer) == [(made["id"], {"country": "NO"})]
    tenant = Tenant.objects.get(pk=made["id"])
    assert (tenant.status, tenant.kinds, tenant.managed_by_id, tenant.name) == (
        "active", ["supplier"], buyer.id, given["legal_name"],
    )  # fmt: skip
    assert tenant.time_zone == buyer.tenant.time_zone


def test_least_that_is_needed(buyer):
    answer = buyer.api.post(PATH, json={"legal_name": "Corner shop", "country": "DE"})
    made = answer.json()["data"]
    assert answer.status_code == 201
    assert (made["registrations"], made["contacts"], made["currencies"], made["payment_terms"]) == ([], [], [], None)


def test_it_is_listed_for_its_buyer_alone(buyer, other, shelf):
    made = create(buyer)
    word = made["legal_name"].rsplit(" ", 1)[1]
    for query, found in (
        ("", [made["id"]]), ("&status=managed", [made["id"]]), ("&status=qualified", []),
        ("&country=NO", [made["id"]]), ("&country=DE", []), ("&category=gloves", []),
    ):  # fmt: skip
        answer = buyer.api.get(f"{PATH}?search={word}{query}").json()["data"]
        assert [one["id"] for one in answer] == found, query
    assert [one["id"] for one in buyer.api.get(f"{PATH}?search={word}+4006381000000").json()["data"]] == [made["id"]]
    assert other.api.get(f"{PATH}?search={word}").json()["data"] == []
    assert other.api.get(f"{PATH}?status=managed").json()["data"] == []
    refused(other.api.get(f"{PATH}/{made['id']}"), 404, "not_found")
    refused(other.api.put(f"{PATH}/{made['id']}/relationship", json={}), 404, "not_found")
    assert word not in [one.name for one in suppliers("", made["legal_name"], 0)]
    assert suppliers("", made["legal_name"], 0) == []
    for api in (buyer.api, other.api, factories.as_member(buyer.tenant), factories.as_member(shelf.tenant)):
        seen = api.get("/v1/tenants")
        assert made["id"] not in str(seen.content)
    with tenant_context(other.id):
        assert not ManagedSupplier.objects.filter(tenant_id=buyer.id).exists()


def test_its_buyer_keeps_a_relationship_to_it(buyer):
    made = create(buyer)
    path = f"{PATH}/{made['id']}/relationship"
    answer = buyer.api.put(path, json={"customer_number": "7", "approved_categories": ["gloves"]})
    assert answer.status_code == 200, answer.content
    assert buyer.api.get(f"{PATH}/{made['id']}").json()["data"]["relationship"] == answer.json()["data"]
    body = {"blocked_products": [str(uuid7())]}
    assert products.field_errors(buyer.api.put(path, json=body)) == {("blocked_products.0", "unknown_product")}


def test_nothing_can_be_reserved_of_it(buyer, other):
    made = create(buyer)
    body = {"supplier_id": made["id"], "items": [{"product_id": str(uuid7()), "quantity": 1}]}
    for one in (buyer, other):
        answer = one.api.post("/v1/stock/reservations", json=body)
        assert products.field_errors(answer) == {("supplier_id", "unknown_supplier")}


def test_nobody_offers_to_it(shelf, buyer):
    made = create(buyer)
    body = {"buyer_groups": [{"code": "a", "buyer_ids": [made["id"]]}]}
    answer = shelf.api.patch("/v1/suppliers/me", json=body)
    assert products.field_errors(answer) == {("buyer_groups.0.buyer_ids.0", "unknown_tenant")}


def test_registration_once_for_each_buyer(buyer, other):
    create(buyer)
    refused(buyer.api.post(PATH, json=full()), 409, "registration_taken")
    assert (rows(buyer), len(told(buyer))) == ([1, 1], 1)
    assert Tenant.objects.filter(managed_by=buyer.id).count() == 1
    assert Organization.objects.filter(tenants__managed_by=buyer.id).count() == 1
    create(other)
    create(buyer, registrations=[{"scheme": "national", "value": GLN["value"]}])


def test_repeat_with_one_key(buyer):
    given = full()
    answers = [buyer.api.post(PATH, json=given, headers={"Idempotency-Key": "managed-1"}) for _ in range(2)]
    assert [one.status_code for one in answers] == [201, 201]
    assert answers[0].json()["data"] == answers[1].json()["data"]
    assert rows(buyer) == [1, 1]


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"country": "DE"}, "legal_name", "required"),
        ({"legal_name": "A"}, "country", "required"),
        (full(country="XX"), "country", "invalid_choice"),
        (full(legal_name="x" * 201), "legal_name", "max_length"),
        (full(registrations=[{"scheme": "GLN", "value": "1"}]), "registrations.0.value", "invalid_number"),
        (full(registrations=[GLN, GLN]), "registrations.1.value", "duplicate"),
        (full(currencies=["XXX"]), "currencies.0", "invalid_choice"),
        (full(contacts=[{"name": "A"}]), "contacts.0.email", "required"),
        (full(payment_terms={"net_days": -1}), "payment_terms.net_days", "min_value"),
        (full(id=str(uuid7())), "id", "unknown_field"),
        (full(managed_by=str(uuid7())), "managed_by", "unknown_field"),
        (full(qualification_status="qualified"), "qualification_status", "unknown_field"),
        (full(tenant_id=str(uuid7())), "tenant_id", "unknown_field"),
        (full(bank_account=None), "bank_account", "unknown_field"),
    ],
)
def test_bad_bodies_change_nothing(buyer, body, field, code):
    assert (field, code) in products.field_errors(buyer.api.post(PATH, json=body))
    assert (rows(buyer), told(buyer)) == ([0, 0], [])
    assert not Tenant.objects.filter(managed_by=buyer.id).exists()


def test_who_may(shelf, buyer):
    refused(factories.as_member(buyer.tenant, ["approver"]).post(PATH, json=full()), 403, "insufficient_scope")
    refused(factories.as_member(shelf.tenant, ["buyer"]).post(PATH, json=full()), 403, "not_a_buyer")
    assert rows(buyer) == [0, 0]


def test_nobody_becomes_a_member_of_it(buyer):
    made = create(buyer)
    tenant = Tenant.objects.get(pk=made["id"])
    with pytest.raises(IntegrityError, match="has no members"):
        factories.member(tenant)
    with pytest.raises(IntegrityError, match="has no members"):
        factories.api_key(tenant)
    assert not Membership.objects.filter(tenant=tenant).exists()
    person, _ = factories.member(buyer.tenant)
    api = factories.Api(token=factories.bearer(person), tenant=made["id"])
    assert api.get("/v1/suppliers/me").status_code in (403, 404)
    with pytest.raises(OtherTenant):
        spec = TenantSpec(slug=tenant.slug, name=tenant.name, kinds=("supplier",))
        provision_tenant(actor=platform_actor(), spec=spec, at=now())


def test_it_ends_with_its_buyer(buyer, other):
    made, kept = create(buyer), create(other)
    with transaction.atomic():
        tenant = Tenant.objects.select_for_update().get(pk=buyer.id)
        offboard_tenant(actor=system_actor(tenant.id), tenant=tenant, at=now())
    assert Tenant.objects.get(pk=made["id"]).status == "offboarding"
    call_command("close_tenant", tenant=buyer.tenant.slug, confirm=buyer.tenant.slug, retention_days=0)
    gone = Tenant.objects.select_related("organization").get(pk=made["id"])
    assert (gone.status, gone.organization.status) == ("closed", "closed")
    assert rows(buyer) == [0, 0]
    assert Tenant.objects.get(pk=kept["id"]).status == "active"


def test_one_that_staff_have_closed_is_gone_and_keeps_no_registration(buyer):
    made = create(buyer)
    slug = Tenant.objects.get(pk=made["id"]).slug
    call_command("close_tenant", tenant=slug, confirm=slug, retention_days=0)
    refused(buyer.api.get(f"{PATH}/{made['id']}"), 404, "not_found")
    assert made["id"] not in [one["id"] for one in buyer.api.get(f"{PATH}?status=managed").json()["data"]]
    create(buyer)
    assert rows(buyer) == [2, 1]


def test_legal_hold_of_it_holds_its_buyer(buyer):
    made = create(buyer)
    Tenant.objects.filter(pk=made["id"]).update(legal_hold=True)
    with pytest.raises(CommandError, match="legal_hold"):
        call_command("close_tenant", tenant=buyer.tenant.slug, confirm=buyer.tenant.slug, retention_days=0)
    assert rows(buyer) == [1, 1]


@pytest.mark.parametrize("number", [1, 3])
def test_statements_do_not_grow(buyer, number):
    for place in range(number):
        create(buyer, registrations=[{"scheme": "national", "value": f"HRB {place}"}])
    buyer.api.get(PATH)
    with recording() as found:
        assert len(buyer.api.get(f"{PATH}?status=managed").json()["data"]) == number
    assert [len(trip.calls) for trip in found.trips] == [3]  # the proof, the role, the page
