"""POST /v1/procurement/quote and /v1/pricing/quote: lines, corrections, caps, tax and totals, and what a repeat answers."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db.models import F

from api.models import IdempotencyRecord
from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from organizations.models import Location, Organization, Tenant
from suppliers.company.models import SupplierProfile
from suppliers.pricing.models import ListPrice
from suppliers.relationships.models import ItemAlias, Relationship
from suppliers.terms.promotions.models import Promotion
from tests.factories import Api, api_key, suffix
from tests.suppliers import products
from tests.suppliers.inventory.shelf import shelf as new_shelf
from tests.suppliers.quoting import worlds
from tests.suppliers.quoting.worlds import line, price_of, quoted, quoted_of, steps_of


@pytest.fixture
def product(shelf):
    made = shelf.product()
    shelf.offer(made)
    worlds.list_price(shelf, made, (1, "10"))
    return made


def rated(shelf, *rates):
    begin = str(now().date() - timedelta(days=30))
    with tenant_context(shelf.id):
        SupplierProfile.objects.filter(tenant_id=shelf.id).update_versions(
            tax_rates=[
                {"tax_category": category, "country": country, "rate": rate, "valid_from": begin}
                for category, country, rate in rates
            ],
            at=now(),
        )


def test_list_for_one_hospital_changes_its_catalog_and_its_quotes_alone(shelf, buyer, other):
    made = shelf.product()
    price = [
        {
            "packaging_id": worlds.packaging_of(made),
            "currency": "EUR",
            "tiers": [{"min_quantity": 1, "unit_price": "10"}],
        }
    ]
    assert shelf.api.put(f"/v1/products/{made['id']}/prices", json={"prices": price}).status_code == 200
    offer = shelf.api.post(
        "/v1/marketplace/offers", json={"product_id": made["id"], "packaging_id": worlds.packaging_of(made)}
    )
    key = offer.json()["data"]["id"]
    assert shelf.api.put(f"/v1/marketplace/offers/{key}/visibility", json={"mode": "public"}).status_code == 200
    assert shelf.api.post(f"/v1/marketplace/offers/{key}/publish").status_code == 200
    before = [(seen(one, made), quoted(one, line(made, 3))) for one in (buyer, other)]
    body = {
        "name": "Framework", "currency": "EUR", "status": "active",
        "assignment": {"scope": "tenants", "ids": [str(buyer.id)]},
        "entries": [{"product_id": made["id"], "tiers": [{"min_quantity": 1, "unit_price": "8.5"}]}],
    }  # fmt: skip
    put = shelf.api.put("/v1/price-lists/FRAMEWORK", json=body)
    assert put.status_code == 201, put.content
    found = quoted(buyer, line(made, 3))
    one = found["items"][0]
    assert (one["unit_price"], one["line_total"], one["list_price"], one["discount"]) == (
        "8.50",
        "25.50",
        "10.00",
        "4.50",
    )
    assert (one["source"], one["source_id"]) == ("price_list", put.json()["data"]["id"])
    assert steps_of(found) == [("price_list", None, "8.50"), ("list_price", "lower_precedence", "10.00")]
    assert one["trace"][0]["source_name"] == "Framework"
    assert seen(buyer, made)["price"]["trace"] == one["trace"]
    assert (seen(other, made), quoted(other, line(made, 3))) == before[1]
    assert before[0][0]["price"]["source"] == "list_price"
    mine = quoted_of(shelf, other, line(made, 3))
    assert steps_of(mine) == [("price_list", "not_assigned", "8.50"), ("list_price", None, "10.00")]


def seen(one, product):
    return one.api.get(f"/v1/procurement/products/{product['id']}").json()["data"]


def test_quote_tells_all_of_a_line(shelf, buyer, product):
    shelf_product = quoted(buyer, line(product, 3))
    key = product["packagings"][0]["id"]
    found = shelf_product["items"][0]
    trace = found.pop("trace")
    assert [(one["matched"], one["source_type"]) for one in trace] == [(True, "list_price")]
    assert found == {
        "product_id": product["id"], "supplier_sku": product["supplier_sku"], "own_code": None, "supplier_id": str(shelf.id),
        "packaging_id": key, "offer_id": found["offer_id"], "quantity": 3, "base_quantity": 3, "base_unit": "EA",
        "unit_price": "10.00", "price_base_quantity": 1, "line_total": "30.00", "list_price": "10.00", "discount": "0.00",
        "source": "list_price", "source_id": trace[0]["source_id"], "tax_category": None, "tax_rate": None, "corrections": None,
        "valid_until": None, "refusal": None,
    }  # fmt: skip
    assert shelf_product["totals"] == [
        {"supplier_id": str(shelf.id), "net": "30.00", "tax": None, "gross": "30.00", "taxes": []}
    ]
    assert shelf_product["currency"] == "EUR"
    own = quoted_of(shelf, buyer, {"supplier_sku": product["supplier_sku"], "quantity": 3})
    assert own["items"][0] == {name: value for name, value in {**found, "trace": trace}.items() if name != "own_code"}


def test_supplier_asks_by_key_too(shelf, buyer, product):
    key = Api(key=api_key(shelf.tenant), tenant=shelf.tenant)
    body = {"buyer_id": str(buyer.id), "currency": "EUR", "items": [line(product)]}
    answer = key.post(worlds.SUPPLIERS, json=body)
    assert (answer.status_code, answer.json()["success"]) == (200, True)


def test_own_code_names_a_product(shelf, buyer, product):
    code = f"OWN-{suffix()}"
    with tenant_context(buyer.id):
        ItemAlias.objects.create(tenant_id=buyer.id, supplier_id=shelf.id, product_id=product["id"], own_code=code)
    found = quoted(buyer, {"own_code": code, "quantity": 1})
    assert (found["items"][0]["product_id"], found["items"][0]["own_code"]) == (product["id"], code)
    second = new_shelf()
    twin = second.product()
    second.offer(twin)
    worlds.list_price(second, twin, (1, "3"))
    with tenant_context(buyer.id):
        ItemAlias.objects.create(tenant_id=buyer.id, supplier_id=second.id, product_id=twin["id"], own_code=code)
    answer = worlds.asked(buyer, {"own_code": code, "quantity": 1})
    assert products.field_errors(answer) == {("items.0.supplier_id", "required")}
    found = quoted(buyer, {"own_code": code, "quantity": 1, "supplier_id": str(second.id)})
    assert found["items"][0]["product_id"] == twin["id"]


def test_corrections_are_told_and_applied_on_request(shelf, buyer):
    product = shelf.product(packagings=[products.packaging(units_per_pack=5, order_increment=2)])
    shelf.offer(product, min_order_quantity=4, max_order_quantity=20)
    worlds.list_price(shelf, product, (1, "10"), (10, "9"))
    asked = [line(product, 3), line(product, 9), line(product, 99), line(product, 8), line(product, 11, unit="base")]
    found = quoted(buyer, *asked)
    wanted = [{"quantity": 4}, {"quantity": 10}, {"quantity": 20}, None, {"quantity": 20}]
    assert [one["corrections"] for one in found["items"]] == wanted
    assert [one["quantity"] for one in found["items"]] == [3, 9, 99, 8, None]
    assert [one["line_total"] for one in found["items"]] == ["30.00", "90.00", "891.00", "80.00", "22.00"]
    found = quoted(buyer, *asked, apply_corrections=True)
    assert [one["corrections"] for one in found["items"]] == wanted
    assert [(one["quantity"], one["line_total"]) for one in found["items"]] == [
        (4, "40.00"), (10, "90.00"), (20, "180.00"), (8, "80.00"), (4, "40.00"),
    ]  # fmt: skip


def test_line_that_could_not_be_ordered_is_priced_and_says_why(shelf, buyer, product):
    scarce, odd = shelf.product(), shelf.product(packagings=[products.packaging(order_increment=10)])
    shelf.offer(scarce, limit_quantity=5, limit_period_days=30, limit_until="2099-01-01")
    shelf.offer(odd, max_order_quantity=5)
    for one in (scarce, odd):
        worlds.list_price(shelf, one, (1, "2"))
    unseen = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
    asked = [line(product, offer_id=unseen), line(scarce, 3), line(scarce, 3), line(odd, 3)]
    codes = [one["refusal"] and one["refusal"]["code"] for one in quoted(buyer, *asked)["items"]]
    assert codes == ["offer_not_available", None, "allocation_exceeded", "order_quantity_invalid"]
    assert quoted(buyer, *asked)["totals"][0]["net"] == "28.00"
    with tenant_context(buyer.id):
        Relationship.objects.create(tenant_id=buyer.id, supplier_id=shelf.id, approved_categories=["bandages"])
    assert quoted(buyer, line(product))["items"][0]["refusal"] == {"code": "not_on_formulary"}
    assert quoted_of(shelf, buyer, line(product))["items"][0]["refusal"] is None


def test_named_offer_is_the_one_that_counts(shelf, buyer):
    packs = [products.packaging(), products.packaging(level="case", units_per_pack=10)]
    product = shelf.product(packagings=packs)
    shelf.offer(product, currency="EUR", tiers=worlds.tiers((1, "5")))
    case = shelf.offer(
        product, packaging_id=product["packagings"][1]["id"], currency="EUR", tiers=worlds.tiers((1, "40"))
    )
    found = quoted(buyer, line(product), line(product, offer_id=str(case)))
    assert [price_of(found, number) for number in (0, 1)] == [("5.00", "offer"), ("40.00", "offer")]
    assert found["items"][1]["packaging_id"] == product["packagings"][1]["id"]


def test_agreed_price_needs_no_offer_and_tells_nothing_else(shelf, buyer, other):
    product = shelf.product()
    shelf.offer(product, to=[other])
    worlds.list_price(shelf, product, (1, "10"))
    worlds.rule(shelf, "percent", "10")
    worlds.agreement(shelf, buyer, product, (1, "6"))
    found = quoted(buyer, line(product, 2))
    assert steps_of(found) == [("contract", None, "6.00")]
    one = found["items"][0]
    assert (one["list_price"], one["discount"], one["refusal"]) == (None, None, {"code": "offer_not_available"})


def test_cap_is_there_once_for_all_lines(shelf, buyer):
    product = shelf.product(units=10)
    shelf.offer(product)
    worlds.list_price(shelf, product, (1, "10"))
    key = worlds.agreement(shelf, buyer, product, (1, "6"), max_quantity=60, consumed=10)
    found = quoted(buyer, line(product, 3), line(product, 3), line(product, 2))
    assert [price_of(found, number) for number in range(3)] == [
        ("6.00", "contract"), ("10.00", "list_price"), ("6.00", "contract"),
    ]  # fmt: skip
    assert steps_of(found, 1)[0] == ("contract", "cap_exceeded", "6.00")
    answer = worlds.asked(buyer, line(product, 3), line(product, 3), price_agreement_id=key)
    assert (answer.status_code, answer.json()["code"]) == (409, "agreement_exhausted")
    assert [(one["field"], one["code"]) for one in answer.json()["errors"]] == [("items.1", "agreement_exhausted")]


def test_named_agreement_goes_before_another(shelf, buyer, product):
    worlds.agreement(shelf, buyer, product, (1, "6"), priority=9)
    key = worlds.agreement(shelf, buyer, product, (1, "7"))
    assert price_of(quoted(buyer, line(product)))[0] == "6.00"
    for found in (
        quoted(buyer, line(product), price_agreement_id=key),
        quoted_of(shelf, buyer, line(product), price_agreement_id=key),
    ):
        assert (price_of(found)[0], found["items"][0]["source_id"]) == ("7.00", key)


def test_budget_is_there_once_for_all_lines_and_nothing_is_counted(shelf, buyer, product):
    key = worlds.promotion(
        shelf, "percent", "50", when={"currencies": ["EUR"]}, budget_amount=Decimal(12), budget_currency="EUR", max_redemptions=1,
    )  # fmt: skip
    found = quoted(buyer, line(product, 2), line(product, 1), line(product, 1))
    assert [price_of(found, number)[0] for number in range(3)] == ["5.00", "10.00", "10.00"]
    assert steps_of(found, 1)[-1] == ("promotion", "cap_exceeded", None)
    with tenant_context(shelf.id):
        row = Promotion.objects.get(tenant_id=shelf.id, pk=key)
    assert (row.spent, row.redemptions) == (0, 0)


def test_price_holds_until_something_ends_or_begins(shelf, buyer, product):
    ends = now().replace(microsecond=0) + timedelta(days=9)
    assert quoted(buyer, line(product))["items"][0]["valid_until"] is None
    worlds.promotion(shelf, "percent", "10", ends_at=ends)
    found = quoted(buyer, line(product))["items"][0]
    assert found["valid_until"] == ends.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    soon = now().date() + timedelta(days=2)
    worlds.rule(shelf, "percent", "5", valid_from=soon)
    assert quoted(buyer, line(product))["items"][0]["valid_until"] == f"{soon}T00:00:00.000Z"
    worlds.price_list(shelf, product, (1, "9"), valid_to="9999-12-31")
    Tenant.objects.filter(pk=shelf.id).update(time_zone="Pacific/Pago_Pago")
    assert quoted(buyer, line(product))["items"][0]["valid_until"] == f"{soon}T11:00:00.000Z"


def test_percentage_holds_no_longer_than_the_list_price_that_it_is_taken_off(shelf, buyer, product):
    worlds.agreement(shelf, buyer, product, percent="5", valid_to=date(9999, 12, 31))
    soon = now().date() + timedelta(days=3)
    with tenant_context(shelf.id):
        ListPrice.objects.filter(tenant_id=shelf.id, product_id=product["id"]).update(
            valid_to=soon, version=F("version") + 1
        )
    found = quoted(buyer, line(product))["items"][0]
    assert (found["source"], found["valid_until"]) == ("contract", f"{soon}T00:00:00.000Z")


@pytest.mark.parametrize(
    ("currency", "price", "totals"),
    [
        ("EUR", "0.335", ("0.68", "0.13", "0.81")), ("JPY", "10.5", ("22", "4", "26")), ("KWD", "0.1005", ("0.202", "0.038", "0.240")),
        ("CLF", "0.00125", ("0.0026", "0.0005", "0.0031")),
    ],
)  # fmt: skip
def test_tax_is_rounded_on_the_sum_of_a_group(shelf, buyer, currency, price, totals):
    """Two lines, each rounded half up; the tax of 19 percent on their sum, half up in the currency's minor units."""
    rated(shelf, ("S", "DE", "19"), ("S", "NO", "25"))
    Organization.objects.filter(pk=buyer.tenant.organization_id).update(address={"country": "DE"})
    product = shelf.product(tax_category="S")
    shelf.offer(product)
    worlds.list_price(shelf, product, (1, price), currency=currency)
    found = quoted(buyer, line(product), line(product), currency=currency)["totals"][0]
    assert (found["net"], found["tax"], found["gross"]) == totals
    assert found["taxes"] == [{"tax_category": "S", "tax_rate": "19", "net": totals[0], "tax": totals[1]}]


def test_tax_is_that_of_the_country_of_delivery_and_none_where_a_rate_is_missing(shelf, buyer):
    rated(shelf, ("S", "DE", "19"), ("Z", "DE", "0"), ("S", "NO", "25"))
    Organization.objects.filter(pk=buyer.tenant.organization_id).update(address={"country": "DE"})
    made = {code: shelf.product(tax_category=code) for code in ("S", "Z", "X")}
    for one in made.values():
        shelf.offer(one)
        worlds.list_price(shelf, one, (1, "10"))
    found = quoted(buyer, line(made["Z"]), line(made["S"], 2))["totals"][0]
    assert (found["net"], found["tax"], found["gross"]) == ("30.00", "3.80", "33.80")
    assert [(one["tax_category"], one["net"], one["tax"]) for one in found["taxes"]] == [
        ("S", "20.00", "3.80"),
        ("Z", "10.00", "0.00"),
    ]
    found = quoted(buyer, line(made["S"]), line(made["X"]))
    assert [one["tax_rate"] for one in found["items"]] == ["19", None]
    assert (found["totals"][0]["tax"], found["totals"][0]["gross"]) == (None, "20.00")
    with tenant_context(buyer.id):
        place = Location.objects.create(tenant_id=buyer.id, name="Ward", type="warehouse", address={"country": "NO"})
    at = {"delivery_location_id": str(place.id)}
    for one in (quoted(buyer, line(made["S"]), **at), quoted_of(shelf, buyer, line(made["S"]), **at)):
        assert (one["items"][0]["tax_rate"], one["totals"][0]["tax"]) == ("25", "2.50")


def test_totals_are_of_each_supplier(shelf, buyer, product):
    second = new_shelf()
    twin = second.product()
    second.offer(twin)
    worlds.list_price(second, twin, (1, "3"))
    found = quoted(buyer, line(twin, 2), line(product), line(twin))
    assert [(one["supplier_id"], one["net"]) for one in found["totals"]] == [
        (str(second.id), "9.00"),
        (str(shelf.id), "10.00"),
    ]


def test_currency_is_the_tenants_by_default(shelf, buyer, product):
    Tenant.objects.filter(pk=buyer.id).update(currency="NOK")
    worlds.list_price(shelf, product, (1, "99"), currency="NOK")
    assert quoted(buyer, line(product))["currency"] == "NOK"
    assert price_of(quoted(buyer, line(product)))[0] == "99.00"
    assert price_of(quoted(buyer, line(product), currency="EUR"))[0] == "10.00"


def test_repeat_answers_the_same_and_another_body_is_refused(shelf, buyer, product):
    key = {"Idempotency-Key": suffix()}
    first = buyer.api.post(worlds.BUYERS, json={"items": [line(product)]}, headers=key)
    worlds.price_list(shelf, product, (1, "1"))
    again = buyer.api.post(worlds.BUYERS, json={"items": [line(product)]}, headers=key)
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")
    assert again.content == first.content
    answer = buyer.api.post(worlds.BUYERS, json={"items": [line(product, 2)]}, headers=key)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    refused = {"Idempotency-Key": suffix()}
    assert (
        buyer.api.post(worlds.BUYERS, json={"items": [line(product)], "currency": "NOK"}, headers=refused).status_code
        == 422
    )
    with tenant_context(buyer.id):
        kept = IdempotencyRecord.objects.filter(tenant_id=buyer.id).values_list("key", flat=True)
        assert list(kept) == [key["Idempotency-Key"]]


@pytest.mark.parametrize("suppliers", [1, 4])
def test_trips_and_statements_do_not_grow(buyer, suppliers):
    lines = []
    for _ in range(suppliers):
        one = new_shelf()
        for _ in range(suppliers):
            product = one.product()
            one.offer(product)
            worlds.list_price(one, product, (1, "6"))
            lines.append(line(product))
    one_trip = [5]  # proof, party, own codes, role, candidates
    for headers, trips in (({}, one_trip), ({"Idempotency-Key": suffix()}, [6, 2])):
        quoted(buyer, *lines)
        with recording() as found:
            answer = buyer.api.post(worlds.BUYERS, json={"items": lines}, headers=headers)
        assert (answer.status_code, len(answer.json()["data"]["items"])) == (200, suppliers**2)
        assert [len(trip.calls) for trip in found.trips] == trips, found.texts()
    shelf_lines = lines[-suppliers:]
    quoted_of(one, buyer, *shelf_lines)
    with recording() as found:
        quoted_of(one, buyer, *shelf_lines)
    assert [len(trip.calls) for trip in found.trips] == [3], found.texts()
