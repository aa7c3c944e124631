"""Goods last as long as the agreement says that their price is from, unless the order says otherwise."""

from datetime import date, timedelta

import pytest

from tests.factories import as_member
from tests.procurement.purchasing.orders import Trade, price, submitted
from tests.suppliers.agreements.world import PATH as AGREEMENTS
from tests.suppliers.orders.answers import accepted, held


def agree(trade: Trade, product: dict[str, object], days: int | None) -> None:
    """Let both agree on a price of a product, whose goods are to last for so many days."""
    line = {
        "product_id": product["id"], "packaging_id": product["packagings"][0]["id"],  # type: ignore[index]
        "tiers": [{"min_quantity": 1, "unit_price": "1.50"}], "min_remaining_shelf_life_days": days,
    }  # fmt: skip
    body = {
        "title": "Serum", "scope": "tenant", "currency": "EUR", "valid_from": "2026-01-01", "valid_to": "2030-01-01",
        "buyer_id": str(trade.buyer.id), "lines": [line],
    }  # fmt: skip
    made = trade.shelf.api.post(AGREEMENTS, json=body)
    assert made.status_code == 201, made.content
    key = made.json()["data"]["id"]
    assert trade.shelf.api.post(f"{AGREEMENTS}/{key}/propose").status_code == 200
    approver = as_member(trade.buyer.tenant, ["buyer", "approver"])
    assert approver.post(f"{AGREEMENTS}/{key}/accept").status_code == 200


@pytest.mark.parametrize(
    ("asked", "agreed", "offered", "taken"),
    [(None, 100, 0, [0, 0, 5]), (None, 0, 100, [5, 0, 0]), (30, 100, 0, [0, 5, 0]), (None, None, 30, [0, 5, 0])],
)
def test_goods_last_as_long_as_was_agreed(
    trade: Trade, asked: int | None, agreed: int | None, offered: int, taken: list[int]
) -> None:
    serum = trade.shelf.product(name="Serum", min_remaining_shelf_life_days=0)
    trade.shelf.offer(serum, currency="EUR", tiers=price((1, "2.00")), min_remaining_shelf_life_days=offered)
    for lot, days in (("SHORT", 20), ("MIDDLE", 60), ("LONG", 300)):
        trade.shelf.stock(serum, 5, lot=lot, expiry=date.today() + timedelta(days=days))
    agree(trade, serum, agreed)
    order = submitted(trade, (serum, 5), min_remaining_shelf_life_days=asked)
    assert trade.read(order["id"])["lines"][0]["snapshot"]["unit_price"] == "1.50"

    accepted(trade, order["id"])

    assert held(trade) == [(5, one) for one in taken]
    days = next(one for one in (asked, agreed, offered) if one is not None)
    assert [row.remaining_days for row in trade.shelf.reservations()] == [days]
