"""Prices of the catalog that were shown lately are kept by what they follow from: no change of it shows an old price."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connections

from core.clock import now
from core.db import tenant_context
from suppliers.pricing.models import ListPriceTier
from suppliers.storefront.market import prices
from suppliers.terms.models import PriceListEntry, PricingRule
from suppliers.terms.promotions.models import Promotion
from tests.suppliers.quoting import worlds

LINES = "suppliers_receivedagreementline"


@pytest.fixture(autouse=True)
def nothing_kept():
    prices._kept.clear()


def shown(buyer, product):
    """Return unit price and source, the same on the page as at the product's own address, which one of both has kept."""
    alone = buyer.api.get(f"/v1/procurement/products/{product['id']}").json()["data"]
    page = buyer.api.get(f"/v1/procurement/products?supplier_id={alone['supplier_id']}").json()["data"]
    assert page == [alone]
    return alone["price"]["unit_price"], alone["price"]["source"]


def change(shelf, model, **columns):
    with tenant_context(shelf.id):
        assert model.objects.filter(tenant_id=shelf.id).update(**columns) == 1


def change_lines(shelf, assignment):
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"UPDATE {LINES} SET {assignment} WHERE tenant_id = %s", [shelf.id])
        assert cursor.rowcount == 1


def test_every_source_of_a_price_that_changes_is_shown_at_once(shelf, buyer):
    product = shelf.product()
    shelf.offer(product)
    worlds.list_price(shelf, product, (1, "10"))
    assert shown(buyer, product) == ("10.00", "list_price")
    change(shelf, ListPriceTier, unit_price=Decimal(20))
    assert shown(buyer, product) == ("20.00", "list_price")
    worlds.price_list(shelf, product, (1, "16"))
    assert shown(buyer, product) == ("16.00", "price_list")
    change(shelf, PriceListEntry, tiers=worlds.tiers((1, "12")))
    assert shown(buyer, product) == ("12.00", "price_list")
    worlds.rule(shelf, "percent", "50")
    assert shown(buyer, product) == ("6.00", "price_list")
    change(shelf, PricingRule, action_value=Decimal(25))  # without another version
    assert shown(buyer, product) == ("9.00", "price_list")
    worlds.promotion(shelf, "amount_off", "1", max_redemptions=1)
    assert shown(buyer, product) == ("8.00", "price_list")
    change(shelf, Promotion, redemptions=1)
    assert shown(buyer, product) == ("9.00", "price_list")
    change(shelf, Promotion, redemptions=0)
    assert shown(buyer, product) == ("8.00", "price_list")
    change(shelf, Promotion, ends_at=now() - timedelta(seconds=1))
    assert shown(buyer, product) == ("9.00", "price_list")
    worlds.agreement(shelf, buyer, product, (1, "5"), max_quantity=1_000_000)
    assert shown(buyer, product) == ("5.00", "contract")
    change_lines(shelf, "consumed = 1000000")
    assert shown(buyer, product) == ("9.00", "price_list")
    change_lines(shelf, "consumed = 0")
    assert shown(buyer, product) == ("5.00", "contract")


def test_price_of_one_buyer_is_not_shown_to_another(shelf, buyer, other):
    product = shelf.product()
    shelf.offer(product)
    worlds.list_price(shelf, product, (1, "10"))
    assert shown(other, product) == ("10.00", "list_price")
    worlds.price_list(shelf, product, (1, "7"), to=(buyer,))
    assert shown(buyer, product) == ("7.00", "price_list")
    assert shown(other, product) == ("10.00", "list_price")


def test_what_is_shown_again_is_resolved_once(shelf, buyer):
    product = shelf.product()
    shelf.offer(product)
    worlds.list_price(shelf, product, (1, "10"))
    assert shown(buyer, product) == ("10.00", "list_price")
    ((sources, members),) = prices._kept.items()
    prices._kept[sources] = members.replace(b"10.00", b"77.00")
    assert shown(buyer, product) == ("77.00", "list_price")


def sources(product_id="p", packagings=b"[]"):
    terms = prices.Terms(b"[]", b"[]", b"[]", b"[]")
    return prices.Sources(product_id, "k", packagings, b"null", "2026-01-01", "EUR", b"[]", b"[]", b"[]", b"[]", terms)


def test_as_much_is_kept_as_was_set(monkeypatch):
    monkeypatch.setattr(prices, "_KEPT_AT_MOST", 3)
    for number in range(7):
        one = sources(str(number))
        assert prices.members_of(one, prices.Seller(one.terms)) == b'{"packaging":null,"price":null}'
        assert 1 <= len(prices._kept) <= 3
    large = sources("large", b"[" + b" " * prices._KEPT_BYTES + b"]")
    assert prices.members_of(large, prices.Seller(large.terms)) == b'{"packaging":null,"price":null}'
    assert large not in prices._kept
