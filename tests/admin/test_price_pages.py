"""The page "Why this price": what it shows, who sees it, what it refuses, and that it writes nothing but who looked."""

import re
from datetime import date
from html import unescape
from typing import Any

import pytest

from core.clock import now
from ledger.models import Event
from organizations.models import SecurityLogEntry
from suppliers.pricing.resolution import REASONS, SOURCE_TYPES
from suppliers.quoting import admin as why
from tests import factories
from tests.admin.people import act_in, signed_in, staff
from tests.suppliers.inventory.shelf import Buyer, Shelf
from tests.suppliers.pricing import adapter, golden, rows
from tests.suppliers.pricing.rows import Market

PAGE = "/admin/suppliers/why-this-price/"
ROWS = {row.rule: row for row in golden.rows()}
RULE = "2.5 what came before an exclusive one stays"


@pytest.fixture(scope="module")
def market(real_commits: None) -> Market:
    return rows.market(1)


def office(shelf: Shelf, role: str = "supply") -> Any:
    browser = signed_in(role)
    act_in(browser, shelf.tenant)
    return browser


def asked(market: Market, **changes: Any) -> dict[str, Any]:
    side = market.sides[0]
    product = side.products[1]
    given = {
        "buyer": market.buyer.tenant.slug, "product": product["supplier_sku"], "packaging": product["packagings"][0]["id"],
        "quantity": 1, "currency": "EUR", "day": "", "country": "",
    }  # fmt: skip
    return given | changes


def looks(shelf: Shelf) -> int:
    return SecurityLogEntry.objects.filter(code="staff_explained_price", tenant_id=shelf.id).count()


def price_lists(shelf: Shelf, code: str, price: str, **changes: Any) -> None:
    body = {
        "name": f"List {code}", "currency": "EUR", "status": "active",
        "entries": [{"supplier_sku": changes.pop("sku"), "packaging_id": changes.pop("packaging_id"),
                     "tiers": [{"min_quantity": changes.pop("least", 1), "unit_price": price}]}],
    }  # fmt: skip
    answer = shelf.api.put(f"/v1/price-lists/{code}", json=body | changes)
    assert answer.status_code == 201, answer.content


@pytest.fixture
def priced(market: Market) -> tuple[Shelf, Buyer, dict[str, Any]]:
    """A product with three lists: for another buyer, from ten packs up, and for everybody; and a rule."""
    side = market.sides[0]
    shelf, product = side.shelf, side.shelf.product()
    shelf.offer(product)
    where = {"sku": product["supplier_sku"], "packaging_id": product["packagings"][0]["id"]}
    end = factories.suffix().lower()
    others = {"scope": "tenants", "ids": [str(market.other.id)]}
    price_lists(shelf, f"a-{end}", "1.00", assignment=others, **where)
    price_lists(shelf, f"b-{end}", "3.00", least=10, priority=9, **where)
    price_lists(shelf, f"c-{end}", "5.00", **where)
    rule = {
        "name": f"Ten off {end}", "status": "active", "conditions": {"product_ids": [product["id"]]},
        "action": {"type": "percent", "value": "10"},
    }  # fmt: skip
    assert shelf.api.put(f"/v1/pricing-rules/r-{end}", json=rule).status_code == 201
    return shelf, market.buyer, product


def test_page_shows_the_price_and_why_each_other_source_does_not_hold(market: Market, priced: Any) -> None:
    shelf, buyer, product = priced
    browser, before = office(shelf), looks(shelf)
    facts = Event.objects.using("platform").filter(tenant_id__in=[shelf.id, buyer.id]).count()

    page = unescape(
        browser.get(PAGE, asked(market, product=product["supplier_sku"], packaging="", quantity=9)).content.decode()
    )

    assert "4.50 EUR</span> for 1 pack, from the price list" in page
    assert "The line costs 40.50 EUR net." in " ".join(page.split())
    for words in ("below_min_quantity", "not_assigned", "It is not for this buyer.", "applies", "Ten off", "List c-"):
        assert words in page, words
    assert page.count("/admin/suppliers/pricelist/") >= 3
    assert looks(shelf) == before + 1
    assert Event.objects.using("platform").filter(tenant_id__in=[shelf.id, buyer.id]).count() == facts
    ten = browser.get(PAGE, asked(market, product=product["id"], packaging="", quantity=10)).content.decode()
    assert "2.70 EUR</span>" in ten


@pytest.mark.parametrize("rule", [RULE, "2.1 before 2.2, 2.3, 2.4"])
def test_page_says_what_the_function_says(market: Market, rule: str) -> None:
    row, side = ROWS[rule], market.sides[0]
    wanted, names = adapter.resolve(row.world), side.names(row.world)
    browser = office(side.shelf)
    with rows.written(market, [row.world], today=now().date()):
        page = unescape(browser.get(PAGE, asked(market)).content.decode())
    assert f"{row.unit_price} EUR</span>" in page
    assert wanted.price is not None
    for one in wanted.trace:
        (key,) = [key for key, name in names.items() if name == row.world.names[one["source_id"]]]
        source = str(side.product(row.world)) if one["source_type"] == "list_price" else key
        link = f"receivedagreement/?q={source}" if one["source_type"] == "contract" else f"/{source}/change/"
        assert link in page, one
    assert len(re.findall(r">\s*applies\s*<", page)) == sum(one["matched"] for one in wanted.trace)


def test_no_price_is_told_with_the_trace(market: Market, priced: Any) -> None:
    shelf, _, product = priced
    page = office(shelf).get(PAGE, asked(market, product=product["supplier_sku"], packaging="", currency="JPY"))
    assert page.status_code == 200
    text = page.content.decode()
    assert "price_not_available" in text
    assert text.count("other_currency") == 3


@pytest.mark.parametrize("role", ["support", "supply", "security", "administrator"])
def test_roles_that_see_the_catalog_open_it(market: Market, role: str) -> None:
    page = office(market.sides[0].shelf, role).get(PAGE)
    assert page.status_code == 200
    assert "why-price" not in page.content.decode()


def test_finance_does_not_see_it_and_nobody_without_an_acting_tenant(market: Market) -> None:
    shelf, before = market.sides[0].shelf, looks(market.sides[0].shelf)
    assert office(shelf, "finance").get(PAGE, asked(market)).status_code == 403
    closed = signed_in("supply").get(PAGE, asked(market))
    assert closed.status_code == 302
    assert closed.headers["Location"].startswith("/admin/acting-tenant/?next=")
    stranger = factories.Client().get(PAGE)
    assert (stranger.status_code, "/admin/login/" in stranger.headers["Location"]) == (302, True)
    assert looks(shelf) == before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"buyer": "nobody-at-all"}, "There is no such buyer."), ({"buyer": ""}, "This field is required."), ({"buyer": "0" * 36}, "There is no such buyer."),
        ({"product": "NO-SUCH"}, "The supplier has no such product."), ({"product": "x" * 65}, "at most 64 characters"),
        ({"packaging": "04006381333931"}, "The supplier has no such packaging."), ({"packaging": "%"}, "no such packaging"),
        ({"quantity": 0}, "greater than or equal to 1"), ({"quantity": "9" * 30}, "less than or equal to"),
        ({"quantity": "one"}, "Enter a whole number."), ({"currency": "XXX"}, "no active currency"),
        ({"currency": "EURO"}, "at most 3 characters"), ({"day": "15.6.2026"}, "Enter a valid date."),
        ({"day": "2026-02-30"}, "Enter a valid date."), ({"country": "XX"}, "no country code"),
    ],
)  # fmt: skip
def test_bad_question_is_refused_at_its_field(market: Market, changes: dict[str, Any], said: str) -> None:
    shelf = market.sides[0].shelf
    before = looks(shelf)
    page = office(shelf).get(PAGE, asked(market, **changes))
    assert page.status_code == 200
    text = page.content.decode()
    assert said in unescape(text)
    assert "why-price" not in text
    assert looks(shelf) == before


def test_question_with_a_nul_is_refused(market: Market) -> None:
    assert office(market.sides[0].shelf).get(PAGE, asked(market, buyer="\0")).status_code == 400


def test_packaging_of_another_product_and_products_of_others_are_unknown(market: Market, priced: Any) -> None:
    shelf, _, product = priced
    mine = office(shelf).get(PAGE, asked(market, packaging=product["packagings"][0]["id"])).content.decode()
    assert "The product has no such packaging." in mine
    stranger = rows.market(1).sides[0].shelf
    theirs = office(stranger).get(PAGE, asked(market, product=product["id"], packaging="")).content.decode()
    assert "The supplier has no such product." in theirs
    supplier_as_buyer = office(shelf).get(
        PAGE, asked(market, buyer=str(stranger.id), product=product["id"], packaging="")
    )
    assert "There is no such buyer." in supplier_as_buyer.content.decode()


def test_name_that_several_buyers_have_is_asked_for_more(market: Market) -> None:
    shelf, name = market.sides[0].shelf, f"Twin {factories.suffix()}"
    one, _ = factories.provision(name=name), factories.provision(name=name)
    browser = office(shelf)
    assert "Several have this name" in browser.get(PAGE, asked(market, buyer=name)).content.decode()
    for word in (one.slug, str(one.id), str(one.id).upper()):
        assert "why-price" in browser.get(PAGE, asked(market, buyer=word)).content.decode(), word
    assert "why-price" in browser.get(PAGE, asked(market, buyer=market.buyer.tenant.name.upper())).content.decode()


def test_another_day_and_country_are_priced(market: Market, priced: Any) -> None:
    shelf, _, product = priced
    where = {"sku": product["supplier_sku"], "packaging_id": product["packagings"][0]["id"]}
    start = date(now().year + 1, 1, 1).isoformat()
    price_lists(shelf, f"n-{factories.suffix().lower()}", "7.00", valid_from=start, priority=1, **where)
    browser, question = office(shelf), asked(market, product=product["id"], packaging="")
    assert "4.50 EUR</span>" in browser.get(PAGE, question).content.decode()
    assert "6.30 EUR</span>" in browser.get(PAGE, question | {"day": start}).content.decode()
    assert "why-price" in browser.get(PAGE, question | {"country": "at"}).content.decode()


def test_pages_of_prices_lead_to_it(market: Market, priced: Any) -> None:
    shelf, _, product = priced
    browser = office(shelf)
    for name in ("pricelist", "pricingrule", "promotion", "offer", "receivedagreement"):
        assert PAGE in browser.get(f"/admin/suppliers/{name}/").content.decode(), name
    listed = browser.get("/admin/suppliers/offer/", {"q": product["supplier_sku"]}).content.decode()
    offer = listed.split("/admin/suppliers/offer/")
    key = next(part[:36] for part in offer if part[36:44] == "/change/")
    found = unescape(browser.get(f"/admin/suppliers/offer/{key}/change/").content.decode())
    query = f"product={product['supplier_sku']}&packaging={product['packagings'][0]['id']}"
    assert f"{PAGE}?{query}" in found
    begun = browser.get(f"{PAGE}?{query}").content.decode()
    assert f'value="{product["supplier_sku"]}"' in begun
    assert "why-price" not in begun


def test_every_source_and_reason_has_words() -> None:
    assert set(why.SOURCES) == set(SOURCE_TYPES)
    assert set(why.REASONS) == set(REASONS)


def test_members_of_staff_are_named_in_the_log(market: Market) -> None:
    person, shelf = staff("support"), market.sides[0].shelf
    browser = signed_in(person=person)
    act_in(browser, shelf.tenant)
    browser.get(PAGE, asked(market))
    entry = SecurityLogEntry.objects.filter(code="staff_explained_price", subject=str(person.pk)).get()
    assert (entry.tenant_id, entry.route) == (shelf.id, f"GET {PAGE}")
