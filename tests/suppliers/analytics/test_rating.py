"""Suppliers are rated once a day by what they did in the 365 days before; both sides read the same rates."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError

from core.clock import now
from core.db import tenant_context
from core.invariants import checks
from organizations.models import Tenant
from suppliers.analytics.rating import rate_suppliers
from suppliers.company.models import SupplierProfile
from suppliers.tasks import rate_suppliers as task
from tests.factories import Api
from tests.procurement.purchasing.orders import Trade
from tests.races import race
from tests.suppliers.analytics.copies import summed_up
from tests.suppliers.analytics.figures import kept, rolled
from tests.suppliers.company.profiles import patched
from tests.suppliers.deliveries.receiving import arrivals

ME = "/v1/suppliers/me"
RATES = ("on_time_rate", "fill_rate", "quality_rate", "orders_counted")
# The rates are of a supplier in UTC, whose day begins at this instant.
TODAY = datetime(2026, 4, 10, tzinfo=UTC)


def own(api: Api) -> dict[str, Any]:
    answer = api.get(ME)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]["rating"]
    return found


def seen(trade: Trade) -> dict[str, Any]:
    """Return the rating as the buyer reads it, in the list as alone."""
    one = trade.api.get(f"/v1/suppliers/{trade.shelf.id}").json()["data"]["rating"]
    pages = trade.api.get(f"/v1/suppliers?search={trade.shelf.tenant.name}").json()["data"]
    assert [page["rating"] for page in pages if page["id"] == str(trade.shelf.id)] in ([one], [])
    found: dict[str, Any] = one
    return found


def in_zone(trade: Trade, zone: str) -> None:
    Tenant.objects.filter(pk=trade.shelf.id).update(time_zone=zone)


def rated(trade: Trade, at: datetime) -> list[Any]:
    """Rate the suppliers, and return what this one reads then."""
    rate_suppliers(at=at)
    found = own(trade.shelf.api)
    return [found[name] for name in RATES]


def line_due(trade: Trade, day: date, *, late: bool = False, shipped: int = 10) -> None:
    """Write the roll-up of a line of ten units that was due on a day."""
    whole_at = datetime(day.year, day.month, day.day, 6, tzinfo=UTC) + timedelta(days=3 * late)
    rolled(
        trade.shelf.id, datetime(2026, 3, 1, tzinfo=UTC), kind="due", due_date=day, whole_at=whole_at, base=shipped, net=0,
        product_id=trade.gloves["id"],
    )  # fmt: skip


def test_story_is_rated_for_both_sides_and_links_its_orders() -> None:
    dock = arrivals.dock()
    api = dock.shelf.api
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    dock.receive(delivery, {"accepted_quantity": 60, "rejected_quantity": 10, "rejection_reason": "damaged"})
    dock.receive(delivery, {"accepted_quantity": 20, "short_quantity": 10})
    assert [row[:4] for row in kept(dock.shelf.id) if row[0] == "received"] == [("received", 2, 80, 10)]
    before = api.get(ME)
    assert before.json()["data"]["rating"]["links"] == dict.fromkeys(RATES[:3])
    tomorrow = now() + timedelta(days=1)

    rate_suppliers(at=tomorrow)

    found, buyers = own(api), seen(dock.trade)
    assert (found["quality_rate"], found["orders_counted"]) == ("0.8889", 1)
    assert buyers == {name: found[name] for name in RATES}
    assert found["links"]["quality_rate"] == f"/v1/orders?from={found['from']}&to={found['to']}"
    for link in set(found["links"].values()):
        assert len(api.get(link).json()["data"]["items"]) == found["orders_counted"]
    after = api.get(ME, headers={"If-None-Match": before.headers["ETag"]})
    assert (after.status_code, after.json()["data"]["version"]) == (200, before.json()["data"]["version"])
    changed = api.patch(ME, json={"trade_name": "Other"}, headers={"If-Match": before.headers["ETag"]})
    assert (changed.status_code, changed.json()["data"]["rating"]) == (200, found)


def test_rates_are_those_of_the_days_before_today(trade: Trade) -> None:
    in_zone(trade, "UTC")
    line_due(trade, date(2025, 4, 9), late=True)  # 366 days ago
    line_due(trade, date(2025, 4, 10), shipped=5)
    line_due(trade, date(2026, 4, 8))
    line_due(trade, date(2026, 4, 9), late=True, shipped=9)
    line_due(trade, date(2026, 4, 10), late=True, shipped=0)
    for at, accepted, rejected in ((-366, 0, 90), (-365, 50, 10), (-1, 30, 5), (0, 0, 90)):
        rolled(
            trade.shelf.id,
            TODAY + timedelta(days=at),
            kind="received",
            currency="",
            quantity=accepted,
            base=rejected,
            net=0,
        )
    for at, currency in ((-366, "EUR"), (-365, "EUR"), (-1, "SEK"), (0, "EUR")):
        rolled(trade.shelf.id, TODAY + timedelta(days=at), kind="ordered", currency=currency)
    expected = ["0.6667", "0.8000", "0.8421", 2]

    assert rated(trade, TODAY) == expected
    found = own(trade.shelf.api)
    assert (found["from"], found["to"]) == ("2025-04-10", "2026-04-10")
    assert rated(trade, TODAY + timedelta(hours=23, minutes=59)) == expected
    summed_up(trade.shelf.id)
    assert rated(trade, TODAY + timedelta(days=1)) == ["0.3333", "0.6333", "0.2400", 2]
    assert rated(trade, TODAY + timedelta(days=400)) == [None, None, None, 0]
    assert list(checks()["figures"](trade.shelf.id)) == []


def test_day_begins_at_the_supplier(trade: Trade) -> None:
    in_zone(trade, "Pacific/Kiritimati")
    line_due(trade, date(2026, 4, 9))
    assert rated(trade, TODAY - timedelta(hours=15)) == [None, None, None, 0]
    assert rated(trade, TODAY - timedelta(hours=14)) == ["1.0000", "1.0000", None, 0]
    assert own(trade.shelf.api)["to"] == "2026-04-10"
    in_zone(trade, "Etc/GMT+12")
    assert rated(trade, TODAY + timedelta(hours=11))[0] == "1.0000"
    assert own(trade.shelf.api)["to"] == "2026-04-10"


def test_two_workers_rate_once_a_day_and_make_no_version(trade: Trade) -> None:
    line_due(trade, date(2026, 4, 8))
    patched(trade.shelf.api, trade_name="Acme")
    version = trade.shelf.api.get(ME).json()["data"]["version"]

    counted: list[Any] = race(*[lambda: rate_suppliers(at=TODAY)] * 3)

    assert sum(counted) >= 1
    assert rate_suppliers(at=TODAY) == 0
    with tenant_context(trade.shelf.id):
        row = SupplierProfile.objects.get(tenant_id=trade.shelf.id)
    assert (row.version, row.rated_until) == (version, TODAY.date())


def test_rate_above_one_is_refused_by_the_database(trade: Trade) -> None:
    with tenant_context(trade.shelf.id), pytest.raises(IntegrityError, match="suppliers_supplierprofile_rates"):
        SupplierProfile.objects.filter(tenant_id=trade.shelf.id).update(fill_rate="1.0001")


def test_task_rates(trade: Trade) -> None:
    task()
    assert own(trade.shelf.api)["to"] is not None
