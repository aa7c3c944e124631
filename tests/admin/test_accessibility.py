"""The admin judged by axe: no page with a serious or moderate finding, in light and in dark."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.admin.pages import addresses
from tests.admin.people import World, staff, world
from tests.admin.seats import Seat

pytestmark = pytest.mark.browser

GRAVE = ("moderate", "serious", "critical")
FIGURES = os.environ.get("AXE_FIGURES", "")  # a file for what was found
Scheme = Literal["light", "dark"]
WATCH = """() => new MutationObserver((changes) => {
  for (const change of changes)
    for (const node of change.addedNodes)
      for (const box of node.querySelectorAll?.(".simplebar-content-wrapper") ?? [])
        window.labels.push(box.getAttribute("aria-label"));
}).observe(document, { childList: true, subtree: true })"""  # the name a scroll box has when it appears


@pytest.fixture(scope="module")
def mine(browser: Browser) -> World:
    return world("Mine")


@pytest.fixture(params=["light", "dark"])
def staffed(browser: Browser, live_server_url: str, request: pytest.FixtureRequest, mine: World) -> Iterator[Seat]:
    """A window of an administrator who acts in the tenant."""
    seat = Seat(browser, live_server_url, scheme=request.param)
    seat.sign_in(staff())
    seat.act_in(mine.tenant)
    yield seat
    seat.context.close()


def findings(seat: Seat) -> dict[str, list[str]]:
    """What axe finds on the page that is open: rule and impact, with the places."""
    found: Any = Axe().run(seat.page).response["violations"]
    return {
        f"{one['id']} ({one['impact']})": [node["html"][:160] for node in one["nodes"]]
        for one in found
        if one["impact"] in GRAVE
    }


def test_no_page_has_a_grave_finding(staffed: Seat, mine: World, long: bool) -> None:
    found, opened = {}, 0
    every = list(addresses(staffed, mine))
    for address in every if long else every[::2]:
        if staffed.open(address) != 200:
            continue
        opened += 1
        if here := findings(staffed):
            found[address] = here
    if FIGURES:
        with Path(FIGURES).open("a") as file:
            file.write(json.dumps({"pages": opened, "found": found}) + "\n")
    assert opened >= 30
    assert found == {}


def test_scroll_boxes_have_names_of_their_own_at_once(staffed: Seat) -> None:
    staffed.page.add_init_script(f"window.labels = []; ({WATCH})()")
    assert staffed.open("/admin/ledger/event/") == 200
    labels = staffed.page.evaluate("window.labels")
    assert len(labels) >= 3
    assert "scrollable content" not in labels, "what the library calls all of them"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "address", ["/admin/login/", "/oauth/login", "/oauth/invitation", "/oauth/password", "/oauth/logout"]
)
def test_page_before_the_sign_in_has_no_grave_finding(
    browser: Browser, live_server_url: str, address: str, scheme: Scheme
) -> None:
    seat = Seat(browser, live_server_url, scheme=scheme)
    assert seat.open(address) in (200, 400)
    assert findings(seat) == {}
    seat.context.close()
