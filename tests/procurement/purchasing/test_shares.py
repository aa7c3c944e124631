"""What a buyer may take of an offer in a shortage: counted over its orders, and told by stock, catalog and quotes."""

from datetime import date, timedelta
from typing import Any

from core.clock import now
from core.db import tenant_context
from suppliers.marketplace.models import Offer
from tests.procurement.approvals.desk import Desk
from tests.procurement.purchasing.orders import Trade, act, submitted
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.quoting import worlds

SUBMITTED, SENT, PLACED = "purchase_order.submitted", "purchase_order.sent", "order.placed"


def test_a_share_in_a_shortage_is_counted_over_orders(trade: Trade) -> None:
    with tenant_context(trade.shelf.id):
        rows = Offer.objects.filter(tenant_id=trade.shelf.id, product_id=trade.gloves["id"])
        rows.update_versions(
            limit_quantity=15, limit_period_days=7, limit_until=date.today() + timedelta(days=9), at=now()
        )
    first, second = submitted(trade, (trade.gloves, 10)), trade.draft((trade.gloves, 3), (trade.gloves, 3))

    body = refused(act(trade, second["id"], "submit"), 409, "allocation_exceeded")
    assert [(one["field"], one["remaining"]) for one in body["errors"]] == [("lines.0", 5), ("lines.1", 5)]
    assert [one[0] for one in trade.stored()] == ["sent", "draft"]
    assert act(trade, first["id"], "cancel").status_code == 200
    assert act(trade, second["id"], "submit").status_code == 200


def test_what_is_left_of_a_share_is_told(trade: Trade) -> None:
    until = date.today() + timedelta(days=9)
    with tenant_context(trade.shelf.id):
        rows = Offer.objects.filter(tenant_id=trade.shelf.id, product_id=trade.gloves["id"])
        rows.update_versions(limit_quantity=15, limit_period_days=7, limit_until=until, at=now())
    trade.shelf.stock(trade.gloves, 10_000)
    stock, catalog = "/v1/stock/availability?product_id=", "/v1/procurement/products"

    def told() -> list[Any]:
        shown = [
            *trade.buyer.api.get(stock + trade.gloves["id"]).json()["data"],
            *trade.buyer.api.get(f"{catalog}?supplier_id={trade.shelf.id}").json()["data"],
            trade.buyer.api.get(f"{catalog}/{trade.gloves['id']}").json()["data"],
        ]
        found = [one["allocation"] for one in shown if one["allocation"]]
        assert [(one["quantity"], one["until"]) for one in found] == [(15, until.isoformat())] * 3
        return [one["remaining"] for one in found]

    assert told() == [15] * 3
    order = submitted(trade, (trade.gloves, 10))
    assert told() == [5] * 3
    for quantity, is_orderable in ((5, True), (6, False)):
        (item,) = trade.buyer.api.get(f"{stock}{trade.gloves['id']}&quantity={quantity}").json()["data"]
        assert item["orderable_quantity"] is is_orderable
    assert act(trade, order["id"], "cancel").status_code == 200
    assert told() == [15] * 3


def test_quotes_know_what_is_taken_of_a_share(trade: Trade) -> None:
    def refusals(quantity: int) -> list[str | None]:
        one = worlds.line(trade.gloves, quantity)
        both = (worlds.quoted(trade.buyer, one), worlds.quoted_of(trade.shelf, trade.buyer, one))
        return [(found["items"][0]["refusal"] or {}).get("code") for found in both]

    with tenant_context(trade.shelf.id):
        rows = Offer.objects.filter(tenant_id=trade.shelf.id, product_id=trade.gloves["id"])
        rows.update_versions(
            limit_quantity=15, limit_period_days=7, limit_until=date.today() + timedelta(days=9), at=now()
        )
    assert refusals(15) == [None, None]
    first = submitted(trade, (trade.gloves, 10))
    assert (refusals(5), refusals(6)) == ([None, None], ["allocation_exceeded", "allocation_exceeded"])
    Desk(trade).policies(approval_steps=[{"over_amount": "10.00", "approvals": 1}])
    assert submitted(trade, (trade.gloves, 3))["status"] == "pending_approval"
    assert refusals(3) == ["allocation_exceeded", None]  # the supplier does not know of it yet
    assert act(trade, first["id"], "cancel").status_code == 200

    assert (refusals(12), refusals(15)) == ([None, None], ["allocation_exceeded", None])
