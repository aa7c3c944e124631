"""The admin by keyboard alone: from the sign-in to the jobs of every day."""

from typing import Any

import pytest
from playwright.sync_api import Browser

from organizations.models import Tenant
from tests.admin.people import PASSWORD, REASON, World, staff, world
from tests.admin.seats import Seat

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def mine(browser: Browser) -> World:
    return world("Keyboard")


def focused(seat: Seat) -> str:
    """What the focused element is called."""
    return str(
        seat.page.evaluate(
            "() => { const e = document.activeElement; return (e.getAttribute('aria-label') || e.textContent || e.name || '').trim() }"
        )
    )


def tab_to(seat: Seat, name: str, *, most: int = 150) -> None:
    """Press Tab until something of this name has the focus."""
    for _ in range(most):
        seat.page.keyboard.press("Tab")
        if focused(seat) == name or focused(seat).startswith(f"{name} "):
            return
    raise AssertionError(f"{name} is not reached by Tab")


def press(seat: Seat, *keys: str) -> None:
    for key in keys:
        seat.page.keyboard.press(key)
    seat.page.wait_for_load_state("load")
    seat.page.wait_for_timeout(300)


def sign_in(seat: Seat) -> None:
    seat.open("/admin/login/")
    seat.page.locator("#id_username").focus()
    seat.page.keyboard.type(staff().email)
    seat.page.keyboard.press("Tab")
    seat.page.keyboard.type(PASSWORD)
    press(seat, "Enter")
    seat.page.wait_for_url("**/admin/")


def test_first_stop_leads_past_the_side_bar(seat: Seat) -> None:
    sign_in(seat)
    seat.open("/admin/organizations/tenant/")
    press(seat, "Tab")
    assert focused(seat) == "Skip to the content"
    box: Any = seat.page.locator(".skip-link").bounding_box()
    assert box["y"] >= 0
    press(seat, "Enter", "Tab")
    assert seat.page.evaluate("() => document.querySelector('main').contains(document.activeElement)")


def test_focus_is_seen(seat: Seat) -> None:
    sign_in(seat)
    seat.open("/admin/organizations/tenant/")
    for _ in range(30):
        seat.page.keyboard.press("Tab")
        style: Any = seat.page.evaluate(
            "() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth] }"
        )
        assert style == ["solid", "3px"], focused(seat)


def test_menu_of_actions_opens_moves_and_closes(seat: Seat, mine: World) -> None:
    sign_in(seat)
    seat.open(f"/admin/organizations/tenant/{mine.tenant.pk}/change/")
    tab_to(seat, "Actions")
    press(seat, "Enter")
    first = focused(seat)
    press(seat, "ArrowDown")
    second = focused(seat)
    assert first != second
    press(seat, "Escape")
    assert focused(seat).startswith("Actions")
    assert seat.page.locator("[aria-label^='Actions']").first.get_attribute("aria-expanded") == "false"


def test_tenant_is_suspended_by_keyboard(seat: Seat) -> None:
    tenant = world("Suspended").tenant
    sign_in(seat)
    seat.open(f"/admin/organizations/tenant/{tenant.pk}/change/")
    tab_to(seat, "Actions")
    press(seat, "Enter")
    for _ in range(12):
        if "Suspend" in focused(seat):
            break
        press(seat, "ArrowDown")
    press(seat, "Enter")
    seat.page.wait_for_url("**suspend**")  # the next page may take longer than a key press waits
    seat.page.locator("[name=reason]").focus()
    seat.page.keyboard.type(REASON)
    tab_to(seat, "Suspend")
    with seat.page.expect_navigation(wait_until="load"):  # answered only once the tenant is suspended
        seat.page.keyboard.press("Enter")
    assert Tenant.objects.using("platform").get(pk=tenant.pk).status == "suspended"


def test_list_is_searched_sorted_and_left_by_keyboard(seat: Seat, mine: World) -> None:
    sign_in(seat)
    seat.open("/admin/organizations/tenant/")
    seat.page.locator("#searchbar").focus()
    seat.page.keyboard.type(mine.tenant.name)
    press(seat, "Enter")
    seat.page.wait_for_url("**q=**")
    tab_to(seat, mine.tenant.name)
    press(seat, "Enter")
    seat.page.wait_for_url(f"**{mine.tenant.pk}**")
