"""Each insight has its severity and its numbers, and ends with what caused it."""

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from core.clock import now
from core.ids import uuid7
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.analytics.figures import rolled
from tests.suppliers.analytics.test_insights import PATH, found, placed_line
from tests.suppliers.deliveries.shipping import medicine
from tests.suppliers.inventory import shelf as shelves


def today(trade: Trade) -> date:
    """Return the date at the supplier."""
    return now().astimezone(ZoneInfo(trade.shelf.tenant.time_zone)).date()


def hour() -> datetime:
    return now().replace(minute=0, second=0, microsecond=0)


def due(trade: Trade, days: int, *, order: str, accepted: int, shipped: int, on: date | None = None) -> None:
    rolled(
        trade.shelf.id, hour(), kind="due", document_id=order, due_date=on or today(trade) - timedelta(days=days), quantity=accepted,
        base=shipped, net="0", entries=1 if accepted >= 0 else -1,
    )  # fmt: skip


# Midnight may pass between the row and the question, so no number stands at a limit.
@pytest.mark.parametrize(("days", "severity"), [(-5, "high"), (20, "high"), (45, "medium"), (75, "low")])
def test_stock_that_expires_sooner_is_graver(trade: Trade, days: int, severity: str) -> None:
    trade.shelf.stock(medicine(trade), 40, lot="L1", expiry=today(trade) + timedelta(days=days))
    (one,) = found(trade, "expiring_stock")
    assert (one["severity"], one["subject"]["name"], one["evidence"]["on_hand"]) == (severity, "L1", 40)


def test_stock_that_expires_later_is_not_told(trade: Trade) -> None:
    trade.shelf.stock(medicine(trade), 40, lot="L1", expiry=today(trade) + timedelta(days=93))
    trade.shelf.stock(trade.gloves, 40)
    assert found(trade, "expiring_stock") == []


@pytest.mark.parametrize(("days", "severity"), [(12, "high"), (5, "medium"), (1, "low")])
def test_order_that_is_later_is_graver_until_it_is_promised_again(trade: Trade, days: int, severity: str) -> None:
    order = placed_line(trade)
    due(trade, days, order=order, accepted=1_000, shipped=400)
    (one,) = found(trade, "late_orders")
    assert (one["severity"], one["subject"]["id"]) == (severity, order)
    assert (one["evidence"]["outstanding"], one["evidence"]["lines"], one["evidence"]["buyer_id"]) == (
        600,
        1,
        str(trade.buyer.id),
    )
    late = date.fromisoformat(one["evidence"]["due_date"])
    assert (today(trade) - late).days - one["evidence"]["days_late"] in (0, 1)
    # Another date is promised: the line is taken off the day that it was due on, and is due on a day to come.
    due(trade, 0, order=order, accepted=-1_000, shipped=-400, on=late)
    due(trade, -20, order=order, accepted=1_000, shipped=400)
    assert found(trade, "late_orders") == []


@pytest.mark.parametrize(("net", "severity"), [("40", "high"), ("160", "high"), ("70", "medium"), ("80", None)])
def test_price_outlier_ends_when_the_line_is_priced_as_usual(trade: Trade, net: str, severity: str | None) -> None:
    order, at = placed_line(trade), hour()
    given: dict[str, Any] = {"kind": "listed", "product_id": trade.gloves["id"], "list_net": "100"}
    for _ in range(3):
        rolled(trade.shelf.id, at, net="100", **given)
    rolled(trade.shelf.id, at, document_id=order, net=net, **given)
    assert [one["severity"] for one in found(trade, "price_outlier")] == ([severity] if severity else [])
    if severity:
        (one,) = found(trade, "price_outlier")
        assert one["evidence"] == {
            "line_no": 1, "product_id": trade.gloves["id"], "price_vs_list": f"{int(net) / 100:.4f}", "usual_price_vs_list": "1.0000",
            "lines_compared": one["evidence"]["lines_compared"],
        }  # fmt: skip
    rolled(trade.shelf.id, at, document_id=order, entries=0, net=str(100 - int(net)), **(given | {"list_net": "0"}))
    assert found(trade, "price_outlier") == []


def test_few_lines_say_nothing_of_a_usual_price(trade: Trade) -> None:
    order, at = uuid7(), hour()
    for key, net in ((order, "10"), (uuid7(), "100")):
        rolled(
            trade.shelf.id, at, kind="listed", document_id=key, product_id=trade.masks["id"], net=net, list_net="100"
        )
    assert found(trade, "price_outlier") == []


@pytest.mark.parametrize(("shipped", "severity"), [(60, "high"), (90, "medium"), (97, None)])
def test_fill_rate_that_falls_is_told_until_it_has_risen(trade: Trade, shipped: int, severity: str | None) -> None:
    order = str(uuid7())
    due(trade, 40, order=str(uuid7()), accepted=100, shipped=100)
    due(trade, 10, order=order, accepted=100, shipped=shipped)
    assert [one["severity"] for one in found(trade, "falling_fill_rate")] == ([severity] if severity else [])
    due(trade, 10, order=order, accepted=0, shipped=100 - shipped)
    assert found(trade, "falling_fill_rate") == []


def test_gravest_come_first_and_pages_hold_all(trade: Trade) -> None:
    vials = medicine(trade)
    for number, days in enumerate((75, 20, 45)):
        trade.shelf.stock(
            vials,
            40,
            lot=f"L{number}",
            expiry=today(trade) + timedelta(days=days),
            place=trade.shelf.place(f"P{number}"),
        )
    whole = trade.shelf.api.get(f"{PATH}?limit=100").json()["data"]
    severities = [one["severity"] for one in whole["items"]]
    assert severities == sorted(severities, key=["high", "medium", "low"].index)
    pages = [
        trade.shelf.api.get(f"{PATH}?limit=1&page={page}").json()["data"]["items"]
        for page in range(1, whole["total"] + 1)
    ]
    assert [one for page in pages for one in page] == whole["items"]


def test_insights_are_the_suppliers_own(trade: Trade) -> None:
    other = shelves.shelf()
    trade.shelf.stock(medicine(trade), 40, lot="L1", expiry=today(trade) + timedelta(days=20))
    assert found(trade, "expiring_stock") != []
    assert other.api.get(PATH).json()["data"]["items"] == []


def test_date_at_the_begin_of_the_calendar_is_told_as_any_other(trade: Trade) -> None:
    trade.shelf.stock(medicine(trade), 40, lot="OLD", expiry=date(1, 1, 1))
    (one,) = found(trade, "expiring_stock")
    assert (one["evidence"]["expiry_date"], one["severity"]) == ("0001-01-01", "high")
    assert one["detected_at"].startswith(("1969-12-31", "1970-01-01"))
