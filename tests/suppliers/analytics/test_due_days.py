"""Sums of lines due by when their date ends: one a day is read, they are proved, and filled where a release before had none."""

from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import IntegrityError, connection, connections, transaction

from core.db import tenant_context
from core.invariants import checks
from suppliers.analytics.models import DueDay
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.analytics.copies import summed_up
from tests.suppliers.analytics.figures import rolled, rows_read, values

MIGRATION = import_module("suppliers.migrations.0048_lines_due_by_days")
# On each day 40 lines are due, whole at quarters of an hour around the end of the day, one in eight never.
_PLANT = (
    "INSERT INTO suppliers_rollup (id, tenant_id, kind, bucket, due_date, document_id, line_no, product_id, category, buyer_id,"
    " currency, whole_at, entries, quantity, base, net, list_net) SELECT uuidv7(), %(tenant)s, 'due', %(first)s::timestamptz,"
    " (%(first)s::date + n / 40), uuidv7(), 1, NULL, 'x', NULL, 'EUR', CASE WHEN n %% 8 > 0 THEN %(first)s::timestamptz"
    " + n / 40 * interval '1 day' + n %% 40 * interval '75 minutes' END, 1, 10, 9, 0, 0 FROM generate_series(0, 400 * 40 - 1) n"
)
_SUMS = (
    "SELECT slot, due_date, currency, sum(entries), sum(in_time), sum(quantity), sum(base) FROM suppliers_dueday"
    " WHERE tenant_id = %s GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
)


def due(trade: Trade, day: date, whole_at: datetime | None, **more: Any) -> Any:
    """Write the roll-up of a line due of which nine tenths were shipped."""
    given: dict[str, Any] = {"kind": "due", "due_date": day, "whole_at": whole_at, "base": 9, "net": 0} | more
    return rolled(trade.shelf.id, datetime(2026, 3, 20, tzinfo=UTC), product_id=trade.gloves["id"], **given)


def breaches(trade: Trade) -> list[str]:
    return [one.what for one in checks()["figures"](trade.shelf.id)]


@pytest.mark.parametrize("zone", ["UTC", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Kiritimati", "Etc/GMT+12"])
def test_line_is_in_time_up_to_the_end_of_its_local_day(trade: Trade, zone: str) -> None:
    day = date(2026, 4, 5)  # the clocks of Lord Howe go back by half an hour
    end = datetime(2026, 4, 6, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    quarter = timedelta(minutes=15)
    for whole_at in (end - quarter, end, end - timedelta(microseconds=1), None):
        due(trade, day, whole_at)
    span = {"from": "2026-04-04", "to": "2026-04-07", "timezone": zone}
    for _ in range(2):
        assert values(trade.shelf.api, "on_time_in_full", **span) == [None, "0.5000", None]
        assert values(trade.shelf.api, "fill_rate", **span) == [None, "0.9000", None]
        summed_up(trade.shelf.id)
    assert breaches(trade) == []


def test_correction_stands_beside_the_sums(trade: Trade) -> None:
    day, whole_at = date(2026, 4, 5), datetime(2026, 4, 5, 12, tzinfo=UTC)
    line = due(trade, day, None, quantity=10, base=0)
    summed_up(trade.shelf.id)
    due(trade, day, None, document_id=line, entries=-1, quantity=-10, base=0)
    due(trade, day, whole_at, document_id=line, entries=1, quantity=10, base=10)
    span = {"from": "2026-04-05", "to": "2026-04-06", "timezone": "UTC"}
    for _ in range(2):
        assert values(trade.shelf.api, "on_time_in_full", **span) == ["1.0000"]
        assert values(trade.shelf.api, "fill_rate", **span) == ["1.0000"]
        summed_up(trade.shelf.id)
    assert breaches(trade) == []


def test_one_sum_a_day_is_read(trade: Trade) -> None:
    with tenant_context(trade.shelf.id), connection.cursor() as cursor:
        cursor.execute(_PLANT, {"tenant": trade.shelf.id, "first": datetime(2025, 3, 1, tzinfo=UTC)})
    assert summed_up(trade.shelf.id) == 16_000
    for metric in ("fill_rate", "on_time_in_full"):
        for zone in ("UTC", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe"):
            assert 400 <= rows_read(trade.shelf.id, metric, 400, zone) <= 400 + 10  # a batch ends within a day
    # Where days end at a quarter past or to an hour, sums by when lines were whole are read.
    assert rows_read(trade.shelf.id, "on_time_in_full", 400, "Asia/Kathmandu") > 2 * 400
    assert breaches(trade) == []


@pytest.mark.parametrize("changed", ["entries", "in_time", "quantity", "base"])
def test_proof_names_lines_due_that_differ(trade: Trade, changed: str) -> None:
    due(trade, date(2026, 4, 5), None)
    summed_up(trade.shelf.id)
    sums = {"entries": 0, "in_time": 0, "quantity": 0, "base": 0} | {changed: 1}
    with tenant_context(trade.shelf.id):
        DueDay.objects.create(tenant_id=trade.shelf.id, slot=24, due_date=date(2026, 4, 5), currency="EUR", **sums)
    assert breaches(trade) == ["due: sums of days and those of when they end differ in 1 of 53"]


def test_sums_of_a_release_before_are_filled(trade: Trade) -> None:
    end = datetime(2026, 4, 6, tzinfo=UTC)
    for hours in (-40, -15, -14, -3.25, 0, 11.75, 12, 30):
        due(trade, date(2026, 4, 5), end + timedelta(hours=hours))
    due(trade, date(2026, 4, 7), None, currency="JPY")
    summed_up(trade.shelf.id)
    with transaction.atomic("owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '20s'")
        cursor.execute(_SUMS, [trade.shelf.id])
        kept = cursor.fetchall()
        for statement in MIGRATION.FILL:
            cursor.execute(statement)
        cursor.execute(_SUMS, [trade.shelf.id])
        filled = cursor.fetchall()
        transaction.set_rollback(True, using="owner")
    assert len(kept) == 2 * 53
    assert [row[4] for row in kept if row[2] == "EUR"][::52] == [2, 6]
    assert filled == [(*row[:3], *(2 * one for one in row[3:])) for row in kept]


def test_release_before_writes_no_marks(trade: Trade) -> None:
    old = (
        "INSERT INTO suppliers_rollupmark (id, tenant_id, after_id, upto_id, rows, created_at) VALUES (uuidv7(), %s,"
        " '00000000-0000-0000-0000-000000000000', uuidv7(), 1, now()) ON CONFLICT DO NOTHING"
    )
    with pytest.raises(IntegrityError), tenant_context(trade.shelf.id), connection.cursor() as cursor:
        cursor.execute(old, [trade.shelf.id])
