"""Lots that expire: told once for each threshold, by the date where they lie."""

from datetime import UTC, datetime, timedelta

import pytest

from core.db import tenant_context
from suppliers.inventory.expiring import tell_batch, tell_expiries
from suppliers.inventory.models import StockLevel
from tests.races import race
from tests.suppliers.inventory.recalls import change, facts, lot_of

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)
TODAY = NOON.date()


def told(shelf):
    return [(fact.type, fact.data.get("days_left"), fact.data["expiry_date"]) for fact in facts(shelf)]


def stocked(shelf, days, zone="", lot="L1"):
    product = shelf.product(tracking="lot")
    expiry = TODAY + timedelta(days=days)
    return shelf.stock(product, 5, lot=lot, expiry=expiry, place=shelf.place(zone=zone)), expiry.isoformat()


def test_each_threshold_is_told_once(shelf):
    _, expiry = stocked(shelf, 91)
    seen = []
    for day in range(95):
        for _ in range(2):
            tell_batch(shelf.id, NOON + timedelta(days=day))
        seen += [(day, one) for one in told(shelf)[len(seen) :]]
    assert seen == [
        (1, ("lot.expiring", 90, expiry)), (61, ("lot.expiring", 30, expiry)), (84, ("lot.expiring", 7, expiry)),
        (92, ("lot.expired", None, expiry)),
    ]  # fmt: skip
    assert lot_of(shelf).version == 1


def test_lot_that_comes_late_is_told_of_once(shelf):
    _, expiry = stocked(shelf, 5)
    for _ in range(2):
        tell_expiries(at=NOON)
    assert told(shelf) == [("lot.expiring", 5, expiry)]


def test_last_day_of_use_is_by_the_date_at_the_place(shelf):
    _, expiry = stocked(shelf, 0, zone="Pacific/Kiritimati")  # there it is 2 June
    stocked(shelf, 0, zone="Pacific/Pago_Pago", lot="L2")
    tell_batch(shelf.id, NOON)
    assert told(shelf) == [("lot.expired", None, expiry), ("lot.expiring", 0, expiry)]


def test_lot_of_which_nothing_is_there_is_not_told_of(shelf):
    key, _ = stocked(shelf, 5)
    with tenant_context(shelf.id):
        StockLevel.objects.filter(tenant_id=shelf.id, pk=key).update(on_hand=0)
    tell_batch(shelf.id, NOON)
    assert told(shelf) == []


@pytest.mark.parametrize("days", [200, 20])
def test_corrected_date_is_told_of_anew(shelf, days):
    stocked(shelf, 5)
    tell_batch(shelf.id, NOON)
    later = (TODAY + timedelta(days=days)).isoformat()
    assert change(shelf, expiry_date=later).status_code == 200
    tell_batch(shelf.id, NOON)
    expected = [("lot.expiring", 20, later)] if days == 20 else []
    assert told(shelf)[2:] == expected


def test_workers_at_once_tell_once(shelf):
    for number in range(6):
        stocked(shelf, 5, lot=f"L{number}")
    race(*[lambda: tell_batch(shelf.id, NOON)] * 6)
    tell_batch(shelf.id, NOON)
    assert len(told(shelf)) == 6
