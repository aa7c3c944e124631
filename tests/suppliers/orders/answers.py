"""Short ways for a supplier to answer orders, and to look at what became of them on both sides."""

from typing import Any

from django.db import transaction

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from organizations.public import write_documents
from suppliers.inventory.models import StockLevel
from suppliers.orders.models import ORDERS as ORDERS_KIND
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine, ReceivedOrderLine
from suppliers.orders.progress import fulfilment_of
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


def moved(trade: Trade, key: str, **values: int) -> None:
    """Let the first line of an order have other counters, as deliveries and invoices write them, with the copy."""
    at = now()
    with tenant_context(trade.buyer.id):
        rows = PurchaseOrderLine.objects.filter(tenant_id=trade.buyer.id, order_id=key)
        lines = list(rows.order_by("line_no"))
        for name, value in values.items():
            setattr(lines[0], name, value)
        lines[0].save_version(*values, at=at)
        order = PurchaseOrder.objects.get(tenant_id=trade.buyer.id, pk=key)
        order.fulfilment_status = fulfilment_of(lines).value
        order.save_version("fulfilment_status", at=at)
        with transaction.atomic():
            write_documents(system_actor(trade.buyer.id), trade.buyer.id, [(ORDERS_KIND, order.id)], [], told={}, at=at)
