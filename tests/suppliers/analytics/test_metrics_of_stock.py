"""Metrics of stock and offers at the end of buckets, by figures counted by hand."""

from datetime import date, timedelta
from typing import Any

from core.clock import now
from core.db import tenant_context
from suppliers.marketplace.models import Offer
from suppliers.pricing.models import ListPrice, ListPriceTier
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.analytics.figures import amounts, metric, values
from tests.suppliers.deliveries.shipping import medicine, placed, shipped


def _listed(trade: Trade, product: dict[str, Any], price: str, *, since: date) -> None:
    with tenant_context(trade.shelf.id):
        row = ListPrice.objects.create(
            tenant_id=trade.shelf.id, product_id=product["id"], packaging_id=product["packagings"][0]["id"],
            currency="EUR", valid_from=since,
        )  # fmt: skip
        ListPriceTier.objects.create(tenant_id=trade.shelf.id, price=row, min_quantity=1, unit_price=price)


def test_stock_is_worth_its_list_price_at_the_end_of_a_bucket(trade: Trade) -> None:
    _listed(trade, trade.gloves, "5.00", since=now().date() - timedelta(days=5))  # a box of 100
    trade.shelf.stock(trade.gloves, 5_000)
    api = trade.shelf.api
    assert values(api, "stock_value", currency="EUR")[:2] == amounts("0.00", "250.00")
    assert values(api, "stock_value", currency="CHF")[1] == {"amount": "0.00", "currency": "CHF"}
    place = str(trade.shelf.places["hall"])
    found = metric(api, "stock_value", currency="EUR", group_by="location")["buckets"]
    assert [one["value"]["amount"] for one in found if one["group"] == place][:2] == ["0.00", "250.00"]


def test_days_of_cover_are_what_is_left_by_what_was_shipped(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_100)
    assert values(trade.shelf.api, "days_of_cover")[1] is None
    shipped(trade, placed(trade, (trade.gloves, 10)), 1_000)
    assert values(trade.shelf.api, "days_of_cover")[1] == "2.8000"  # 100 left, 1,000 in 28 days


def test_lots_that_expire_within_ninety_days_have_a_value(trade: Trade) -> None:
    vials, today = medicine(trade), now().date()
    _listed(trade, vials, "2.00", since=today - timedelta(days=5))
    trade.shelf.stock(vials, 40, lot="L1", expiry=today + timedelta(days=60))
    trade.shelf.stock(vials, 70, lot="L2", expiry=today + timedelta(days=200))
    assert values(trade.shelf.api, "expiring_value", currency="EUR")[1] == amounts("80.00")[0]


def test_offers_are_counted_while_they_are_published(trade: Trade) -> None:
    api = trade.shelf.api
    with tenant_context(trade.shelf.id):
        key = Offer.objects.get(tenant_id=trade.shelf.id, product_id=trade.gloves["id"]).id
    for act, expected in (("unpublish", 0), ("publish", 1), ("unpublish", 0), ("publish", 1)):
        answer = api.post(f"/v1/marketplace/offers/{key}/{act}")
        assert answer.status_code == 200, answer.content
        assert values(api, "active_offers")[1] == values(api, "active_offers", currency="EUR")[1] == expected, act
