"""Insights are there with their evidence, and gone when their cause is."""

from datetime import timedelta
from typing import Any

from core.clock import now
from core.db import tenant_context
from suppliers.inventory.models import StockLevel
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.analytics.figures import rolled
from tests.suppliers.deliveries.shipping import medicine, placed, shipped

PATH = "/v1/analytics/insights"


def found(trade: Trade, name: str) -> list[dict[str, Any]]:
    answer = trade.shelf.api.get(f"{PATH}?limit=100")
    assert answer.status_code == 200, answer.content
    return [one for one in answer.json()["data"]["items"] if one["type"] == name]


def test_stock_that_expires_is_told_until_it_is_gone(trade: Trade) -> None:
    vials = medicine(trade)
    expiry = (now() + timedelta(days=20)).date()
    level = trade.shelf.stock(vials, 40, lot="L1", expiry=expiry)
    (one,) = found(trade, "expiring_stock")
    assert (one["severity"], one["subject"]["name"]) == ("high", "L1")
    assert one["evidence"] == {
        "product_id": vials["id"], "expiry_date": expiry.isoformat(), "days_left": one["evidence"]["days_left"],
        "on_hand": 40,
    }  # fmt: skip
    assert 19 <= one["evidence"]["days_left"] <= 21
    with tenant_context(trade.shelf.id):
        StockLevel.objects.filter(tenant_id=trade.shelf.id, pk=level).update_versions(on_hand=0, at=now())
    assert found(trade, "expiring_stock") == []


def test_late_order_is_told_until_it_is_shipped(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 5_000)
    order = placed(trade, (trade.gloves, 10))
    due = (now() - timedelta(days=10)).date()
    rolled(
        trade.shelf.id, now().replace(minute=0, second=0, microsecond=0), kind="due", document_id=order["id"],
        due_date=due, quantity=1_000, base=0, net="0",
    )  # fmt: skip
    (one,) = found(trade, "late_orders")
    assert (one["severity"], one["subject"]) == (
        "high", {"type": "order", "id": order["id"], "name": order["order_number"]},
    )  # fmt: skip
    assert (one["evidence"]["outstanding"], one["evidence"]["due_date"]) == (1_000, due.isoformat())
    shipped(trade, order, 1_000)  # the fact finds the row that no copy gives, and corrects it
    assert found(trade, "late_orders") == []


def test_risk_of_stock_out_is_told_until_there_is_enough(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_100)
    shipped(trade, placed(trade, (trade.gloves, 10)), 1_000)
    (one,) = found(trade, "stock_out_risk")
    assert one["subject"]["id"] == trade.gloves["id"]
    # 100 left, 1,000 in 28 days
    assert one["evidence"] == {"sellable": 100, "shipped_in_28_days": 1_000, "days_of_cover": "2.8000"}
    other = trade.shelf.place("Hall 2")
    trade.shelf.stock(trade.gloves, 5_000, place=other)
    assert found(trade, "stock_out_risk") == []


def test_price_far_from_the_usual_one_is_told(trade: Trade) -> None:
    order = placed_line(trade)
    at = now().replace(minute=0, second=0, microsecond=0)
    for net in ("100", "100", "100"):
        rolled(trade.shelf.id, at, kind="listed", product_id=trade.gloves["id"], net=net, list_net="100")
    rolled(
        trade.shelf.id, at, kind="listed", document_id=order, product_id=trade.gloves["id"], net="40", list_net="100"
    )
    (one,) = found(trade, "price_outlier")
    assert (one["subject"]["id"], one["severity"]) == (order, "high")
    assert one["evidence"]["price_vs_list"] == "0.4000"
    assert one["evidence"]["usual_price_vs_list"] == "1.0000"


def test_falling_fill_rate_is_told(trade: Trade) -> None:
    today, at = now().date(), now().replace(minute=0, second=0, microsecond=0)
    for days, base in ((40, 100), (10, 60)):
        rolled(trade.shelf.id, at, kind="due", due_date=today - timedelta(days=days), quantity=100, base=base, net="0")
    (one,) = found(trade, "falling_fill_rate")
    assert one["evidence"] == {"fill_rate": "0.6000", "fill_rate_before": "1.0000", "lines": 1, "days": 28}


def placed_line(trade: Trade) -> str:
    """Order something that stays open; return the order's id."""
    trade.shelf.stock(trade.gloves, 5_000)
    key: str = placed(trade, (trade.gloves, 10))["id"]
    return key
