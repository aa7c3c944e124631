"""Every page of the admin opens for the roles that may see it, and for nobody else."""

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from organizations.staff.pages import StaffPages, TenantPages
from organizations.staff.roles import Area, sees
from tests.admin.people import act_in, signed_in, staff, world

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


def _address(page: StaffPages, kind: str, *arguments: object) -> str:
    return reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_{kind}", args=arguments)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_list_opens(page: StaffPages, browser: Client) -> None:
    answer = browser.get(_address(page, "changelist"))

    assert answer.status_code == 200
    assert b"digest" not in answer.content.lower()


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_search_opens(page: StaffPages, browser: Client) -> None:
    assert browser.get(_address(page, "changelist"), {"q": "nothing-is-called-so"}).status_code == 200


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_export_opens(page: StaffPages, browser: Client) -> None:
    answer = browser.get(_address(page, "export"))

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_page_names_its_area(page: StaffPages) -> None:
    assert isinstance(page, StaffPages)
    assert page.area in Area


@pytest.mark.parametrize(
    "page", [page for page in PAGES if isinstance(page, TenantPages)], ids=lambda page: page.opts.label
)
def test_tenant_page_is_closed_without_an_acting_tenant(page: StaffPages) -> None:
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


def test_every_tenant_table_page_is_a_tenant_page() -> None:
    from core.row_security import security_of

    open_pages = [
        page.opts.label for page in PAGES if security_of(page.model).tenant_column and not isinstance(page, TenantPages)
    ]

    assert open_pages == []


def test_stranger_is_sent_to_the_sign_in() -> None:
    answer = Client().get("/admin/organizations/tenant/")

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/admin/login/")
