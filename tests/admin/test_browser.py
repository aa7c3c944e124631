"""The admin in a real browser: every page, the buttons, the sign-in and its lock; no console error, no foreign row."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.urls import reverse
from playwright.sync_api import Browser, Page, sync_playwright

from ledger.models import Event
from organizations.models import ApiKey, Membership, OAuthApplication, SecurityLogEntry, Tenant, User
from organizations.staff.pages import TenantPages
from organizations.staff.roles import sees
from tests import factories
from tests.admin.people import PASSWORD, REASON, World, staff, world

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("ADMIN_SHOTS", "")


class Seat:
    """One person at one browser window; collects what the console complains of."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900})
        self.page: Page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.faults.append(f"{self.page.url}: {error}"))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"{self.page.url}: {message.text}")

    def open(self, path: str) -> int:
        """Open an address and return the status."""
        answer = self.page.goto(path, wait_until="load")
        return answer.status if answer else 0

    def sign_in(self, person: User, password: str = PASSWORD) -> None:
        self.open("/admin/login/")
        self.page.fill("#id_username", person.email)
        self.page.fill("#id_password", password)
        self.page.click("#login-form button[type=submit]")
        self.page.wait_for_load_state("load")

    def act_in(self, tenant: Tenant) -> None:
        self.open(f"/admin/acting-tenant/?tenant={tenant.pk}")
        self.page.fill("#id_reason", REASON)
        self.page.click("#acting-form button[type=submit]")
        self.page.wait_for_load_state("load")

    def press(self, path: str, **fields: Any) -> None:
        """Open a button's page, fill the form in, send it."""
        assert self.open(path) == 200
        for name, value in {"reason": REASON, **fields}.items():
            self._fill(f"[name={name}]", value)
        self.page.click("#button-form button[type=submit]")
        self.page.wait_for_load_state("load")

    def _fill(self, selector: str, value: Any) -> None:
        field = self.page.locator(selector).first
        kind = field.evaluate("e => e.tagName + ':' + (e.type || '')")
        if kind.startswith("SELECT"):
            field.select_option(value)
        elif kind.endswith(":checkbox"):
            self.page.locator(f"{selector}[value='{value}']" if isinstance(value, str) else selector).first.check()
        else:
            field.fill(value)

    def shot(self, name: str) -> None:
        """Keep a picture where ADMIN_SHOTS says."""
        if SHOTS:
            self.page.wait_for_timeout(250)
            self.page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def _address(page: Any, kind: str, *arguments: object) -> str:
    return reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_{kind}", args=arguments)


def _button(row: Any, name: str) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_button", args=[row.pk, name])


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    # Playwright keeps an event loop in this thread, in which Django would refuse to touch the database.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as driver:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        found = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def mine(browser: Browser) -> World:
    return world("Mine")


@pytest.fixture(scope="module")
def theirs(browser: Browser) -> World:
    return world("Theirs")


@pytest.fixture
def seat(browser: Browser, live_server_url: str) -> Iterator[Seat]:
    made = Seat(browser, live_server_url)
    yield made
    made.context.close()


@pytest.mark.parametrize("role", ["administrator", "support", "security"])
def test_every_page_opens_without_a_complaint(seat: Seat, role: str, mine: World, theirs: World, long: bool) -> None:
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
        if isinstance(page, TenantPages):
            assert mine.tenant.name in seat.page.inner_text("#acting-banner")
            assert theirs.tenant.name not in text
            assert str(theirs.tenant.pk) not in seat.page.content()
        assert mine.secret not in seat.page.content()
        seat.shot(f"{role}-{page.opts.model_name}-list")
        links = seat.page.locator("#result_list a[href*='/change/']")
        if links.count() and (long or role == "administrator"):
            assert seat.open(links.first.get_attribute("href") or "") == 200
            opened += 1
            assert mine.secret not in seat.page.content()
            seat.shot(f"{role}-{page.opts.model_name}-page")

    assert opened >= (30 if long or role == "administrator" else 20)
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
