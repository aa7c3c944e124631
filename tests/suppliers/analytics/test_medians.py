"""Medians of acceptance are kept for the days of every zone, so one a day is read; they are proved, and found anew beside corrections."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from django.db import DatabaseError, connection, transaction

from core.clock import now
from core.db import tenant_context
from core.invariants import checks
from suppliers.analytics.acceptances import BATCH, keep_medians
from suppliers.analytics.buckets import start_of
from suppliers.analytics.cuts import median_days
from suppliers.analytics.folding import fold
from suppliers.analytics.models import AcceptanceDay, AcceptanceMark
from tests.procurement.purchasing.orders import Trade
from tests.races import race
from tests.suppliers.analytics.copies import summed_up
from tests.suppliers.analytics.figures import day, rolled, rows_read, values

FIRST = datetime(2025, 3, 1, tzinfo=UTC)
HOUR = 3_600_000
# On each of 400 days 20 orders are accepted, a quarter of an hour apart.
_PLANT = (
    "INSERT INTO suppliers_rollup (id, tenant_id, kind, bucket, document_id, line_no, category, currency, entries, quantity, base, net,"
    " list_net) SELECT uuidv7(), %(tenant)s, 'accepted', %(first)s::timestamptz + n / 20 * interval '1 day' + n %% 20 * interval"
    " '15 minutes', uuidv7(), 0, '', 'EUR', 1, n * 1000, 0, 0, 0 FROM generate_series(0, 400 * 20 - 1) n"
)


def accepted(trade: Trade, at: datetime | str, hours: float, **more: Any) -> Any:
    """Write the roll-up of an order that took so many hours."""
    given: dict[str, Any] = {
        "kind": "accepted",
        "line_no": 0,
        "quantity": round(hours * HOUR),
        "net": 0,
        "buyer_id": None,
    } | more
    return rolled(trade.shelf.id, at, **given)


def breaches(trade: Trade) -> list[str]:
    return [one.what for one in checks()["figures"](trade.shelf.id)]


def hours_of(trade: Trade, zone: str, currency: str | None = "EUR") -> list[Any]:
    span = {"from": "2026-04-04", "to": "2026-04-07", "timezone": zone, "currency": currency}
    return values(trade.shelf.api, "acceptance_hours", **span)


def test_days_of_all_zones_are_kept() -> None:
    for name in available_timezones():
        zone = ZoneInfo(name)
        for first in ("2026-01-14", "2026-07-14"):
            bounds = [start_of(day(first) + timedelta(days=number), zone) for number in range(3)]
            runs, rest = median_days(bounds)
            assert (len(runs), rest) == (1, []), name
            assert (runs[0].first, runs[0].last) == (bounds[0], bounds[1]), name


def test_one_median_a_day_is_read(trade: Trade) -> None:
    with tenant_context(trade.shelf.id), connection.cursor() as cursor:
        cursor.execute(_PLANT, {"tenant": trade.shelf.id, "first": FIRST})
    summed_up(trade.shelf.id)
    with tenant_context(trade.shelf.id):
        assert AcceptanceMark.objects.filter(tenant_id=trade.shelf.id).count() == -(-8_000 // BATCH)
    for zone in ("UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham"):
        # Of a day that was in two batches there are two rows; days on which the clock changes are found out of their orders.
        assert 400 <= rows_read(trade.shelf.id, "acceptance_hours", 400, zone) <= 400 + 100, zone
    assert breaches(trade) == []


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "Australia/Eucla"])
def test_median_is_that_of_the_local_day(trade: Trade, zone: str) -> None:
    first, last = (datetime(2026, 4, one, tzinfo=ZoneInfo(zone)).astimezone(UTC) for one in (5, 6))
    quarter = timedelta(minutes=15)
    for at, hours in (
        (first - quarter, 40),
        (first, 1),
        (first + quarter, 2.5),
        (last - quarter, 4),
        (last - quarter, 9),
        (last, 50),
    ):
        accepted(trade, at, hours)
    for _ in range(2):
        assert hours_of(trade, zone) == ["40.0000", "3.2500", "50.0000"]
        summed_up(trade.shelf.id)
    assert breaches(trade) == []


def test_currencies_have_medians_of_their_own(trade: Trade) -> None:
    at = "2026-04-05T12:00:00+00:00"
    for hours, currency in ((1, "EUR"), (3, "EUR"), (8, "CHF")):
        accepted(trade, at, hours, currency=currency)
    for _ in range(2):
        assert [hours_of(trade, "UTC", one)[1] for one in ("EUR", "CHF", "JPY", None)] == [
            "2.0000",
            "8.0000",
            None,
            "3.0000",
        ]
        summed_up(trade.shelf.id)
    with tenant_context(trade.shelf.id):
        kept = AcceptanceDay.objects.filter(tenant_id=trade.shelf.id, slot=0)
        assert sorted(kept.values_list("currency", "orders")) == [("", 3), ("CHF", 1), ("EUR", 2)]
    assert breaches(trade) == []


def test_correction_stands_beside_the_median(trade: Trade) -> None:
    at = "2026-04-05T12:00:00+00:00"
    order = accepted(trade, at, 5)
    other = accepted(trade, at, 7, currency="CHF")
    summed_up(trade.shelf.id)
    accepted(trade, at, -2, document_id=order, entries=0)
    accepted(trade, at, -7, document_id=other, entries=-1, currency="CHF")
    for _ in range(2):
        assert [hours_of(trade, "UTC", one)[1] for one in ("EUR", "CHF", None)] == ["3.0000", None, "3.0000"]
        summed_up(trade.shelf.id)
    assert breaches(trade) == []


def test_two_workers_keep_a_median_once(trade: Trade) -> None:
    for hour in range(5):
        accepted(trade, f"2026-04-05T1{hour}:15:00+00:00", hour + 1)
    summed_up(trade.shelf.id)
    accepted(trade, "2026-04-05T10:15:00+00:00", 9)
    with tenant_context(trade.shelf.id):
        marks = AcceptanceMark.objects.filter(tenant_id=trade.shelf.id).count()
    at = now() + timedelta(days=2)

    def keep() -> None:
        with tenant_context(trade.shelf.id), transaction.atomic():
            keep_medians(trade.shelf.id, at)

    race(*[lambda: fold(trade.shelf.id, at)] * 3, keep)
    summed_up(trade.shelf.id)
    with tenant_context(trade.shelf.id):
        assert AcceptanceMark.objects.filter(tenant_id=trade.shelf.id).count() == marks + 1
    assert hours_of(trade, "UTC")[1] == "3.5000"
    assert breaches(trade) == []


def test_proof_names_a_median_that_differs(trade: Trade) -> None:
    accepted(trade, "2026-04-05T12:00:00+00:00", 2)
    summed_up(trade.shelf.id)
    with tenant_context(trade.shelf.id):
        AcceptanceDay.objects.create(
            tenant_id=trade.shelf.id, slot=0, start=datetime(2026, 4, 5, tzinfo=UTC), currency="EUR", orders=0, spent=2
        )
    assert breaches(trade) == ["accepted: medians of days are not those of the rows in 1 days"]


def test_medians_are_never_changed(trade: Trade) -> None:
    accepted(trade, "2026-04-05T12:00:00+00:00", 2)
    summed_up(trade.shelf.id)
    for model in (AcceptanceDay, AcceptanceMark):
        with pytest.raises(DatabaseError), tenant_context(trade.shelf.id), transaction.atomic():
            model.objects.filter(tenant_id=trade.shelf.id).delete()
