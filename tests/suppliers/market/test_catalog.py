"""The buyer's catalog: what is offered to it, its price, search and filters, and what nobody else's offers tell."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from organizations.models import Organization, Tenant
from suppliers.company.models import SupplierProfile
from suppliers.marketplace import searching
from tests import factories
from tests.suppliers import products
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.inventory.shelf import shelf as new_shelf
from tests.suppliers.inventory.test_offers import OFFERS, draft

PATH = "/v1/procurement/products"


def listed(one, query=""):
    answer = one.api.get(f"{PATH}?{query}")
    assert answer.status_code == 200, answer.content
    return [item["id"] for item in answer.json()["data"]]


def price(shelf, product, *prices):
    given = [
        {"packaging_id": product["packagings"][0]["id"], "currency": currency, "tiers": [{"min_quantity": least, "unit_price": amount}]}
        for currency, least, amount in prices
    ]  # fmt: skip
    answer = shelf.api.put(f"/v1/products/{product['id']}/prices", json={"prices": given})
    assert answer.status_code == 200, answer.content


def test_product_is_told_with_the_buyers_price(shelf, buyer):
    packs = [products.packaging(gtin=products.gtin()), products.packaging(level="case", units_per_pack=10)]
    product = shelf.product(packagings=packs, lead_time_days=4, brand="Koala")
    price(shelf, product, ("EUR", 1, "6.00"), ("NOK", 1, "70"))
    Tenant.objects.filter(pk=buyer.id).update(currency="NOK")
    offer = shelf.offer(product, limit_quantity=5, limit_period_days=30, limit_until="2030-01-01")
    item = buyer.api.get(f"{PATH}/{product['id']}").json()["data"]
    assert listed(buyer, f"supplier_id={shelf.id}") == [product["id"]]
    assert (item["id"], item["supplier_id"], item["supplier_name"]) == (product["id"], str(shelf.id), shelf.tenant.name)
    assert (item["offer_id"], item["packaging"]["id"]) == (str(offer), product["packagings"][0]["id"])
    assert (item["price"]["unit_price"], item["price"]["currency"], item["price"]["source"]) == (
        "70.00",
        "NOK",
        "list_price",
    )
    assert [(one["matched"], one["reason"]) for one in item["price"]["trace"]].count((False, "other_currency")) == 1
    assert (item["tax_rate"], item["lead_time_days"], item["brand"]) == (None, 4, "Koala")
    assert item["allocation"] == {"quantity": 5, "remaining": 5, "until": "2030-01-01"}
    assert not {"status", "version", "stock", "prices"} & item.keys()
    answer = buyer.api.get(f"{PATH}/{product['id']}")
    assert buyer.api.get(f"{PATH}/{product['id']}", headers={"If-None-Match": answer["ETag"]}).status_code == 304


def test_price_of_the_offer_goes_first_and_another_currency_is_better_than_none(shelf, buyer):
    product = shelf.product()
    price(shelf, product, ("EUR", 1, "6.00"))
    made = draft(shelf, product)  # 4.90 EUR, from ten 4.50
    shelf.api.post(f"{OFFERS}/{made['id']}/publish")
    shelf.api.put(f"{OFFERS}/{made['id']}/visibility", json={"mode": "public"})
    for currency in ("EUR", "NOK"):
        Tenant.objects.filter(pk=buyer.id).update(currency=currency)
        found = buyer.api.get(f"{PATH}/{product['id']}").json()["data"]["price"]
        assert (found["unit_price"], found["currency"], found["source"]) == ("4.90", "EUR", "offer")
    second = shelf.product()
    shelf.offer(second)
    assert buyer.api.get(f"{PATH}/{second['id']}").json()["data"]["price"] is None


def rated(shelf, *rates):
    with tenant_context(shelf.id):
        SupplierProfile.objects.filter(tenant_id=shelf.id).update_versions(
            tax_rates=[{"tax_category": category, "country": country, "rate": rate, "valid_from": str(begin)} for category, country, rate, begin in rates],
            at=now(),
        )  # fmt: skip


def test_tax_rate_is_the_newest_of_category_and_country(shelf, buyer):
    today = now().date()
    product, zero, without = shelf.product(tax_category="S"), shelf.product(tax_category="Z"), shelf.product()
    for one in (product, zero, without):
        shelf.offer(one, to=[buyer])
    rated(
        shelf, ("S", "NO", "24", today - timedelta(days=400)), ("S", "NO", "25", today - timedelta(days=2)),
        ("S", "NO", "26", today + timedelta(days=2)), ("S", "DE", "19", today - timedelta(days=1)),
        ("Z", "NO", "0", today - timedelta(days=2)), ("S", "SE", "12.5", today + timedelta(days=5)),
    )  # fmt: skip
    for country, found in (
        ("NO", {"S": "25", "Z": "0", "": None}), ("DE", {"S": "19", "Z": None, "": None}), ("SE", {"S": None, "Z": None, "": None}),
        ("", {"S": None, "Z": None, "": None}),
    ):  # fmt: skip
        Organization.objects.filter(pk=buyer.tenant.organization_id).update(
            address={"country": country} if country else {}
        )
        for one, category in ((product, "S"), (zero, "Z"), (without, "")):
            assert buyer.api.get(f"{PATH}/{one['id']}").json()["data"]["tax_rate"] == found[category], (
                country,
                category,
            )
        page = buyer.api.get(f"{PATH}?supplier_id={shelf.id}").json()["data"]
        assert {one["id"]: one["tax_rate"] for one in page} == {
            one["id"]: found[category] for one, category in ((product, "S"), (zero, "Z"), (without, ""))
        }


def test_tax_rate_begins_with_the_day_at_the_supplier(shelf, buyer):
    product = shelf.product(tax_category="S")
    shelf.offer(product)
    Organization.objects.filter(pk=buyer.tenant.organization_id).update(address={"country": "NO"})
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):  # a day apart, and an hour
        Tenant.objects.filter(pk=shelf.id).update(time_zone=zone)
        there = now().astimezone(ZoneInfo(zone)).date()
        rated(
            shelf,
            ("S", "NO", "1", there - timedelta(days=1)),
            ("S", "NO", "2", there),
            ("S", "NO", "3", there + timedelta(days=1)),
        )
        assert buyer.api.get(f"{PATH}/{product['id']}").json()["data"]["tax_rate"] == "2"


def test_smallest_packaging_that_is_offered_tells_the_product_once(shelf, buyer, other):
    packs = [products.packaging(), products.packaging(level="case", units_per_pack=10)]
    product = shelf.product(packagings=packs)
    case, each = product["packagings"][1]["id"], product["packagings"][0]["id"]
    shelf.offer(product, packaging_id=case)
    shelf.offer(product, packaging_id=each, to=[buyer])
    for one, packaging in ((buyer, each), (other, case)):
        assert listed(one, f"supplier_id={shelf.id}") == [product["id"]]
        assert one.api.get(f"{PATH}/{product['id']}").json()["data"]["packaging"]["id"] == packaging


def test_others_find_nothing(shelf, buyer, other):
    gtin = products.gtin()
    product = shelf.product(name="Xylophone clamp", packagings=[products.packaging(gtin=gtin)])
    offer = shelf.offer(product, to=[buyer])
    queries = (
        f"supplier_id={shelf.id}",
        f"gtin={gtin}",
        "search=xylophone",
        f"search={product['supplier_sku']}",
        f"search={gtin}",
    )
    for query in queries:
        assert product["id"] in listed(buyer, query)
        assert product["id"] not in listed(other, query)
    refused(other.api.get(f"{PATH}/{product['id']}"), 404, "not_found")
    shelf.exclude(offer, buyer)
    for query in queries:
        assert product["id"] not in listed(buyer, query)
    refused(buyer.api.get(f"{PATH}/{product['id']}"), 404, "not_found")
    refused(buyer.api.get(f"{PATH}/0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"), 404, "not_found")


def test_search_takes_beginnings_of_all_words(shelf, buyer):
    first = shelf.product(name="Quagga bandage wide")
    second = shelf.product(name="Quagga bandage narrow")
    for one in (first, second):
        shelf.offer(one, to=[buyer])
    for query, found in (
        ("quagga", {first["id"], second["id"]}), ("quag band", {first["id"], second["id"]}), ("QUAGGA wid", {first["id"]}),
        ("quagga missing", set()), ("uagga", set()),
    ):  # fmt: skip
        assert set(listed(buyer, f"search={query.replace(' ', '+')}")) == found


def test_filters_and_sorts(shelf, buyer):
    names = ["Beta", "alpha", "Gamma"]
    made = {name: shelf.product(name=name) for name in names}
    for product in made.values():
        shelf.offer(product, to=[buyer])
    mine = f"supplier_id={shelf.id}"
    assert listed(buyer, f"{mine}&sort=name") == [made[name]["id"] for name in ("alpha", "Beta", "Gamma")]
    assert listed(buyer, f"{mine}&sort=-name") == [made[name]["id"] for name in ("Gamma", "Beta", "alpha")]
    assert listed(buyer, f"{mine}&sort=created_at") == [made[name]["id"] for name in names]
    assert len(listed(buyer, f"{mine}&category=gloves&availability=unavailable")) == 3
    assert listed(buyer, f"{mine}&availability=available") == []
    found, path = [], f"{PATH}?{mine}&sort=name&limit=2"
    while path:
        body = buyer.api.get(path).json()
        found += [one["name"] for one in body["data"]]
        token = body["next_cursor"]
        path = f"{PATH}?{mine}&sort=name&limit=2&cursor={token}" if token else ""
    assert found == ["alpha", "Beta", "Gamma"]


def test_substitutes_are_those_that_the_buyer_sees(shelf, buyer):
    seen, hidden = shelf.product(), shelf.product()
    kinds = [(seen, "equivalent"), (hidden, "equivalent"), (seen, "therapeutic")]
    given = [{"product_id": one["id"], "type": kind, "ratio": "1:1"} for one, kind in kinds[:2]]
    product = shelf.product(substitutes=given)
    for one in (product, seen):
        shelf.offer(one, to=[buyer])
    found = buyer.api.get(f"{PATH}/{product['id']}").json()["data"]["substitutes"]
    assert [one["product_id"] for one in found] == [seen["id"]]


@pytest.mark.parametrize("why", ["excluded", "to come"])
def test_substitutes_are_offered_to_this_buyer_today(shelf, buyer, other, why):
    substitute = shelf.product()
    given = [{"product_id": substitute["id"], "type": "equivalent", "ratio": "1:1"}]
    product = shelf.product(substitutes=given)
    shelf.offer(product)
    offer = shelf.offer(substitute, valid_from="2099-01-01" if why == "to come" else None)
    if why == "excluded":
        shelf.exclude(offer, buyer)
    assert buyer.api.get(f"{PATH}/{substitute['id']}").status_code == 404
    assert buyer.api.get(f"{PATH}/{product['id']}").json()["data"]["substitutes"] == []
    found = other.api.get(f"{PATH}/{product['id']}").json()["data"]["substitutes"]
    assert [one["product_id"] for one in found] == ([substitute["id"]] if why == "excluded" else [])


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [("gtin=1", "gtin", "invalid_gtin"), ("availability=x", "availability", "invalid_choice"), ("search=-", "search", "invalid"),
     ("supplier_id=x", "supplier_id", "invalid")],
)  # fmt: skip
def test_bad_questions(buyer, query, field, code):
    assert (field, code) in products.field_errors(buyer.api.get(f"{PATH}?{query}"))


def test_other_refusals(shelf, buyer):
    refused(buyer.api.get(f"{PATH}?sort=price"), 400, "unknown_sort")
    refused(buyer.api.get(f"{PATH}?colour=red"), 400, "unknown_parameter")
    refused(buyer.api.get(f"{PATH}?cursor=abc"), 400, "invalid_cursor")
    refused(shelf.api.get(PATH), 403, "insufficient_scope")
    refused(factories.as_member(shelf.tenant, ["buyer"]).get(PATH), 403, "not_a_buyer")


@pytest.mark.parametrize("suppliers", [1, 3])
def test_statements_do_not_grow(buyer, suppliers):
    word = f"w{factories.suffix()}".replace("-", "")  # what others allocate takes one trip more
    for _ in range(suppliers):
        one = new_shelf()
        for _ in range(suppliers):
            product = one.product(name=f"Nitrile {word}")
            price(one, product, ("EUR", 1, "6.00"))
            one.offer(product, to=[buyer])
    buyer.api.get(PATH)
    with recording() as found:
        assert len(buyer.api.get(f"{PATH}?search={word}").json()["data"]) >= suppliers
    assert [len(trip.calls) for trip in found.trips] == [3, 3]  # how many there are; then the page
    with recording() as found:
        buyer.api.get(f"{PATH}?search={word}&sort=name")
    assert [len(trip.calls) for trip in found.trips] == [3]


def test_pages_are_the_same_whatever_is_kept_of_how_many_there_are(shelf, buyer):
    for _ in range(3):
        product = shelf.product()
        price(shelf, product, ("EUR", 1, "6.00"))
        shelf.offer(product, to=[buyer])
    pages = []
    buyer.api.get(PATH)  # what the process keeps, as the keys of tokens, is read now
    for few in (True, False):
        searching.keep_few(buyer.id, (), few)
        with recording() as found:
            pages.append([one["id"] for one in buyer.api.get(f"{PATH}?supplier_id={shelf.id}").json()["data"]])
        assert len(found.trips) == 1
    assert len(pages[0]) == 3
    assert pages[0] == pages[1]


def test_fields_choose_members_of_a_page_and_of_one_product(shelf, buyer):
    product = shelf.product(brand="Koala")
    price(shelf, product, ("EUR", 1, "6.00"))
    shelf.offer(product, to=[buyer])
    one = f"{PATH}/{product['id']}"
    whole, part = buyer.api.get(one), buyer.api.get(f"{one}?fields=price, brand")
    chosen = {name: whole.json()["data"][name] for name in ("id", "brand", "price")}
    assert part.json()["data"] == chosen
    assert part["ETag"] != whole["ETag"]
    assert buyer.api.get(f"{one}?fields=price, brand", headers={"If-None-Match": part["ETag"]}).status_code == 304
    page = buyer.api.get(f"{PATH}?supplier_id={shelf.id}&fields=brand,price").json()
    assert page["data"] == [chosen]
    assert buyer.api.get(f"{one}?fields=").json()["data"] == whole.json()["data"]
    for path in (one, PATH):
        body = refused(buyer.api.get(f"{path}?fields=brand,cost_price"), 400, "unknown_field")
        assert {"brand", "price", "substitutes"} < set(body["allowed"])
        assert "cost_price" not in body["allowed"]
