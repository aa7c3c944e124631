"""Metrics of orders over HTTP, by figures counted by hand, and against the list of orders."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.procurement.purchasing.orders import Trade, submitted
from tests.suppliers.analytics.copies import summed_up
from tests.suppliers.analytics.figures import amounts, around, kept, metric, values
from tests.suppliers.analytics.naive import rate
from tests.suppliers.deliveries.shipping import placed, shipped
from tests.suppliers.orders.answers import answer


def test_orders_count_and_value_agree_with_the_list(trade: Trade) -> None:
    submitted(trade, (trade.gloves, 10), (trade.masks, 3))  # 49.00 and 1.00
    submitted(trade, (trade.masks, 30))  # 10.00
    listed = trade.shelf.api.get("/v1/orders").json()["data"]
    assert listed["total"] == 2
    assert sum(float(one["totals"]["net"]) for one in listed["items"]) == 60.00

    api = trade.shelf.api
    assert values(api, "orders_count") == [0, 2, 0]
    assert values(api, "orders_value", currency="EUR") == amounts("0.00", "60.00", "0.00")
    assert values(api, "orders_value", currency="CHF") == amounts("0.00", "0.00", "0.00", currency="CHF")
    assert sum(values(api, "orders_count", interval="week")) == 2
    assert sum(values(api, "orders_count", interval="month")) == 2


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe"])
def test_sums_over_any_interval_are_the_totals_of_the_list(trade: Trade, zone: str) -> None:
    kept_order = submitted(trade, (trade.gloves, 10), (trade.masks, 3))
    rejected = submitted(trade, (trade.masks, 30))
    assert answer(trade, rejected["id"], "reject", reason_code="out_of_stock").status_code == 200
    listed = trade.shelf.api.get("/v1/orders").json()["data"]
    net = sum(Decimal(one["totals"]["net"]) for one in listed["items"])
    assert (listed["total"], net) == (2, Decimal(kept_order["totals"]["net"]) + Decimal(rejected["totals"]["net"]))
    middle = date.fromisoformat(around()["from"])
    span: dict[str, Any] = {
        "from": (middle - timedelta(days=190)).isoformat(), "to": (middle + timedelta(days=210)).isoformat(), "timezone": zone,
    }  # fmt: skip
    for has_sums in (False, True):
        assert not has_sums or summed_up(trade.shelf.id) > 0
        for interval in ("day", "week", "month", "quarter"):
            asked = span | {"interval": interval}
            assert sum(values(trade.shelf.api, "orders_count", **asked)) == listed["total"]
            amounts_in = values(trade.shelf.api, "orders_value", currency="EUR", **asked)
            assert sum(Decimal(one["amount"]) for one in amounts_in) == net
            by_product = values(trade.shelf.api, "orders_value", currency="EUR", group_by="product", **asked)
            assert sum(Decimal(one["amount"]) for one in by_product) == net


def test_groups_are_by_product_and_buyer(trade: Trade) -> None:
    submitted(trade, (trade.gloves, 10), (trade.masks, 3))
    found = metric(trade.shelf.api, "orders_value", currency="EUR", group_by="product", interval="quarter")["buckets"]
    by_group = {one["group"]: one["value"]["amount"] for one in found if one["value"]["amount"] != "0.00"}
    assert by_group == {trade.gloves["id"]: "49.00", trade.masks["id"]: "1.00"}
    found = metric(trade.shelf.api, "orders_count", group_by="buyer")["buckets"]
    assert [(one["value"], one["group"]) for one in found] == [(n, str(trade.buyer.id)) for n in (0, 1, 0)]


def test_rejected_order_stays_counted_and_is_cancelled(trade: Trade) -> None:
    order = submitted(trade, (trade.gloves, 10))
    submitted(trade, (trade.gloves, 30))
    assert answer(trade, order["id"], "reject", reason_code="out_of_stock").status_code == 200
    api = trade.shelf.api
    assert values(api, "orders_count") == [0, 2, 0]
    assert values(api, "cancel_rate") == [None, "0.2500", None]


def test_lines_due_are_filled_and_in_time(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 5_000)
    due = {"product_id": trade.gloves["id"], "quantity": 10, "requested_date": "2030-03-05"}
    order = placed(trade, due)
    span = {"from": "2030-03-04", "to": "2030-03-07", "timezone": "UTC"}
    api = trade.shelf.api
    assert values(api, "fill_rate", **span) == [None, "0.0000", None]
    shipped(trade, order, 400)
    assert values(api, "fill_rate", **span) == [None, "0.4000", None]
    assert values(api, "on_time_in_full", **span) == [None, "0.0000", None]
    shipped(trade, order, 600)
    assert values(api, "fill_rate", **span) == [None, "1.0000", None]


def test_acceptance_keeps_one_row_per_order(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 5_000)
    placed(trade, (trade.gloves, 10))
    found = values(trade.shelf.api, "acceptance_hours")
    assert found[0] is None
    assert found[2] is None
    assert found[1] is not None
    order = trade.shelf.api.get("/v1/orders").json()["data"]["items"][0]
    sent, accepted = (datetime.fromisoformat(order[name]) for name in ("sent_at", "accepted_at"))
    assert found[1] == rate((accepted - sent) // timedelta(milliseconds=1), 3_600_000)
    assert [row[:2] for row in kept(trade.shelf.id) if row[0] == "accepted"] == [("accepted", 1)]


def test_span_before_is_compared(trade: Trade) -> None:
    submitted(trade, (trade.gloves, 10))
    found = metric(trade.shelf.api, "orders_count", compare="previous")
    assert [one["value"] for one in found["previous"]] == [0, 0, 0]
    assert found["previous"][-1]["start"] < found["buckets"][0]["start"]
    assert (
        date.fromisoformat(found["buckets"][0]["start"][:10]).toordinal() - 3
        == date.fromisoformat(found["previous"][0]["start"][:10]).toordinal()
    )
