"""Roll-ups are summed up once, whoever does it how often; what comes later stands beside the sums."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from core.clock import now
from core.db import tenant_context
from core.invariants import checks
from suppliers.analytics.folding import BATCH, fold, fold_figures
from suppliers.analytics.models import RollUp, RollUpMark, RollUpSum
from tests.procurement.purchasing.orders import Trade, submitted
from tests.races import race
from tests.suppliers.analytics.copies import summed_up
from tests.suppliers.analytics.figures import metric, rolled, rows_read, values

LATER = timedelta(days=2)
_PLANT = (
    "INSERT INTO suppliers_rollup (id, tenant_id, kind, bucket, document_id, line_no, product_id, category, buyer_id, currency,"
    " entries, quantity, base, net, list_net) SELECT uuidv7(), %(tenant)s, 'ordered', %(first)s + n / %(rate)s * interval '1 day'"
    " + n %% %(rate)s * interval '15 minutes', uuidv7(), 1, NULL, 'x', NULL, 'EUR', 1, 10, 1, 2.5, 0"
    " FROM generate_series(0, %(days)s * %(rate)s - 1) n"
)


def proved(tenant_id: Any) -> bool:
    return list(checks()["figures"](tenant_id)) == []


def counted(trade: Trade) -> tuple[int, int]:
    """Return how many sums and marks there are."""
    with tenant_context(trade.shelf.id):
        return tuple(model.objects.filter(tenant_id=trade.shelf.id).count() for model in (RollUpSum, RollUpMark))


def test_young_rows_stand_apart_until_they_are_a_day_old(trade: Trade) -> None:
    submitted(trade, (trade.gloves, 10))
    present = now()
    assert fold(trade.shelf.id, present) == fold(trade.shelf.id, present + timedelta(hours=23)) == 0
    assert counted(trade) == (0, 0)
    assert fold(trade.shelf.id, present + timedelta(hours=25)) > 0
    assert fold(trade.shelf.id, present + timedelta(days=9)) == 0
    assert proved(trade.shelf.id)


def test_two_workers_sum_up_once(trade: Trade) -> None:
    for hour in range(5):
        rolled(trade.shelf.id, f"2026-03-28T{20 + hour % 4}:15:00+00:00", product_id=trade.gloves["id"])
    at = now() + LATER
    race(*[lambda: fold(trade.shelf.id, at)] * 3)
    sums, marks = counted(trade)
    assert marks == 1
    assert proved(trade.shelf.id)
    assert summed_up(trade.shelf.id) == 0
    assert counted(trade) == (sums, 1)


def test_task_sums_up_every_supplier_and_goes_on_behind_a_batch(trade: Trade) -> None:
    rolled(trade.shelf.id, "2026-03-28T20:00:00+00:00")
    assert fold_figures(at=now() + LATER) > 0
    assert fold(trade.shelf.id, now() + LATER) == 0
    assert BATCH > 1


def test_correction_of_a_summed_up_day_is_a_further_row(trade: Trade) -> None:
    span = {"from": "2026-03-28", "to": "2026-03-30", "timezone": "Europe/Berlin"}
    at = "2026-03-28T23:30:00+00:00"  # the first hour of the 29th in Berlin
    order = rolled(trade.shelf.id, at, product_id=trade.gloves["id"], category="x")
    assert summed_up(trade.shelf.id) == 1
    sums, _ = counted(trade)
    rolled(
        trade.shelf.id, at, document_id=order, product_id=trade.gloves["id"], category="x", entries=0, quantity=0,
        base=10, net="-12.50",
    )  # fmt: skip
    api = trade.shelf.api
    for _ in range(2):
        assert values(api, "orders_count", **span) == [0, 1]
        assert values(api, "cancel_rate", **span) == [None, "1.0000"]
        assert [one["amount"] for one in values(api, "orders_value", currency="EUR", **span)] == ["0.00", "0.00"]
        found = metric(api, "orders_count", group_by="category", **span)["buckets"]
        assert [(one["value"], one["group"]) for one in found] == [(0, "x"), (1, "x")]
        summed_up(trade.shelf.id)
    assert counted(trade)[0] > sums
    assert proved(trade.shelf.id)


def test_sums_are_never_changed(trade: Trade) -> None:
    rolled(trade.shelf.id, "2026-03-28T20:00:00+00:00")
    summed_up(trade.shelf.id)
    for model in (RollUp, RollUpSum, RollUpMark):
        with pytest.raises(DatabaseError), tenant_context(trade.shelf.id), transaction.atomic():
            model.objects.filter(tenant_id=trade.shelf.id).delete()


@pytest.mark.parametrize(("span", "found"), [("day", 3), ("hour", 1), ("sliding", 1)])
def test_proof_names_what_differs(trade: Trade, span: str, found: int) -> None:
    rolled(trade.shelf.id, "2026-03-28T20:00:00+00:00")
    summed_up(trade.shelf.id)
    with tenant_context(trade.shelf.id):
        RollUpSum.objects.create(
            tenant_id=trade.shelf.id, kind="ordered", grouping="", span=span, start=datetime(2026, 3, 28, tzinfo=UTC), currency="EUR",
            orders=1, entries=1, quantity=1, base=0, net=1, list_net=0,
        )  # fmt: skip
        breaches = list(checks()["figures"](trade.shelf.id))
    assert [(one.table, one.what[:8]) for one in breaches] == [("suppliers_rollupsum", "ordered:")] * found


def read(trade: Trade, days: int, zone: str, group: str = "") -> int:
    return rows_read(trade.shelf.id, "orders_value", days, zone, group)


def test_year_is_read_by_days_whatever_the_number_of_orders(trade: Trade) -> None:
    given = {"tenant": trade.shelf.id, "first": datetime(2025, 3, 1, tzinfo=UTC), "rate": 90, "days": 400}
    with tenant_context(trade.shelf.id), connection.cursor() as cursor:
        cursor.execute(_PLANT, given)
    assert summed_up(trade.shelf.id) == 36_000
    with tenant_context(trade.shelf.id), connection.cursor() as cursor:
        cursor.execute("ANALYZE suppliers_rollup")
        cursor.execute("ANALYZE suppliers_rollupsum")
    for zone in ("UTC", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe"):
        assert (
            read(trade, 400, zone) <= 400 + 60
        )  # a day, and up to twelve hours where the clock changes or the mark lies
    assert (
        read(trade, 400, "Asia/Kathmandu") <= 400 * 3 + 60
    )  # and a quarter of an hour for each of two days at a bound
    assert read(trade, 400, "Europe/Berlin", "category") <= 400 * 5 + 60  # a day, and an hour or two at its bounds
    values_ = values(trade.shelf.api, "orders_count", **{"from": "2025-03-01", "to": "2026-04-05", "timezone": "UTC"})
    assert values_ == [90] * 400
