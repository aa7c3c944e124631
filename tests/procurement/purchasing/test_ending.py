"""Cancelling an accepted order or its rest, and closing one: counters, limits, stock, and what is refused."""

from decimal import Decimal
from typing import Any

import pytest

from core.clock import now, rfc3339
from core.db import tenant_context
from suppliers.orders.models import PurchaseOrder
from suppliers.orders.proposals.content import kept_totals
from tests import factories, races
from tests.procurement.budgets.budgets import amounts
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import Trade, act, approver, submitted
from tests.suppliers.deliveries.receiving.arrivals import place
from tests.suppliers.deliveries.shipping import read, receiver, shipped
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.orders.answers import accepted, answer, counters, held, moved, seen
from tests.suppliers.orders.test_reject import agree, client, consumed


def order_of(trade: Trade, **changes: Any) -> str:
    """Submit an order of 10 boxes of gloves and 5 masks, which the supplier accepts; return its id."""
    trade.shelf.stock(trade.gloves, 1000)
    trade.shelf.stock(trade.masks, 5)
    key: str = submitted(trade, (trade.gloves, 10), (trade.masks, 5), **changes)["id"]
    accepted(trade, key)
    return key


def left(trade: Trade, key: str, quantity: int) -> str:
    """Let base units of the first line leave the supplier; return the delivery."""
    found: str = shipped(trade, seen(trade, key), quantity)["id"]
    return found


def came(trade: Trade, delivery: str, **said: Any) -> None:
    """Let the buyer say what became of goods of a delivery."""
    line = {
        "delivery_line_id": read(trade.buyer.api, delivery)["lines"][0]["id"],
        "unit": "base",
        "accepted_quantity": 0,
    }
    body = {"received_at": rfc3339(now()), "location_id": place(trade.buyer)["location_id"], "lines": [line | said]}
    answered = receiver(trade).post(f"/v1/procurement/deliveries/{delivery}/receipts", json=body)
    assert answered.status_code == 201, answered.content


def billed(trade: Trade, key: str, quantity: int) -> None:
    """Let the supplier bill base units of the first line at its price."""
    line = trade.read(key)["lines"][0]
    price = {name: line["snapshot"][name] for name in ("unit_price", "price_base_quantity")}
    body = {
        "invoice_number": f"INV-{factories.suffix()}",
        "issue_date": now().date().isoformat(),
        "lines": [{"order_line_id": line["id"], "quantity": quantity, "unit": "base"} | price],
    }
    answered = trade.shelf.api.post(f"/v1/orders/{key}/invoices", json=body)
    assert answered.status_code == 201, answered.content


def items(trade: Trade) -> list[tuple[str, int, int]]:
    """Return what the supplier was told of lines: type, line, cancelled."""
    from ledger.public import Event

    with tenant_context(trade.shelf.id):
        rows = Event.objects.filter(tenant_id=trade.shelf.id, resource_type="order_item").order_by("occurred_at", "id")
        return [(row.type, row.data["line_no"], row.data["cancelled"]) for row in rows]


def test_an_accepted_order_is_cancelled_while_nothing_is_shipped(trade: Trade) -> None:
    put_budget(approver(trade), "wards", amount="60")
    agree(trade, 1500)
    key = order_of(trade, budget={"code": "wards"})
    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal("42.67")

    answered = act(trade, key, "cancel", reason="Ordered twice")

    assert answered.status_code == 200, answered.content
    assert (answered.json()["data"]["status"], seen(trade, key)["status"]) == ("cancelled", "cancelled")
    assert counters(trade) == [(1000, 0, 0, 1000), (5, 0, 0, 5)]
    assert held(trade) == [(1000, 0), (5, 0)]
    assert (amounts(trade.buyer.tenant)["wards"][0], consumed(trade)) == (0, ([0], [0]))
    assert [one.status for one in trade.shelf.reservations()] == ["released", "released"]
    assert trade.facts(trade.shelf.tenant)[-1][0] == "order.cancelled"
    body = refused(act(trade, key, "close"), 409, "invalid_transition")
    assert (body["from"], body["action"], body["allowed"]) == ("cancelled", "close", [])


def test_the_supplier_settles_until_when(trade: Trade) -> None:
    trade.shelf.settle(cancel_until="accepted")
    key = order_of(trade)

    refused(act(trade, key, "cancel"), 409, "cancellation_not_allowed")
    refused(act(trade, key, "cancel", remainder=True), 409, "cancellation_not_allowed")

    assert trade.read(key)["status"] == "accepted"
    assert counters(trade) == [(1000, 1000, 0, 0), (5, 5, 0, 0)]


def test_what_is_not_shipped_is_cancelled(trade: Trade) -> None:
    put_budget(approver(trade), "wards", amount="60")
    agree(trade, 1500)
    key = order_of(trade, budget={"code": "wards"})
    left(trade, key, 400)
    refused(act(trade, key, "cancel"), 409, "already_shipped")

    data = act(trade, key, "cancel", remainder=True).json()["data"]

    assert (data["status"], data["fulfilment_status"], seen(trade, key)["fulfilment_status"]) == (
        "accepted", "shipped", "shipped",
    )  # fmt: skip
    assert [one["line_status"] for one in data["lines"]] == ["shipped", "cancelled"]
    assert counters(trade) == [(1000, 400, 0, 600), (5, 0, 0, 5)]
    assert held(trade) == [(600, 0), (5, 0)]
    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal("16.40")
    assert consumed(trade) == ([400], [400])
    assert items(trade) == [("order_item.updated", 1, 600), ("order_item.updated", 2, 5)]
    with tenant_context(trade.buyer.id):
        row = PurchaseOrder.objects.get(tenant_id=trade.buyer.id, pk=key)
    assert (row.gross, row.given_back) == (Decimal("16.40"), Decimal(0))
    refused(act(trade, key, "cancel", remainder=True), 409, "already_shipped")


def test_a_rest_of_everything_cancels_the_order(trade: Trade) -> None:
    key = order_of(trade)

    assert act(trade, key, "cancel", remainder=True).json()["data"]["status"] == "cancelled"

    assert counters(trade) == [(1000, 0, 0, 1000), (5, 0, 0, 5)]
    assert items(trade) == []


def test_a_rest_is_of_accepted_orders_only(trade: Trade) -> None:
    key = submitted(trade)["id"]

    body = refused(act(trade, key, "cancel", remainder=True), 409, "invalid_transition")

    assert (body["from"], body["action"]) == ("sent", "cancel")


def test_close_cancels_what_will_not_come(trade: Trade) -> None:
    put_budget(approver(trade), "wards", amount="60")
    key = order_of(trade, budget={"code": "wards"})
    delivery = left(trade, key, 500)
    came(trade, delivery, accepted_quantity=300)
    body = refused(act(trade, key, "close"), 409, "open_delivery")
    assert [one["pointer"] for one in body["errors"]] == ["/lines/0"]
    came(trade, delivery, rejected_quantity=150, rejection_reason="damaged", short_quantity=50)
    body = refused(act(trade, key, "close"), 409, "open_invoice")
    assert [one["pointer"] for one in body["errors"]] == ["/lines/0"]
    billed(trade, key, 300)

    data = act(trade, key, "close", reason="Enough").json()["data"]

    assert (data["status"], data["fulfilment_status"]) == ("closed", "received")
    assert data["closed_at"] == seen(trade, key)["closed_at"] is not None
    assert counters(trade) == [(1000, 300, 0, 700), (5, 0, 0, 5)]
    assert held(trade) == [(500, 0), (5, 0)]
    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal("14.70")
    assert (trade.facts()[-1][0], trade.facts(trade.shelf.tenant)[-1][0]) == ("purchase_order.closed", "order.closed")
    assert refused(act(trade, key, "cancel"), 409, "invalid_transition")["from"] == "closed"


def test_the_rest_of_an_order_that_is_received_and_invoiced_closes_it(trade: Trade) -> None:
    key = order_of(trade)
    came(trade, left(trade, key, 1000), accepted_quantity=1000)
    billed(trade, key, 1000)

    data = act(trade, key, "cancel", remainder=True).json()["data"]

    assert data["status"] == "closed"
    assert [kind for kind, *_ in trade.facts()][-2:] == ["purchase_order.cancelled", "purchase_order.closed"]
    assert counters(trade) == [(1000, 1000, 0, 0), (5, 0, 0, 5)]


def test_spending_counts_what_was_kept(trade: Trade) -> None:
    from tests.procurement.purchasing.test_submit import relate

    relate(trade, spend_limit={"amount": "60.00", "currency": "EUR", "period": "year"})
    key = order_of(trade)
    moved(trade, key, shipped=100)
    draft = trade.draft((trade.gloves, 10))
    refused(act(trade, draft["id"], "submit"), 409, "spend_limit_exceeded")

    assert act(trade, key, "cancel", remainder=True).status_code == 200

    assert act(trade, draft["id"], "submit").status_code == 200


@pytest.mark.parametrize("action", ["cancel", "close"])
def test_an_answer_and_an_end_at_once(trade: Trade, action: str) -> None:
    trade.shelf.stock(trade.masks, 1000)
    for _ in range(4):
        key = submitted(trade, (trade.masks, 5))["id"]
        one, other = trade.buyer.client(), client(trade)

        found = races.race(
            lambda api=one, key=key: api.post(f"/v1/purchase-orders/{key}/{action}", json={}),
            lambda api=other, key=key: answer(trade, key, "accept", api=api),
        )

        assert {each.status_code for each in found} <= {200, 409}
        state = trade.read(key)["status"]
        assert state == {"cancel": "cancelled", "close": "closed"}[action] or found[0].status_code == 409
        trade.stored()


def test_gross_that_is_kept_is_rounded_by_groups_of_tax() -> None:
    row = PurchaseOrder(currency="EUR", tax=Decimal("3.01"), gross=Decimal(20))
    line = {"price_base_quantity": 1, "tax_category": "standard"}
    from suppliers.orders.models import PurchaseOrderLine

    lines = [
        PurchaseOrderLine(ordered=3, cancelled=1, net=Decimal("10.00"), tax_rate=Decimal(19), **line),
        PurchaseOrderLine(ordered=3, cancelled=0, net=Decimal("5.00"), tax_rate=Decimal(19), **line),
        PurchaseOrderLine(ordered=3, cancelled=3, net=Decimal("1.99"), tax_rate=Decimal(7), **line),
    ]
    # 6.67 + 5.00 = 11.67, and 2.2173 of tax.
    assert kept_totals(row, lines)["gross"] == Decimal("13.89")
