"""Ctrl-K: what each role finds, what nobody finds, and how it is reached by keyboard."""

import html
import re

import pytest
from playwright.sync_api import Browser

from tests import factories
from tests.admin.people import World, act_in, signed_in, staff, world
from tests.admin.seats import Seat
from tests.webhooks.worlds import new_world


@pytest.fixture(scope="module")
def mine():
    return world(f"Palette {factories.suffix()}")


def found(browser, term):
    answer = browser.get("/admin/search/", {"s": term, "extended": "1"})
    assert answer.status_code == 200
    text = html.unescape(answer.content.decode())
    return dict(re.findall(r'href="([^"]+)" data-title="([^"]+)"', text))


def test_tenant_person_and_key_are_found(mine):
    browser = signed_in()
    assert mine.tenant.name in found(browser, mine.tenant.name[:14]).values()
    assert mine.member.user.email in found(browser, mine.member.user.email).values()
    assert [name for name in found(browser, mine.key.key_id).values() if mine.key.name in name]
    assert list(found(browser, str(mine.tenant.pk)).values()) == [mine.tenant.name]
    assert found(browser, "signing k").items() == {("/admin/organizations/signingkey/", "Signing keys")}


@pytest.mark.parametrize("term", ["", "x", "%", "'", "z" * 5000, "0" * 36])
def test_odd_words_find_nothing_and_break_nothing(term):
    assert found(signed_in(), term) == {}


def test_role_finds_only_what_it_sees(mine):
    finance = signed_in("finance")
    assert mine.tenant.name in found(finance, mine.tenant.name).values()
    assert found(finance, mine.member.user.email) == {}
    assert found(finance, mine.key.key_id) == {}


def test_rows_of_tenants_are_found_in_the_acting_one_alone(mine):
    world_of_hooks, browser = new_world(), signed_in()
    name = f"https://palette-{factories.suffix()}.example.org/hook"
    world_of_hooks.endpoint(name, events=["product.*"])
    assert found(browser, name) == {}
    act_in(browser, mine.tenant)
    assert found(browser, name) == {}
    act_in(browser, world_of_hooks.tenant)
    assert list(found(browser, name).values()) == [name]


def test_five_of_a_kind_at_most():
    mark = factories.suffix()
    for number in range(7):
        factories.provision("supplier", name=f"Many {mark} {number}")
    tenants = [one for one in found(signed_in(), f"Many {mark}") if "/tenant/" in one]
    assert len(tenants) == 5


@pytest.mark.browser
def test_palette_is_used_by_keyboard(browser: Browser, seat: Seat, mine: World) -> None:
    seat.sign_in(staff())
    seat.page.keyboard.press("Control+k")
    seat.page.keyboard.type(mine.tenant.name, delay=5)
    seat.page.wait_for_selector(f"#command-results a[data-title='{mine.tenant.name}']")
    seat.page.keyboard.press("ArrowDown")
    seat.page.keyboard.press("Enter")
    seat.page.wait_for_url(f"**/tenant/{mine.tenant.pk}/change/")
    assert seat.faults == []
