"""The page "Why this price" in a real browser: judged by axe in light and dark, and worked by keyboard alone."""

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser

from tests.admin.people import staff
from tests.admin.seats import Seat
from tests.admin.test_accessibility import findings
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import Buyer, Shelf

pytestmark = pytest.mark.browser
PAGE = "/admin/suppliers/why-this-price/"
Sold = tuple[Shelf, Buyer, str]


@pytest.fixture(scope="module")
def sold(browser: Browser) -> Sold:
    """A supplier whose product has two lists, one of them from ten packs up."""
    shelf, buyer = shelves.shelf(), shelves.buyer()
    product = shelf.product()
    shelf.offer(product)
    for code, least, price in (("many", 10, "3.00"), ("few", 1, "5.00")):
        tiers = [{"min_quantity": least, "unit_price": price}]
        entry = {"supplier_sku": product["supplier_sku"], "tiers": tiers}
        body = {"name": code, "currency": "EUR", "status": "active", "priority": least, "entries": [entry]}
        assert shelf.api.put(f"/v1/price-lists/{code}", json=body).status_code == 201
    return shelf, buyer, product["supplier_sku"]


@pytest.fixture(params=["light", "dark"])
def seat(browser: Browser, live_server_url: str, request: pytest.FixtureRequest, sold: Sold) -> Iterator[Seat]:
    """A window of the supply staff who act in the supplier's tenant."""
    found = Seat(browser, live_server_url, scheme=request.param)
    found.sign_in(staff("supply"))
    found.act_in(sold[0].tenant)
    yield found
    found.context.close()


def test_page_has_no_grave_finding(seat: Seat, sold: Sold) -> None:
    _, buyer, sku = sold
    asked = {"buyer": buyer.tenant.slug, "product": sku, "quantity": 9, "currency": "EUR"}
    queries = ({}, asked, asked | {"currency": "JPY"}, asked | {"buyer": "nobody", "day": "soon"})
    for query in queries:
        assert seat.open(f"{PAGE}?{urlencode(query)}") == 200
        assert findings(seat) == {}, query
    seat.shot("why-this-price")
    assert seat.faults == []


@pytest.mark.parametrize("seat", ["light"], indirect=True)
def test_price_is_explained_by_keyboard(seat: Seat, sold: Sold) -> None:
    _, buyer, sku = sold
    assert seat.open(PAGE) == 200
    seat.page.focus("[name=buyer]")
    keys = seat.page.keyboard
    for text in (buyer.tenant.slug, sku, "", "2", "EUR"):
        keys.press("Control+A")
        keys.type(text)
        keys.press("Tab")
    keys.press("Enter")
    seat.page.wait_for_selector("#why-price")
    assert "5.00 EUR" in seat.page.inner_text("#why-price")
    trace = seat.page.inner_text("#why-trace")
    assert "below_min_quantity" in trace
    assert "applies" in trace.lower()
    assert seat.faults == []
