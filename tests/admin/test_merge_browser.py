"""The merge of a managed supplier in a real browser: judged by axe in light and dark, and worked by keyboard alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from core.db import tenant_context
from organizations.models import Tenant
from tests.admin.people import staff
from tests.admin.seats import Seat
from tests.admin.test_accessibility import findings
from tests.suppliers.invoices.bills import desk as fresh_desk
from tests.suppliers.merging.village import Village, village

pytestmark = pytest.mark.browser
REASON = "The shop has joined the platform, ticket 4711"


@pytest.fixture(name="shop", scope="module")
def _shop(browser: Browser) -> Village:
    made = village(fresh_desk())
    made.receive(made.order(), 4)
    return made


@pytest.fixture(params=["light", "dark"])
def desk(browser: Browser, live_server_url: str, request: pytest.FixtureRequest, shop: Village) -> Iterator[Seat]:
    """A window of the supply staff who act in the buyer's tenant."""
    seat = Seat(browser, live_server_url, scheme=request.param)
    seat.sign_in(staff("supply"))
    seat.act_in(shop.buyer.tenant)
    yield seat
    seat.context.close()


def form_of(shop: Village) -> str:
    with tenant_context(shop.buyer.id):
        return f"/admin/suppliers/managedsupplier/{shop.row().pk}/do/merge/"


def ask(desk: Seat, into: str) -> None:
    """Fill the form in by keyboard and press its button."""
    desk.page.focus("[name=into]")
    for text in (into, REASON):
        desk.page.keyboard.press("ControlOrMeta+a")
        desk.page.keyboard.type(text)
        desk.page.keyboard.press("Tab")
    desk.page.keyboard.press("Enter")
    desk.page.wait_for_selector("#merge-preview")


def test_form_and_preview_have_no_grave_finding(desk: Seat, shop: Village) -> None:
    assert desk.open(form_of(shop)) == 200
    assert findings(desk) == {}
    for into, said in (
        (shop.real.tenant.slug, "Nothing is merged yet."),
        (shop.buyer.tenant.slug, "1 reason against it"),
    ):
        ask(desk, into)
        assert said in desk.page.inner_text("#merge-preview")
        assert findings(desk) == {}, into
    assert desk.faults == []


@pytest.mark.parametrize("desk", ["light"], indirect=True)
def test_supplier_is_merged_by_keyboard(desk: Seat, shop: Village) -> None:
    assert desk.open(form_of(shop)) == 200
    ask(desk, shop.real.tenant.slug)
    assert Tenant.objects.get(pk=shop.id).merged_into_id is None
    desk.page.focus("[name=reason]")
    for key in ("Tab", "Enter"):
        desk.page.keyboard.press(key)
    desk.page.wait_for_url("**/change/**")
    assert Tenant.objects.get(pk=shop.id).merged_into_id == shop.real.id
    assert "Merged into" in desk.page.inner_text("main")
