"""Tenants over HTTP: reach, provisioning, change, suspension with its effects."""

import pytest

from core.db import tenant_context
from ledger.public import Event
from organizations.models import (
    Entitlement,
    Location,
    Membership,
    ProvisioningStep,
    Quota,
    Tenant,
    TenantConfiguration,
)
from tests.factories import Api, api_key, as_member, bearer, member, organization, provision, suffix


@pytest.fixture
def top():
    return organization("Top")


@pytest.fixture
def tenant(top):
    return provision("provider", under=top)


@pytest.fixture
def org_admin(tenant):
    return as_member(tenant, ["org_admin"])


def ids(response):
    assert response.status_code == 200, response.content
    return {row["id"] for row in response.json()["data"]}


def body(**more):
    return {"name": "North Clinic", "slug": f"north-{suffix()}", "kinds": ["provider"], **more}


def test_list_shows_the_own_tenant_and_an_org_admin_those_below(top, tenant, org_admin):
    below = provision("pharmacy", under=organization("Below", parent=top))
    provision("supplier")

    assert ids(as_member(tenant).get("/v1/tenants")) == {str(tenant.id)}
    assert ids(org_admin.get("/v1/tenants")) == {str(tenant.id), str(below.id)}
    assert ids(org_admin.get("/v1/tenants?kind=pharmacy")) == {str(below.id)}


def test_list_without_tenant_header_adds_up_all_memberships(tenant):
    other = provision("supplier")
    person, _ = member(tenant)
    member(other, person=person)

    assert ids(Api(token=bearer(person)).get("/v1/tenants")) == {str(tenant.id), str(other.id)}
    assert ids(Api(token=bearer(person), tenant=other).get("/v1/tenants")) == {str(other.id)}


def test_get_of_a_foreign_tenant_is_not_found(tenant):
    foreign = provision("supplier")

    response = as_member(tenant).get(f"/v1/tenants/{foreign.id}")

    assert response.status_code == 404
    assert foreign.slug not in response.content.decode()


def test_get_answers_every_field_of_the_contract(tenant):
    data = as_member(tenant).get(f"/v1/tenants/{tenant.id}").json()["data"]

    assert data.keys() == {
        "id", "organization_id", "kinds", "name", "slug", "status", "region", "time_zone", "locale", "currency", "plan",
        "environment", "suspended_reason", "settings_version", "provisioning_job_id", "version", "created_at", "updated_at",
    }  # fmt: skip
    assert (data["status"], data["kinds"], data["plan"]) == ("active", ["provider"], "standard")


def test_provision_sets_everything_up_and_invites_the_first_administrator(top, org_admin):
    email = f"kari-{suffix()}@example.org"

    response = org_admin.post(
        "/v1/tenants", json=body(admin_email=email.upper(), time_zone="Europe/Oslo", currency="NOK")
    )

    assert response.status_code == 201, response.content
    made = response.json()["data"]
    assert (made["status"], made["organization_id"], made["time_zone"]) == ("active", str(top.id), "Europe/Oslo")
    invited = Membership.objects.get(tenant_id=made["id"])
    assert (invited.user.email, invited.status, invited.roles) == (email, "invited", ["tenant_admin"])
    assert ProvisioningStep.objects.filter(tenant_id=made["id"]).count() == 8
    with tenant_context(made["id"]):
        assert TenantConfiguration.objects.filter(tenant_id=made["id"]).count() == 1
        assert Entitlement.objects.get(tenant_id=made["id"]).plan == "standard"
        assert Location.objects.filter(tenant_id=made["id"]).count() == 1
        assert Quota.objects.get(tenant_id=made["id"], key="users").used == 1
        kinds = set(Event.objects.filter(tenant_id=made["id"]).values_list("type", flat=True))
    assert {"tenant.provisioned", "membership.invited"} <= kinds


def test_provision_is_visible_to_the_org_admin_at_once(org_admin):
    made = org_admin.post("/v1/tenants", json=body()).json()["data"]

    assert org_admin.get(f"/v1/tenants/{made['id']}").status_code == 200


def test_provision_with_a_slug_that_is_taken_changes_nothing(tenant, org_admin):
    response = org_admin.post("/v1/tenants", json=body(slug=tenant.slug, name="Thief"))

    assert (response.status_code, response.json()["code"]) == (409, "duplicate")
    assert Tenant.objects.get(slug=tenant.slug).name == tenant.name


def test_provision_for_a_foreign_organization_is_refused(org_admin):
    foreign = organization("Foreign")

    response = org_admin.post("/v1/tenants", json=body(organization_id=str(foreign.id)))

    assert (response.status_code, response.json()["code"]) == (422, "unknown_organization")
    assert not foreign.tenants.exists()


def test_provision_needs_the_scope(tenant):
    wanted = body()

    response = as_member(tenant).post("/v1/tenants", json=wanted)

    assert (response.status_code, response.json()["code"]) == (403, "insufficient_scope")
    assert not Tenant.objects.filter(slug=wanted["slug"]).exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kinds": []}, "kinds"),
        ({"kinds": ["castle"]}, "kinds.0"),
        ({"slug": "Not a slug"}, "slug"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"currency": "euro"}, "currency"),
        ({"currency": "DEM"}, "currency"),
        ({"plan": "diamond"}, "plan"),
        ({"status": "active"}, "status"),
    ],
)
def test_body_that_is_not_of_its_form_names_the_field(org_admin, change, field):
    wanted = body(**change)

    response = org_admin.post("/v1/tenants", json=wanted)

    assert response.status_code == 400, response.content
    assert [fault["field"] for fault in response.json()["errors"]] == [field]
    assert not Tenant.objects.filter(slug=wanted["slug"]).exists()


def test_update_changes_fields_and_bumps_the_version(tenant):
    response = as_member(tenant).patch(f"/v1/tenants/{tenant.id}", json={"name": "Renamed", "locale": "nb-NO"})

    data = response.json()["data"]
    assert (response.status_code, data["name"], data["locale"]) == (200, "Renamed", "nb-NO")
    assert response.headers["ETag"] == f'"{tenant.version + 1}"'


@pytest.mark.parametrize("field", ["slug", "kinds", "plan", "organization_id", "environment"])
def test_update_of_what_never_changes_is_refused(tenant, field):
    response = as_member(tenant).patch(f"/v1/tenants/{tenant.id}", json={field: "x"})

    assert (response.status_code, response.json()["code"]) == (400, "unknown_field")


def test_update_of_a_foreign_tenant_is_not_found(tenant):
    foreign = provision("supplier")

    response = as_member(tenant).patch(f"/v1/tenants/{foreign.id}", json={"name": "Stolen"})

    assert response.status_code == 404
    assert Tenant.objects.get(pk=foreign.pk).name == foreign.name


def test_org_admin_suspends_and_resumes_a_tenant_below(top, tenant, org_admin):
    below = provision("pharmacy", under=organization("Below", parent=top))
    path = f"/v1/tenants/{below.id}"

    suspended = org_admin.patch(path, json={"status": "suspended", "suspended_reason": "unpaid"}).json()["data"]
    again = org_admin.patch(path, json={"status": "suspended"})
    resumed = org_admin.patch(path, json={"status": "active"}).json()["data"]

    assert (suspended["status"], suspended["suspended_reason"]) == ("suspended", "unpaid")
    assert again.status_code == 200
    assert (resumed["status"], resumed["suspended_reason"]) == ("active", None)
    with tenant_context(below.id):
        kinds = list(
            Event.objects.filter(tenant_id=below.id, resource_type="tenant")
            .order_by("id")
            .values_list("type", flat=True)
        )
    assert kinds[-2:] == ["tenant.suspended", "tenant.resumed"]


def test_nobody_suspends_the_tenant_he_stands_in(tenant, org_admin):
    response = org_admin.patch(f"/v1/tenants/{tenant.id}", json={"status": "suspended"})

    assert (response.status_code, response.json()["code"]) == (403, "own_tenant")
    assert Tenant.objects.get(pk=tenant.pk).status == "active"


def test_tenant_administrator_may_not_change_the_state(tenant):
    response = as_member(tenant).patch(f"/v1/tenants/{tenant.id}", json={"status": "suspended"})

    assert (response.status_code, response.json()["code"]) == (403, "insufficient_scope")
    assert Tenant.objects.get(pk=tenant.pk).status == "active"


def test_suspended_tenant_is_read_but_not_written(top, tenant, org_admin):
    below = provision("supplier", under=organization("Below", parent=top))
    administrator, key = as_member(below), Api(key=api_key(below), tenant=below)
    org_admin.patch(f"/v1/tenants/{below.id}", json={"status": "suspended"})

    read = administrator.get(f"/v1/tenants/{below.id}")
    written = administrator.patch(f"/v1/tenants/{below.id}", json={"name": "Changed"})
    by_key = key.get("/v1/me")

    assert read.status_code == 200
    assert (written.status_code, written.json()["code"]) == (403, "tenant_suspended")
    assert by_key.json()["data"]["tenant"]["status"] == "suspended"
    assert Tenant.objects.get(pk=below.pk).name == below.name


def test_idempotent_provisioning_answers_the_same_tenant_twice(org_admin):
    wanted, headers = body(), {"Idempotency-Key": suffix()}

    first = org_admin.post("/v1/tenants", json=wanted, headers=headers)
    second = org_admin.post("/v1/tenants", json=wanted, headers=headers)

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert second.headers["Idempotency-Replayed"] == "true"
