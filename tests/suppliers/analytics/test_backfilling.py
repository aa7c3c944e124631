"""What happened before roll-ups were kept is added once, by a command that may be ended and started again."""

import io
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid5

import pytest
from django.core.management import CommandError, call_command

from core.db import tenant_context
from core.ids import uuid7
from core.pipeline import run
from ledger.public import Event
from suppliers.analytics.rolling import orders_calls
from suppliers.marketplace.models import Offer
from tests.procurement.purchasing.orders import Trade, submitted
from tests.suppliers.analytics.copies import write
from tests.suppliers.analytics.figures import kept, values
from tests.suppliers.analytics.naive import Arrival, Line, Order
from tests.suppliers.deliveries.receiving import arrivals

SENT = datetime(2026, 3, 28, 22, 50, tzinfo=UTC)
SPAN = {"from": "2026-03-28", "to": "2026-03-31", "timezone": "Europe/Berlin"}


def rebuilt(tenant_id: Any) -> dict[str, Any]:
    out = io.StringIO()
    call_command("rebuild_figures", "--json", "--tenant", str(tenant_id), stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def old_order(trade: Trade, number: int) -> Order:
    line = Line(
        UUID(trade.gloves["id"]), "gloves", 10, 4, 6, 3, Decimal("7.25"), Decimal("9.00"), date(2026, 3, 29),
        [Arrival(SENT + timedelta(hours=20), 6, 0)],
    )  # fmt: skip
    key = uuid5(trade.shelf.id, f"order {number}")
    sent = SENT + timedelta(hours=number)
    return Order(key, trade.buyer.id, trade.ward, "EUR", sent, sent + timedelta(minutes=90), [line])


def test_older_documents_are_counted_once(trade: Trade) -> None:
    orders = [old_order(trade, number) for number in range(3)]
    with tenant_context(trade.shelf.id):
        write(trade.shelf.id, orders)
    api = trade.shelf.api
    assert values(api, "orders_count", **SPAN) == [0, 0, 0]
    found = rebuilt(trade.shelf.id)
    assert (found["orders"]["read"], found["deliveries"]["read"]) == (3, 3)
    assert found["orders"]["added"] == 3 * 4
    for _ in range(2):
        assert values(api, "orders_count", **SPAN) == [1, 2, 0]
        assert [one["amount"] for one in values(api, "orders_value", currency="EUR", **SPAN)] == [
            "7.25",
            "14.50",
            "0.00",
        ]
        assert values(api, "acceptance_hours", **SPAN) == [None, "1.5000", None]
        assert values(api, "on_time_in_full", **SPAN) == [None, "1.0000", None]
        assert values(api, "fill_rate", **SPAN) == [None, "0.5000", None]
        assert values(api, "return_rate", **SPAN) == [None, "0.3333", None]
        again = rebuilt(trade.shelf.id)
        assert [again[name]["added"] for name in ("orders", "deliveries", "offers")] == [0, 0, 0]


def test_run_that_ended_is_carried_on(trade: Trade) -> None:
    with tenant_context(trade.shelf.id):
        write(trade.shelf.id, [old_order(trade, number) for number in range(2)])
    with tenant_context(trade.shelf.id):  # a run that came as far as the first order
        run(orders_calls(trade.shelf.id, [str(old_order(trade, 0).id)]))
    assert rebuilt(trade.shelf.id)["orders"] == {"read": 2, "added": 4}
    assert sum(values(trade.shelf.api, "orders_count", **SPAN)) == 2


def test_nothing_is_added_to_what_facts_have_told() -> None:
    dock = arrivals.dock()
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    dock.receive(delivery, {"accepted_quantity": 60, "rejected_quantity": 10, "rejection_reason": "damaged"})
    submitted(dock.trade, (dock.trade.gloves, 10))
    before = kept(dock.shelf.id)
    found = rebuilt(dock.shelf.id)
    assert [found[name]["added"] for name in ("orders", "deliveries", "offers")] == [0, 0, 0]
    assert kept(dock.shelf.id) == before


def test_offers_are_counted_by_their_facts(trade: Trade) -> None:
    with tenant_context(trade.shelf.id):
        offer = Offer.objects.get(tenant_id=trade.shelf.id, product_id=trade.gloves["id"])
        for hours, name, status in (
            (0, "published", "published"),
            (26, "unpublished", "paused"),
            (50, "published", "published"),
        ):
            Event.objects.create(
                id=uuid7(), tenant_id=trade.shelf.id, type=f"offer.{name}", resource_type="offer", resource_id=offer.id,
                data={"product_id": trade.gloves["id"], "packaging_id": str(offer.packaging_id), "status": status},
                figures={"category": "gloves"}, subject_id=trade.shelf.id, subject_kind="system", credential="", request_id="",
                occurred_at=SENT + timedelta(hours=hours),
            )  # fmt: skip
    assert rebuilt(trade.shelf.id)["offers"]["added"] == 3
    # At the ends of these days in Berlin: it was published at 23:50 of the 28th, hidden from the 30th on for a day.
    assert values(trade.shelf.api, "active_offers", **SPAN) == [1, 1, 0]
    assert values(trade.shelf.api, "active_offers", **SPAN | {"from": "2026-03-30", "to": "2026-04-02"}) == [0, 1, 1]
    assert rebuilt(trade.shelf.id)["offers"]["added"] == 0


def test_live_facts_of_offers_agree_with_the_ledger(trade: Trade) -> None:
    with tenant_context(trade.shelf.id):
        key = Offer.objects.get(tenant_id=trade.shelf.id, product_id=trade.gloves["id"]).id
    for act in ("unpublish", "publish", "unpublish"):
        assert trade.shelf.api.post(f"/v1/marketplace/offers/{key}/{act}").status_code == 200
    assert rebuilt(trade.shelf.id)["offers"]["added"] == 0


def test_unknown_supplier_is_named() -> None:
    with pytest.raises(CommandError, match="There is no tenant 'nobody'"):
        call_command("rebuild_figures", "--tenant", "nobody")
