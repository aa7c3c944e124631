"""Buckets in zones whose clocks stand at :30 and :45, and over changes of the clock, also one of half an hour."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from suppliers.analytics.buckets import Period, start_of
from suppliers.analytics.measures import MEASURES
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.analytics.figures import amounts, ask, day, metric, rolled, values

# A zone; the first local day; how many hours the day of the change has; the begins in UTC of this day and the next one.
CHANGES = (
    ("Europe/Berlin", "2026-03-29", 23, "2026-03-28T23:00", "2026-03-29T22:00"),
    ("Europe/Berlin", "2026-10-25", 25, "2026-10-24T22:00", "2026-10-25T23:00"),
    ("Asia/Kathmandu", "2026-03-29", 24, "2026-03-28T18:15", "2026-03-29T18:15"),
    ("Australia/Lord_Howe", "2026-04-05", 24.5, "2026-04-04T13:00", "2026-04-05T13:30"),
    ("Australia/Lord_Howe", "2026-10-04", 23.5, "2026-10-03T13:30", "2026-10-04T13:00"),
)


@pytest.mark.parametrize(("zone", "first", "hours", "begin", "end"), CHANGES)
def test_day_of_a_change_has_its_own_length(zone: str, first: str, hours: float, begin: str, end: str) -> None:
    here = ZoneInfo(zone)
    starts = [start_of(day(first) + timedelta(days=n), here) for n in (0, 1)]
    assert [one.strftime("%Y-%m-%dT%H:%M") for one in starts] == [begin, end]
    assert (starts[1] - starts[0]) == timedelta(hours=hours)


@pytest.mark.parametrize(("zone", "first", "hours", "begin", "end"), CHANGES)
def test_quarters_of_an_hour_fall_into_their_local_day(
    trade: Trade, zone: str, first: str, hours: float, begin: str, end: str
) -> None:
    starts, quarter = [datetime.fromisoformat(f"{one}+00:00") for one in (begin, end)], timedelta(minutes=15)
    for at in (starts[0] - quarter, starts[0], starts[1] - quarter, starts[1]):
        rolled(trade.shelf.id, at)
    today = day(first)
    span: dict[str, Any] = {
        "from": (today - timedelta(days=1)).isoformat(), "to": (today + timedelta(days=2)).isoformat(), "timezone": zone,
    }  # fmt: skip
    api = trade.shelf.api
    found = metric(api, "orders_count", **span)
    assert [one["value"] for one in found["buckets"]] == [1, 2, 1]
    assert found["buckets"][1]["start"] == f"{begin}:00.000Z"
    assert values(api, "orders_value", currency="EUR", **span) == amounts("12.50", "25.00", "12.50")
    for interval in ("week", "month", "quarter"):
        assert sum(values(api, "orders_count", interval=interval, **span)) == 4


def test_weeks_begin_on_monday_and_quarters_in_january() -> None:
    zone = ZoneInfo("Asia/Kathmandu")
    begin, end = (datetime(2026, month, 14, tzinfo=UTC) for month in (1, 5))
    starts = [
        [day for day, _ in Period(begin, end, interval, zone).intervals] for interval in ("week", "month", "quarter")
    ]
    assert all(one.weekday() == 0 for one in starts[0])
    assert len(starts[0]) == 18
    assert [one.isoformat() for one in starts[1]] == [f"2026-0{month}-01" for month in (1, 2, 3, 4, 5)]
    assert [one.isoformat() for one in starts[2]] == ["2026-01-01", "2026-04-01"]


def test_what_cannot_be_asked_is_named(trade: Trade) -> None:
    api = trade.shelf.api
    for given, field, code in (
        ({"metric": "profit"}, "metric", "invalid_choice"),
        ({"metric": None}, "metric", "required"),
        ({"metric": "orders_value"}, "currency", "required"),
        ({"currency": "XYZ"}, "currency", "unknown_currency"),
        ({"from": None}, "from", "required"),
        ({"to": "yesterday"}, "to", "invalid"),
        ({"from": "2026-01-02", "to": "2026-01-02"}, "to", "min_value"),
        ({"from": "2025-01-01", "to": "2026-02-06"}, "to", "max_value"),
        ({"interval": "hour"}, "interval", "invalid_choice"),
        ({"group_by": "location"}, "group_by", "invalid_choice"),
        ({"metric": "active_offers", "group_by": "buyer"}, "group_by", "invalid_choice"),
        ({"timezone": "Mars/Olympus"}, "timezone", "invalid_choice"),
        ({"timezone": "localtime"}, "timezone", "invalid_choice"),
        ({"timezone": "Factory"}, "timezone", "invalid_choice"),
        ({"from": "1969-12-31"}, "from", "min_value"),
        ({"from": "0002-01-02", "compare": "previous"}, "from", "min_value"),
        ({"compare": "next"}, "compare", "invalid_choice"),
    ):
        answer = ask(api, "orders_count", **given)
        assert answer.status_code == 400, given
        assert [(one["field"], one["code"]) for one in answer.json()["errors"]] == [(field, code)], given
    for name in ("orders_count", "days_of_cover"):  # what reaches back furthest
        early = {"from": "1970-01-01", "to": "1971-02-01", "compare": "previous"}
        assert ask(api, name, currency="EUR", **early).status_code == 200, name
    assert ask(api, "orders_count", colour="red").json()["code"] == "unknown_parameter"
    assert ask(api, "orders_count", **{"from": "2025-01-01", "to": "2026-02-05"}).status_code == 200


@pytest.mark.parametrize("name", MEASURES)
def test_each_metric_has_each_of_its_groups(trade: Trade, name: str) -> None:
    for group in ("", *MEASURES[name].groups):
        found = metric(trade.shelf.api, name, currency="EUR", group_by=group or None, compare="previous")
        assert all((one["group"] is None) is (not group) for one in found["buckets"])
        assert group or len(found["previous"]) == 3


def test_price_is_compared_with_the_list(trade: Trade) -> None:
    at = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    for net, list_net in (("80", "100"), ("60", "100")):
        rolled(trade.shelf.id, at, kind="listed", net=net, list_net=list_net)
    rolled(trade.shelf.id, at, kind="listed", net="1", list_net="9", currency="CHF")
    assert values(trade.shelf.api, "price_vs_list", currency="EUR") == [None, "0.7000", None]


def test_figures_of_another_supplier_are_not_counted(trade: Trade) -> None:
    from tests.suppliers.inventory import shelf as shelves

    other = shelves.shelf()
    rolled(trade.shelf.id, datetime.now(UTC).replace(minute=0, second=0, microsecond=0))
    assert sum(values(trade.shelf.api, "orders_count")) == 1
    assert sum(values(other.api, "orders_count")) == 0
    answer = ask(trade.api, "orders_count")
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")
