"""Promotions in the admin: what staff see of limits and redemptions, and that nobody changes them."""

from uuid import uuid4

import pytest

from core.db import tenant_context
from suppliers.terms.promotions.models import Promotion, PromotionRedemption
from tests import factories
from tests.admin.people import act_in, signed_in, staff
from tests.suppliers.terms.test_promotions import HOUR, ONE, instant, put
from tests.suppliers.terms.test_redeeming import BUYER, back, budget, promotion, take

LIST, REDEEMED = "/admin/suppliers/promotion/", "/admin/suppliers/promotionredemption/"


@pytest.fixture
def supplier():
    return factories.provision("supplier")


@pytest.fixture
def api(supplier):
    return factories.Api(key=factories.api_key(supplier), tenant=supplier)


def browse(role, tenant):
    browser = signed_in(person=staff(role))
    act_in(browser, tenant)
    return browser


def listed(browser, query, *codes):
    """Which of the codes a list shows."""
    page = browser.get(f"{LIST}?{query}").content.decode()
    return [code for code in codes if f">{code}<" in page]


def test_list_shows_and_narrows_by_state_and_budget(api, supplier):
    spent = promotion(api, "spent-most", budget_amount=budget("10"))
    take(supplier, uuid4(), (spent, "9"))
    used = promotion(api, "used-up", max_redemptions=1)
    take(supplier, uuid4(), (used, "1"))
    put(api, "later", status="active", conditions=ONE, starts_at=instant(HOUR), budget_amount=budget("20"))
    put(api, "over", status="active", ends_at=instant(-HOUR))
    put(api, "drafted")
    put(api, "gone", status="archived")
    codes = ("spent-most", "used-up", "later", "over", "drafted", "gone")
    browser = browse("support", supplier)

    assert listed(browser, "", *codes) == list(codes)
    for query, found in (
        ("state=running", ["spent-most"]),
        ("state=exhausted", ["used-up"]),
        ("state=scheduled", ["later"]),
        ("state=ended", ["over"]),
        ("state=draft", ["drafted"]),
        ("state=archived", ["gone"]),
        ("state=none", []),
        ("budget=short", ["spent-most"]),
        ("budget=some", ["spent-most", "later"]),
        ("budget=none", ["used-up", "over", "drafted", "gone"]),
        ("budget=all", []),
    ):
        assert listed(browser, query, *codes) == found, query
    page = browser.get(f"{LIST}{spent}/change/").content.decode()
    for text in ("spent-most", "running", "9.0000", "10.0000", "EUR"):
        assert text in page, text


def test_redemptions_are_listed_and_found(api, supplier):
    one = promotion(api, "autumn")
    held, returned = uuid4(), uuid4()
    take(supplier, held, (one, "4.50"))
    take(supplier, returned, (one, "2"))
    back(supplier, returned)
    browser = browse("support", supplier)

    def shown(query):
        page = browser.get(f"{REDEEMED}?{query}").content.decode()
        return [order for order in (held, returned) if str(order) in page]

    assert shown("") == [held, returned]
    assert (shown("given_back=no"), shown("given_back=yes"), shown("given_back=x")) == ([held], [returned], [])
    assert shown(f"q={held}") == [held]
    assert shown("q=autumn") == shown(f"q={BUYER}") == [held, returned]
    assert "autumn" in browser.get(REDEEMED).content.decode()


@pytest.mark.parametrize("role", ["support", "supply"])
def test_nobody_changes_promotions_here(api, supplier, role):
    one = promotion(api)
    take(supplier, uuid4(), (one, "1"))
    browser = browse(role, supplier)
    with tenant_context(supplier.id):
        redemption = PromotionRedemption.objects.get(tenant_id=supplier.id)
    for page, key in ((LIST, one), (REDEEMED, redemption.pk)):
        for address in (f"{page}add/", f"{page}{key}/delete/"):
            assert browser.post(address, {"post": "yes"}).status_code == 403
        assert browser.post(f"{page}{key}/change/", {"name": "B", "amount": "9"}).status_code == 403
    with tenant_context(supplier.id):
        assert Promotion.objects.get(tenant_id=supplier.id).name == "Five off"
        assert PromotionRedemption.objects.get(tenant_id=supplier.id).amount == redemption.amount


def test_who_does_not_see_catalogs_sees_no_promotions(supplier):
    browser = browse("finance", supplier)
    assert [browser.get(page).status_code for page in (LIST, REDEEMED)] == [403, 403]
