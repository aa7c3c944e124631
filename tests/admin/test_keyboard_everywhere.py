"""Every page of the admin by the Tab key: nothing that a mouse reaches is out of reach, the focus is seen, nobody is trapped."""

from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.admin.pages import addresses
from tests.admin.people import World, staff, world
from tests.admin.seats import Seat

pytestmark = pytest.mark.browser

MOST = 400  # stops on one page
# Each stop says its number (or "" outside of the list), and whether the focus is drawn. Arrows move in radio buttons and menus.
NUMBER = """() => {
  const top = document.createElement("a");  // a page may focus a field in its middle
  top.href = "#";
  document.body.prepend(top);
  top.focus();
  top.remove();
  const wanted = "a[href], button, input, select, textarea, summary, [role=button], [onclick], [x-on\\\\:click]:not([x-on\\\\:click*='$event.stop'])";
  const shown = (one) => {
    const box = one.getBoundingClientRect(), style = getComputedStyle(one);
    return box.width > 1 && box.height > 1 && style.visibility === "visible" && style.opacity !== "0";
  };
  const reached = [...document.querySelectorAll(wanted)].filter((one) =>
    shown(one) && !one.disabled && !one.closest("[inert], [aria-hidden=true], [role=menu], .select2-selection") &&
    !(one.type === "radio" && !one.checked) && !one.querySelector("a[href], button, input, select, [tabindex]"));
  reached.forEach((one, number) => { one.dataset.stop = number; });
  return reached.map((one) => one.outerHTML.slice(0, 140));
}"""
STOP = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const drawn = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 || style.boxShadow !== "none";
  const own = one === document.body ? null : one.dataset.stop ?? one.closest("[data-stop]")?.dataset.stop ?? "";
  return [own, drawn, one.outerHTML.slice(0, 140)];
}"""


@pytest.fixture(scope="module")
def mine(browser: Browser) -> World:
    return world("Tab")


def walk(seat: Seat) -> dict[str, list[str]]:
    """Press Tab from the top of the page until the focus leaves it; return what was not reached and what was not seen."""
    wanted: list[str] = seat.page.evaluate(NUMBER)
    missed, unseen = dict(enumerate(wanted)), []
    for _ in range(MOST):
        seat.page.keyboard.press("Tab")
        stop: Any = seat.page.evaluate(STOP)
        number, drawn, html = stop
        if number is None:
            break
        if number:
            missed.pop(int(number), None)
        if not drawn:
            unseen.append(html)
    else:
        return {"a trap": [html]}
    return {name: found for name, found in (("not reached", [*missed.values()]), ("not seen", unseen)) if found}


def test_every_page_is_reached_by_tab(seat: Seat, mine: World, long: bool) -> None:
    seat.sign_in(staff())
    seat.act_in(mine.tenant)
    found, walked = {}, 0
    every = list(addresses(seat, mine))
    for address in every if long else every[1::2]:
        if seat.open(address) != 200:
            continue
        walked += 1
        if here := walk(seat):
            found[address] = here
    assert walked >= 30
    assert found == {}
