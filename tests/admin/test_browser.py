"""The admin in a real browser: every page, the buttons, the sign-in and its lock; no console error, no foreign row."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.urls import reverse
from playwright.sync_api import Browser

from ledger.models import Event
from organizations.models import ApiKey, Membership, OAuthApplication, SecurityLogEntry, Tenant, User
from organizations.staff.roles import sees
from organizations.staff.tenant_admin import TenantAdmin
from tests import factories
from tests.admin.people import PASSWORD, REASON, World, staff, world
from tests.admin.seats import Seat

pytestmark = pytest.mark.browser


def _address(page: Any, kind: str, *arguments: object) -> str:
    return reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_{kind}", args=arguments)


def _button(row: Any, name: str) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_button", args=[row.pk, name])


@pytest.fixture(scope="module")
def mine(browser: Browser) -> World:
    return world("Mine")


@pytest.fixture(scope="module")
def theirs(browser: Browser) -> World:
    return world("Theirs")


@pytest.mark.parametrize(
    "role", ["administrator", *(pytest.param(role, marks=pytest.mark.long) for role in ("support", "security"))]
)
def test_every_page_opens_without_a_complaint(seat: Seat, role: str, mine: World, theirs: World) -> None:
    person = staff(role)
    seat.open("/admin/login/")
    seat.shot(f"{role}-login")
    seat.sign_in(person)
    seat.shot(f"{role}-overview")
    seat.open("/admin/acting-tenant/")
    seat.shot(f"{role}-picker")
    seat.act_in(mine.tenant)
    opened = 0
    for page in admin.site._registry.values():
        if not sees(person, page.area):
            continue
        assert seat.open(_address(page, "changelist")) == 200
        opened += 1
        text = seat.page.inner_text("body")
        if isinstance(page, TenantAdmin):
            assert mine.tenant.name in seat.page.inner_text("#acting-banner")
            assert theirs.tenant.name not in text
            assert str(theirs.tenant.pk) not in seat.page.content()
        assert mine.secret not in seat.page.content()
        seat.shot(f"{role}-{page.opts.model_name}-list")
        links = seat.page.locator("#result_list a[href*='/change/']")
        if links.count():
            assert seat.open(links.first.get_attribute("href") or "") == 200
            opened += 1
            assert mine.secret not in seat.page.content()
            seat.shot(f"{role}-{page.opts.model_name}-page")

    assert opened >= 30
    assert seat.faults == []


def test_foreign_row_is_not_found(seat: Seat, mine: World, theirs: World) -> None:
    seat.sign_in(staff())
    seat.act_in(mine.tenant)

    for name, row in (("location", theirs.location), ("configurationversion", theirs.version)):
        seat.open(f"/admin/organizations/{name}/{row.pk}/change/")

        assert theirs.tenant.name not in seat.page.content()
        assert "doesn’t exist" in seat.page.inner_text("body")


def test_buttons_call_the_actions(seat: Seat) -> None:
    own = world("Buttons")
    person, slug = staff(), f"browser-{factories.suffix()}"
    seat.sign_in(person)

    seat.open("/admin/organizations/tenant/add/")
    seat.shot("provision-form")
    seat.press(
        "/admin/organizations/tenant/add/",
        name="Browser Clinic",
        slug=slug,
        kinds="provider",
        first_administrator=f"{slug}@example.org",
    )
    assert "shown this once" in seat.page.inner_text("body")
    seat.shot("provision-done")
    made = Tenant.objects.get(slug=slug)
    assert made.status == "active"

    seat.open(f"/admin/organizations/tenant/{own.tenant.pk}/change/")
    seat.page.locator("#main a:has-text('Actions')").first.click()
    seat.shot("actions-menu")
    seat.page.locator(f"a[href='{_button(own.tenant, 'suspend')}']").click()
    seat.page.wait_for_load_state("load")
    seat.shot("suspend-dialog")
    seat.press(_button(own.tenant, "suspend"))
    seat.shot("suspended")
    assert Tenant.objects.get(pk=own.tenant.pk).status == "suspended"
    seat.press(_button(own.tenant, "resume"))
    assert Tenant.objects.get(pk=own.tenant.pk).status == "active"
    seat.press(_button(own.tenant, "plan"), plan="enterprise")
    assert Tenant.objects.get(pk=own.tenant.pk).plan == "enterprise"
    seat.press(_button(own.tenant, "hold"), hold=True)
    assert Tenant.objects.get(pk=own.tenant.pk).legal_hold
    seat.press(_button(made, "offboard"), confirmation="Browser Clinic")
    assert Tenant.objects.get(pk=made.pk).status == "offboarding"

    seat.press(_button(own.key, "revoke"))
    assert ApiKey.objects.get(pk=own.key.pk).status == "revoked"
    other = Membership.objects.filter(tenant=own.tenant, roles=["supplier_user"]).get()
    for button, status in (("suspend", "suspended"), ("resume", "active"), ("revoke", "revoked")):
        seat.press(_button(other, button))
        assert Membership.objects.get(pk=other.pk).status == status
    seat.press(_button(own.member, "revoke"))
    assert "last administrator" in seat.page.inner_text("#refusal")
    seat.shot("refused")

    for button, approved in (("approve", True), ("withdraw", False)):
        seat.press(_button(own.client, button))
        assert (OAuthApplication.objects.get(pk=own.client.pk).approved_at is not None) is approved
    someone = own.member.user
    for button, active in (("end-sessions", True), ("unlock", True), ("deactivate", False), ("reactivate", True)):
        seat.press(_button(someone, button))
        assert User.objects.get(pk=someone.pk).is_active is active
    seat.press(_button(someone, "appoint"), role="support")
    assert User.objects.get(pk=someone.pk).staff_role == "support"
    organization = own.tenant.organization
    for button, status in (("suspend", "suspended"), ("resume", "active")):
        seat.press(_button(organization, button))
        organization.refresh_from_db()
        assert organization.status == status

    assert seat.faults == []
    told = Event.objects.using("platform").filter(subject_id=person.pk, type="staff_action.performed")
    assert told.count() >= 17
    assert {event.data["reason"] for event in told} == {REASON}


def test_access_to_a_tenant_ends(seat: Seat, mine: World) -> None:
    person = staff()
    seat.sign_in(person)
    seat.open("/admin/organizations/location/")
    assert "/admin/acting-tenant/" in seat.page.url

    seat.act_in(mine.tenant)
    seat.open("/admin/organizations/location/")
    assert "/admin/organizations/location/" in seat.page.url
    seat.page.click("#acting-end")
    seat.page.wait_for_load_state("load")
    seat.open("/admin/organizations/location/")

    assert "/admin/acting-tenant/" in seat.page.url
    told = Event.objects.using("platform").filter(subject_id=person.pk, tenant_id=mine.tenant.pk)
    assert list(told.order_by("occurred_at", "id").values_list("type", flat=True)) == [
        "staff_access.started",
        "staff_access.ended",
    ]


def test_twenty_wrong_passwords_lock(seat: Seat) -> None:
    person = staff()
    said = []
    for number in range(20):
        seat.sign_in(person, password=f"wrong password {number}")
        said.append(seat.page.inner_text("#refusal"))
    seat.shot("locked")

    first = next(number for number, text in enumerate(said, start=1) if "Too many" in text)
    assert 6 <= first <= 10
    assert all("Too many" in text for text in said[first - 1 :])
    seat.sign_in(person)
    assert re.search(r"/admin/login/", seat.page.url)
    assert SecurityLogEntry.objects.filter(code="account_locked").exists()


def test_member_of_a_tenant_is_not_let_in(seat: Seat) -> None:
    tenant = factories.provision()
    member, _ = factories.member(tenant, person=factories.user("member", password=PASSWORD))

    seat.sign_in(member)

    assert "wrong" in seat.page.inner_text("#refusal")
    seat.open("/admin/organizations/tenant/")
    assert "/admin/login/" in seat.page.url
