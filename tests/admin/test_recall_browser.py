"""The recall desk in a real browser: judged by axe in light and dark, and worked by keyboard alone."""

from collections.abc import Iterator
from datetime import date

import pytest
from playwright.sync_api import Browser

from tests.admin.people import REASON, staff
from tests.admin.seats import Seat
from tests.admin.test_accessibility import findings
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.recalls import lot_of, recall, recalls
from tests.suppliers.inventory.shelf import Shelf, reserve

pytestmark = pytest.mark.browser
LOTS, DESK = "/admin/suppliers/lot/", "/admin/suppliers/recall/"


@pytest.fixture(scope="module")
def shelved(browser: Browser) -> Shelf:
    """A supplier with a recalled lot and another one, both reserved."""
    shelf, buyer = shelves.shelf(), shelves.buyer()
    shelf.settle(reservation_cap_percent=100)
    for number in ("L1", "L2", "L3"):
        product = shelf.product(tracking="lot")
        shelf.stock(product, 10, lot=number, expiry=date(2031, 1, 1))
        shelf.offer(product)
        reserve(buyer, shelf, (product, 4))
    recall(shelf, "L1")
    return shelf


@pytest.fixture(params=["light", "dark"])
def desk(browser: Browser, live_server_url: str, request: pytest.FixtureRequest, shelved: Shelf) -> Iterator[Seat]:
    """A window of the supply staff who act in the supplier's tenant."""
    seat = Seat(browser, live_server_url, scheme=request.param)
    seat.sign_in(staff("supply"))
    seat.act_in(shelved.tenant)
    yield seat
    seat.context.close()


def test_desk_has_no_grave_finding(desk: Seat, shelved: Shelf) -> None:
    first = next(row for row in recalls(shelved) if row.lot_number == "L1")
    pages = (DESK, f"{DESK}{first.pk}/change/", f"{LOTS}{lot_of(shelved, 'L3').pk}/do/recall/")
    for address in pages:
        assert desk.open(address) == 200
        assert findings(desk) == {}, address
    assert desk.faults == []


@pytest.mark.parametrize("desk", ["light"], indirect=True)
def test_lot_is_recalled_by_keyboard(desk: Seat, shelved: Shelf) -> None:
    lot = lot_of(shelved, "L2")
    assert desk.open(f"{LOTS}{lot.pk}/do/recall/") == 200
    assert "4 of them reserved for 1 buyer" in desk.page.inner_text("#recall-preview")
    desk.page.focus("[name=recall_class]")
    keys = desk.page.keyboard
    keys.press("End")  # class III stands last
    for text in ("FSCA-3", "Authority", "Set aside.", REASON):
        keys.press("Tab")
        keys.type(text)
    keys.press("Tab")
    keys.press("Enter")
    desk.page.wait_for_url(f"**{LOTS}{lot.pk}/change/**")
    assert lot_of(shelved, "L2").status == "recalled"
    made = next(row for row in recalls(shelved) if row.lot_number == "L2")
    assert (made.recall_class, made.reference, made.authority, made.instructions, made.reason) == (
        "III", "FSCA-3", "Authority", "Set aside.", REASON,
    )  # fmt: skip
