"""Short ways for a supplier to answer orders, and to look at what became of them on both sides."""

from typing import Any

from core.db import tenant_context
from suppliers.inventory.models import StockLevel
from suppliers.orders.models import PurchaseOrderLine, ReceivedOrderLine
from tests.factories import Api
from tests.procurement.purchasing.orders import Trade

ORDERS = "/v1/orders"
Counted = tuple[int, int, int, int]


def answer(trade: Trade, key: str, action: str, *, api: Api | None = None, **body: Any) -> Any:
    """Ask for an action of the supplier."""
    return (api or trade.shelf.api).post(f"{ORDERS}/{key}/{action}", json=body)


def accepted(trade: Trade, key: str, **body: Any) -> dict[str, Any]:
    """Accept an order; return it as the supplier reads it."""
    found = answer(trade, key, "accept", **body)
    assert found.status_code == 200, found.content
    data: dict[str, Any] = found.json()["data"]
    return data


def seen(trade: Trade, key: str) -> dict[str, Any]:
    """Read an order as its supplier."""
    found = trade.shelf.api.get(f"{ORDERS}/{key}")
    assert found.status_code == 200, found.content
    data: dict[str, Any] = found.json()["data"]
    return data


def counters(trade: Trade) -> list[Counted]:
    """Return of each line what is ordered, accepted, backordered, cancelled; and every rule holds on both sides."""
    trade.stored()
    with tenant_context(trade.buyer.id):
        rows = PurchaseOrderLine.objects.filter(tenant_id=trade.buyer.id).order_by("order__created_at", "line_no")
        return [(row.ordered, row.accepted, row.backordered, row.cancelled) for row in rows]


def held(trade: Trade) -> list[tuple[int, int]]:
    """Return on hand and reserved of each level, in the order in which they were made."""
    with tenant_context(trade.shelf.id):
        rows = StockLevel.objects.filter(tenant_id=trade.shelf.id).order_by("created_at", "id")
        return [(row.on_hand, row.reserved) for row in rows]


def waiting(trade: Trade) -> list[int]:
    """Return what the supplier's lines by product have backordered."""
    with tenant_context(trade.shelf.id):
        rows = ReceivedOrderLine.objects.filter(tenant_id=trade.shelf.id).order_by("document_id", "line_no")
        return [row.backordered for row in rows]
