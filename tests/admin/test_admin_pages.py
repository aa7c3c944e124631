"""Every page of the admin opens for the roles that may see it, and for nobody else."""

import pytest
from django.apps import apps as django_apps
from django.contrib import admin
from django.urls import reverse

from core.db import tenant_context
from core.row_security import security_of
from organizations.staff.roles import Area, sees
from organizations.staff.tenant_admin import StaffAdmin, TenantAdmin
from tests.admin.people import act_in, signed_in, staff, world
from tests.factories import Client

admin.autodiscover()
PAGES = sorted(admin.site._registry.values(), key=lambda page: page.opts.label)
NAMES = [page.opts.label for page in PAGES]


@pytest.fixture(scope="module")
def one_world():
    return world()


@pytest.fixture(scope="module")
def browser(one_world) -> Client:
    chosen = signed_in()
    act_in(chosen, one_world.tenant)
    return chosen


def _address(page: StaffAdmin, kind: str, *arguments: object) -> str:
    return reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_{kind}", args=arguments)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_list_opens(page: StaffAdmin, browser: Client) -> None:
    answer = browser.get(_address(page, "changelist"))

    assert answer.status_code == 200
    assert b"digest" not in answer.content.lower()


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_search_opens(page: StaffAdmin, browser: Client) -> None:
    assert browser.get(_address(page, "changelist"), {"q": "nothing-is-called-so"}).status_code == 200


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_export_opens(page: StaffAdmin, browser: Client) -> None:
    answer = browser.get(_address(page, "export"))

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_page_names_its_area(page: StaffAdmin) -> None:
    assert isinstance(page, StaffAdmin)
    assert page.area in Area


@pytest.mark.parametrize(
    "page", [page for page in PAGES if isinstance(page, TenantAdmin)], ids=lambda page: page.opts.label
)
def test_tenant_page_is_closed_without_an_acting_tenant(page: StaffAdmin) -> None:
    browser = signed_in()

    for kind in ("changelist", "export"):
        answer = browser.get(_address(page, kind))

        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/admin/acting-tenant/?next=")


@pytest.mark.parametrize("role", ["support", "supply", "finance", "security", "administrator"])
def test_role_sees_its_areas_only(role: str, one_world) -> None:
    person = staff(role)
    chosen = signed_in(person=person)
    act_in(chosen, one_world.tenant)

    answers = {page.opts.label: chosen.get(_address(page, "changelist")).status_code for page in PAGES}

    assert answers == {page.opts.label: 200 if sees(person, page.area) else 403 for page in PAGES}
    assert chosen.get("/admin/").status_code == 200


def _walled(page: StaffAdmin) -> bool:
    """Rows that are read before a tenant is known, memberships and keys, are listed for all tenants."""
    security = security_of(page.model)
    return bool(security.tenant_column) and not security.before_binding


def test_every_tenant_table_page_is_a_tenant_page() -> None:
    open_pages = [page.opts.label for page in PAGES if _walled(page) and not isinstance(page, TenantAdmin)]

    assert open_pages == []


def test_stranger_is_sent_to_the_sign_in() -> None:
    answer = Client().get("/admin/organizations/tenant/")

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/admin/login/")


@pytest.mark.parametrize(
    "path", ["", "organizations/", "suppliers/", "jsi18n/", "password_change/", "search/?s=tenant"]
)
def test_general_pages_open(path: str, browser: Client) -> None:
    assert browser.get(f"/admin/{path}").status_code == 200


def test_filter_finds_tenants_by_name(browser: Client, one_world) -> None:
    query = {
        "app_label": "organizations",
        "model_name": "membership",
        "field_name": "tenant",
        "term": one_world.tenant.name,
    }

    found = browser.get("/admin/autocomplete/", query).json()["results"]

    assert [row["id"] for row in found] == [str(one_world.tenant.pk)]


def _choices() -> list[tuple[str, str, str]]:
    """Every field of a page's table that refers to rows of a tenant which have a page that is searched."""
    return [
        (page.opts.app_label, str(page.opts.model_name), field.name)
        for page in PAGES
        for field in page.opts.get_fields()
        if field.concrete and field.is_relation and isinstance(admin.site._registry.get(field.related_model), TenantAdmin)
        and admin.site._registry[field.related_model].search_fields
    ]  # fmt: skip


@pytest.mark.parametrize(("app", "model", "field"), _choices(), ids=".".join)
def test_choices_are_those_of_the_acting_tenant(app: str, model: str, field: str, browser: Client, one_world) -> None:
    query = {"app_label": app, "model_name": model, "field_name": field}

    for term in ("", "nothing-is-called-so"):
        answer = browser.get("/admin/autocomplete/", query | {"term": term})
        assert answer.status_code == 200, answer.content[-500:]

    found = browser.get("/admin/autocomplete/", query).json()["results"]
    table = django_apps.get_model(app, model)._meta.get_field(field).related_model
    with tenant_context(one_world.tenant.id):
        mine = set(map(str, table._base_manager.filter(tenant_id=one_world.tenant.id).values_list("pk", flat=True)))
    assert {row["id"] for row in found} <= mine
    assert bool(found) == bool(mine)
    assert signed_in().get("/admin/autocomplete/", query).json()["results"] == []


def test_history_shows_what_staff_did(browser: Client, one_world) -> None:
    reason = "Ticket 42: legal department asks"
    browser.post(f"/admin/organizations/tenant/{one_world.tenant.pk}/do/hold/", {"reason": reason, "hold": "on"})

    page = browser.get(f"/admin/organizations/tenant/{one_world.tenant.pk}/history/").content.decode()

    assert "tenant.hold" in page
    assert reason in page


@pytest.mark.parametrize("name", ["location", "tenantconfiguration", "entitlement"])
def test_history_of_a_tenants_row_opens(name: str, browser: Client, one_world) -> None:
    with tenant_context(one_world.tenant.id):
        row = django_apps.get_model("organizations", name).objects.filter(tenant_id=one_world.tenant.id).first()

    assert browser.get(f"/admin/organizations/{name}/{row.pk}/history/").status_code == 200
