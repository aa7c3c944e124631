"""What a price is resolved from, each source as both sides read it, and what of it nobody else sees."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connections, transaction

from core.clock import now
from core.db import bind_tenant, tenant_context
from core.pipeline import Call, Statement, run
from organizations.models import Organization, Tenant
from suppliers.catalog.models import Category, PlatformCategory
from suppliers.marketplace.queries import as_market
from suppliers.terms.models import PriceList, PricingRule
from suppliers.terms.promotions.models import Promotion
from tests.suppliers import products
from tests.suppliers.quoting import worlds
from tests.suppliers.quoting.worlds import line, price_of, quoted, quoted_of, steps_of


@pytest.fixture
def product(shelf):
    made = shelf.product()
    shelf.offer(made)
    worlds.list_price(shelf, made, (1, "10"))
    return made


def catalog_price(one, product):
    found = one.api.get(f"/v1/procurement/products/{product['id']}").json()["data"]["price"]
    return found["unit_price"], found["source"]


def test_each_source_goes_before_the_next_one(shelf, buyer, other):
    product = shelf.product()
    worlds.list_price(shelf, product, (1, "10"))
    offer = shelf.offer(product)
    wanted = [("10.00", "list_price")]
    worlds.price_list(shelf, product, (1, "9"))
    wanted.append(("9.00", "price_list"))
    worlds.price_list(shelf, product, (1, "9.5"), to=(buyer,), scope="groups")
    worlds.price_list(shelf, product, (1, "9.6"), to=(buyer,), scope="organizations")
    worlds.price_list(shelf, product, (1, "9.7"), to=(buyer,))
    assert price_of(quoted(buyer, line(product))) == ("9.70", "price_list")
    assert [price for _, _, price in steps_of(quoted(buyer, line(product)))] == [
        "9.70",
        "9.60",
        "9.50",
        "9.00",
        "10.00",
    ]
    shelf_offer(shelf, offer, "8")
    assert price_of(quoted(buyer, line(product))) == ("8.00", "offer")
    worlds.agreement(shelf, buyer, product, (1, "11"))
    for found in (quoted(buyer, line(product)), quoted_of(shelf, buyer, line(product))):
        assert price_of(found) == ("11.00", "contract")
    assert catalog_price(buyer, product) == ("11.00", "contract")
    assert price_of(quoted(other, line(product))) == catalog_price(other, product) == ("8.00", "offer")


def shelf_offer(shelf, offer, price):
    from suppliers.marketplace.models import Offer

    with tenant_context(shelf.id):
        Offer.objects.filter(tenant_id=shelf.id, pk=offer).update(currency="EUR", tiers=worlds.tiers((1, price)))


def test_agreements_go_from_the_buyer_up_and_from_product_to_category(shelf, buyer, product):
    parent = PlatformCategory.objects.get(code="gloves").parent.code
    wanted = []
    for price, more in (
        ("1", {"distance": 0}), ("2", {"distance": 1, "priority": 9}), ("3", {"distance": 1}), ("4", {"distance": 2}),
    ):  # fmt: skip
        worlds.agreement(shelf, buyer, product, (1, price), **more)
        wanted.append(f"{price}.00")
    worlds.agreement(shelf, buyer, category="gloves", percent="10", distance=1)
    worlds.agreement(shelf, buyer, category=parent, percent="20", distance=1)
    contracts = [step[2] for step in steps_of(quoted(buyer, line(product))) if step[0] == "contract"]
    assert contracts == ["1.00", "2.00", "3.00", "9.00", "8.00", "4.00"]


def test_own_categories_stand_below_those_of_the_platform(shelf, buyer):
    gloves = PlatformCategory.objects.get(code="gloves")
    with tenant_context(shelf.id):
        Category.objects.create(tenant_id=shelf.id, code="own-gloves", name="Own", parent_id=gloves.id)
    product = shelf.product(category="own-gloves")
    shelf.offer(product)
    worlds.list_price(shelf, product, (1, "10"))
    worlds.rule(shelf, "percent", "10", when={"categories": ["gloves"]})
    worlds.rule(shelf, "percent", "50", when={"categories": ["bandages"]})
    worlds.promotion(shelf, "amount_off", "1", when={"categories": ["own-gloves"], "currencies": ["EUR"]})
    assert price_of(quoted(buyer, line(product))) == price_of(quoted_of(shelf, buyer, line(product)))
    assert price_of(quoted(buyer, line(product)))[0] == catalog_price(buyer, product)[0] == "8.00"


@pytest.mark.parametrize("make", [worlds.rule, worlds.promotion])
def test_conditions_of_rules_and_promotions(shelf, buyer, other, product, make):
    Organization.objects.filter(pk=buyer.tenant.organization_id).update(address={"country": "NO"})
    foreign = shelf.product()
    make(shelf, "percent", "10", to=(buyer,), when={"product_ids": [product["id"]], "countries": ["NO"]})
    make(shelf, "percent", "20", when={"product_ids": [foreign["id"]]})
    make(shelf, "percent", "30", when={"countries": ["SE"]})
    make(shelf, "percent", "40", when={"currencies": ["NOK"]})
    make(shelf, "percent", "50", when={"min_quantity": 5})
    assert price_of(quoted(buyer, line(product)))[0] == catalog_price(buyer, product)[0] == "9.00"
    assert price_of(quoted(other, line(product)))[0] == catalog_price(other, product)[0] == "10.00"
    assert price_of(quoted(buyer, line(product, 5)))[0] in ("4.50", "5.00")


def test_supplier_reads_what_is_for_others_and_the_buyer_does_not(shelf, buyer, other, product):
    worlds.price_list(shelf, product, (1, "7"), to=(other,))
    worlds.rule(shelf, "percent", "10", to=(other,))
    worlds.promotion(shelf, "percent", "20", to=(other,))
    worlds.agreement(shelf, other, product, (1, "6"))
    assert steps_of(quoted(buyer, line(product))) == [("list_price", None, "10.00")]
    assert steps_of(quoted_of(shelf, buyer, line(product))) == [
        ("price_list", "not_assigned", "7.00"),
        ("list_price", None, "10.00"),
        ("rule", "not_assigned", None),
        ("promotion", "not_assigned", None),
    ]


def test_offer_that_the_buyer_does_not_see_is_told_to_the_supplier_alone(shelf, buyer, other):
    product = shelf.product()
    worlds.list_price(shelf, product, (1, "10"))
    shelf.offer(product, to=[other], currency="EUR", tiers=worlds.tiers((1, "5")))
    found = quoted_of(shelf, buyer, line(product))
    assert steps_of(found) == [("offer", "not_visible", "5.00"), ("list_price", None, "10.00")]
    assert found["items"][0]["refusal"] == {"code": "offer_not_available"}
    assert worlds.asked(buyer, line(product)).status_code == 422


HIDE = [
    (PriceList, {"status": "draft"}), (PriceList, {"status": "archived"}), (PricingRule, {"status": "draft"}),
    (Promotion, {"status": "archived"}),
]  # fmt: skip


@pytest.mark.parametrize(("model", "columns"), HIDE)
def test_what_is_not_active_is_read_by_neither_side(shelf, buyer, product, model, columns):
    make = {
        PriceList: lambda: worlds.price_list(shelf, product, (1, "7")),
        PricingRule: lambda: worlds.rule(shelf, "fixed_price", "7", when={"currencies": ["EUR"]}),
        Promotion: lambda: worlds.promotion(shelf, "fixed_price", "7", when={"currencies": ["EUR"]}),
    }
    key = make[model]()
    assert price_of(quoted(buyer, line(product)))[0] == price_of(quoted_of(shelf, buyer, line(product)))[0] == "7.00"
    with tenant_context(shelf.id):
        model.objects.filter(tenant_id=shelf.id, pk=key).update(**columns)
    for found in (quoted(buyer, line(product)), quoted_of(shelf, buyer, line(product))):
        assert steps_of(found) == [("list_price", None, "10.00")]
    assert catalog_price(buyer, product)[0] == "10.00"


def test_agreement_that_rests_is_read_by_neither_side(shelf, buyer, product):
    worlds.agreement(shelf, buyer, product, (1, "6"), status="suspended")
    for found in (quoted(buyer, line(product)), quoted_of(shelf, buyer, line(product))):
        assert steps_of(found) == [("list_price", None, "10.00")]


@pytest.mark.parametrize(
    ("table", "kept"),
    [("suppliers_pricelist", "status = 'active'"), ("suppliers_pricingrule", "status = 'active'"),
     ("suppliers_promotion", "status = 'active'"), ("suppliers_receivedagreement", "status = 'active'"),
     ("suppliers_agreementaudience", "member_tenant_id = $2")],
)  # fmt: skip
def test_forgotten_condition_shows_the_market_nothing_that_is_hidden(shelf, buyer, other, product, table, kept):
    """Row security stands behind the statement: what is no buyer's matter stays hidden even where the filter is forgotten."""
    for status in ("draft", "active", "archived"):
        worlds.price_list(shelf, product, (1, "7"), status=status)
        worlds.rule(shelf, "percent", "7", status=status)
        worlds.promotion(shelf, "percent", "7", status=status)
    worlds.agreement(shelf, buyer, product, (1, "7"), status="suspended")
    worlds.agreement(shelf, other, product, (1, "7"))
    forgotten = Call(
        Statement.of(f"SELECT count(*)::text, count(*) FILTER (WHERE {kept})::text FROM {table} WHERE tenant_id = $1 AND $2::uuid IS NOT NULL"),
        [str(shelf.id), str(buyer.id)],
    )  # fmt: skip
    with transaction.atomic():
        bind_tenant(buyer.id)
        seen, right = run(as_market([forgotten]))[-1].row()
    assert seen == right
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table} WHERE tenant_id = %s", [shelf.id])
        assert cursor.fetchone()[0] > int(seen or 0)


def test_day_is_that_of_the_supplier(shelf, buyer, product):
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):  # a day apart, and an hour
        Tenant.objects.filter(pk=shelf.id).update(time_zone=zone)
        there = now().astimezone(ZoneInfo(zone)).date()
        worlds.price_list(shelf, product, (1, "8"), to=(buyer,), valid_from=there, valid_to=there + timedelta(days=1))
        worlds.price_list(shelf, product, (1, "7"), to=(buyer,), valid_from=there + timedelta(days=1))
        worlds.price_list(shelf, product, (1, "6"), to=(buyer,), valid_to=there)
        found = quoted(buyer, line(product))
        assert price_of(found) == price_of(quoted_of(shelf, buyer, line(product))) == ("8.00", "price_list")
        assert catalog_price(buyer, product) == ("8.00", "price_list")
        midnight = datetime.combine(there + timedelta(days=1), datetime.min.time(), ZoneInfo(zone)).astimezone(UTC)
        assert datetime.fromisoformat(found["items"][0]["valid_until"]) == midnight
        reasons = {step[1] for step in steps_of(found)}
        assert reasons == {None, "not_yet_valid", "expired", "lower_precedence"}
        with tenant_context(shelf.id):
            PriceList.objects.filter(tenant_id=shelf.id).update(status="archived")


def test_another_day_may_be_asked_for(shelf, buyer, product):
    later = date(2099, 5, 1)
    worlds.price_list(shelf, product, (1, "7"), valid_from=later)
    worlds.promotion(shelf, "percent", "50", ends_at=now() + timedelta(days=3))
    assert price_of(quoted(buyer, line(product))) == ("5.00", "list_price")
    for found in (
        quoted(buyer, line(product), on_date=str(later)),
        quoted_of(shelf, buyer, line(product), on_date=str(later)),
    ):
        assert price_of(found) == ("7.00", "price_list")
        assert ("promotion", "expired", None) in steps_of(found)


def test_tier_is_that_of_the_quantity_and_a_list_below_its_least_is_passed_over(shelf, buyer, product):
    worlds.price_list(shelf, product, (10, "8"), (50, "7"), to=(buyer,))
    found = quoted(buyer, line(product, 9), line(product, 10), line(product, 50))
    assert [price_of(found, number)[0] for number in range(3)] == ["10.00", "8.00", "7.00"]
    assert steps_of(found)[0] == ("price_list", "below_min_quantity", None)


def test_other_packaging_has_prices_of_its_own(shelf, buyer):
    packs = [products.packaging(), products.packaging(level="case", units_per_pack=10)]
    product = shelf.product(packagings=packs)
    case = product["packagings"][1]["id"]
    shelf.offer(product)
    shelf.offer(product, packaging_id=case)
    worlds.list_price(shelf, product, (1, "10"))
    worlds.list_price(shelf, product, (1, "90"), packaging_id=case)
    found = quoted(
        buyer, line(product, 2), line(product, 2, packaging_id=case), line(product, 15, packaging_id=case, unit="base")
    )
    assert [(one["quantity"], one["base_quantity"], one["line_total"]) for one in found["items"]] == [
        (2, 2, "20.00"), (2, 20, "180.00"), (None, 15, "135.00"),
    ]  # fmt: skip
