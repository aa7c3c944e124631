"""Short ways to ship accepted orders, and to look at what became of them on both sides."""

from datetime import date
from typing import Any

from core.db import tenant_context
from ledger.public import Event
from suppliers.deliveries.models import Delivery, DeliveryLine, ReceivedDelivery
from suppliers.inventory.models import Reservation, StockLevel, StockMovement
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from tests.factories import Api
from tests.procurement.purchasing.orders import Trade, price, submitted
from tests.suppliers.orders.answers import accepted

DELIVERIES = "/v1/procurement/deliveries"
LEFT = "2026-11-01T08:00:00Z"
LATE = date(2030, 1, 31)


def medicine(trade: Trade, *, tracking: str = "lot", units: int = 1, **more: Any) -> dict[str, Any]:
    """Make a product with lots on offer."""
    given = {"kind": "medicine", "tracking": tracking, "storage": {"min_c": "2.0", "max_c": "25.0"}} | more
    product = trade.shelf.product(units=units, **given)
    trade.shelf.offer(product, currency="EUR", tiers=price((1, "2.00")))
    return product


def placed(trade: Trade, *lines: Any, **changes: Any) -> dict[str, Any]:
    """Order and let the supplier accept; return the order as its supplier reads it."""
    return accepted(trade, submitted(trade, *lines, **changes)["id"])


def hall(trade: Trade) -> str:
    """Return the place of the supplier where its stock lies."""
    return str(trade.shelf.places.setdefault("hall", trade.shelf.places.get("hall") or trade.shelf.place()))


def body(trade: Trade, order: dict[str, Any], *quantities: Any, **more: Any) -> dict[str, Any]:
    """Return the body of a shipment: for each line of the order a quantity, or a mapping; None leaves it out."""
    lines = []
    for item, one in zip(order["items"], quantities, strict=False):
        for part in one if isinstance(one, list) else [one]:
            if part is not None:
                given = part if isinstance(part, dict) else {"quantity": part}
                lines.append({"order_line_id": item["id"], "unit": "base"} | given)
    return {"from_location_id": hall(trade), "lines": lines} | more


def post(trade: Trade, order: dict[str, Any], *quantities: Any, api: Api | None = None, **more: Any) -> Any:
    """Ask for a shipment that leaves at once."""
    given = {"dispatched_at": LEFT} | more
    path = f"/v1/orders/{order['id']}/shipments"
    return (api or trade.shelf.api).post(path, json=body(trade, order, *quantities, **given))


def shipped(trade: Trade, order: dict[str, Any], *quantities: Any, **more: Any) -> dict[str, Any]:
    """Let goods leave; return the delivery as its supplier reads it."""
    answer = post(trade, order, *quantities, **more)
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def prepared(trade: Trade, order: dict[str, Any], *quantities: Any, **more: Any) -> dict[str, Any]:
    """Prepare a shipment."""
    return shipped(trade, order, *quantities, dispatched_at=None, **more)


def patch(trade: Trade, order: dict[str, Any], key: str, *, api: Api | None = None, **change: Any) -> Any:
    """Change a shipment."""
    return (api or trade.shelf.api).patch(f"/v1/orders/{order['id']}/shipments/{key}", json=change)


def read(api: Api, key: str, query: str = "") -> dict[str, Any]:
    """Read a delivery."""
    answer = api.get(f"{DELIVERIES}/{key}{query}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def receiver(trade: Trade) -> Api:
    """Return a client of a member of the buyer that receives goods."""
    from tests import factories

    return factories.as_member(trade.buyer.tenant, ["receiving_clerk"])


def counted(trade: Trade) -> list[tuple[int, int, int]]:
    """Return of each order line what is accepted, shipped, short; and every rule holds on both sides."""
    trade.stored()
    with tenant_context(trade.buyer.id):
        rows = PurchaseOrderLine.objects.filter(tenant_id=trade.buyer.id).order_by("order__created_at", "line_no")
        return [(row.accepted, row.shipped, row.short) for row in rows]


def fulfilment(trade: Trade) -> list[str]:
    """Return how far the orders are."""
    with tenant_context(trade.buyer.id):
        rows = PurchaseOrder.objects.filter(tenant_id=trade.buyer.id).order_by("created_at")
        return [row.fulfilment_status for row in rows]


def stock(trade: Trade) -> list[tuple[int, int]]:
    """Return on hand and reserved of each level, in the order in which they were made."""
    with tenant_context(trade.shelf.id):
        rows = StockLevel.objects.filter(tenant_id=trade.shelf.id).order_by("created_at", "id")
        return [(row.on_hand, row.reserved) for row in rows]


def reservations(trade: Trade) -> list[tuple[str, int]]:
    """Return the reservations of the supplier: status and base units."""
    with tenant_context(trade.shelf.id):
        rows = Reservation.objects.filter(tenant_id=trade.shelf.id).order_by("id")
        return [(row.status, row.base_quantity) for row in rows]


def movements(trade: Trade) -> list[tuple[int, str]]:
    """Return what has left: base units, lot."""
    with tenant_context(trade.shelf.id):
        rows = StockMovement.objects.filter(tenant_id=trade.shelf.id, type="shipment").order_by("created_at", "id")
        return [(row.quantity, row.lot_number) for row in rows]


def deliveries(trade: Trade) -> list[tuple[str, int]]:
    """Return the deliveries of the buyer, each with a copy of the same state at the supplier: status, lines."""
    with tenant_context(trade.buyer.id):
        own = [*Delivery.objects.filter(tenant_id=trade.buyer.id).order_by("created_at", "id")]
        lines = DeliveryLine.objects.filter(tenant_id=trade.buyer.id).count()
    with tenant_context(trade.shelf.id):
        copies = [*ReceivedDelivery.objects.filter(tenant_id=trade.shelf.id).order_by("received_at", "id")]
    assert [(row.id, row.status, row.shared_version) for row in own] == [
        (row.id, row.status, row.version) for row in copies
    ]
    assert lines == sum(row.lines_total for row in own)
    return [(row.status, row.lines_total) for row in own]


def facts(trade: Trade, tenant: Any, *, of: str = "delivery") -> list[tuple[str, str, str]]:
    """Return what a party was told: type, state, who acted."""
    with tenant_context(tenant.id):
        rows = Event.objects.filter(tenant_id=tenant.id, resource_type=of).order_by("occurred_at", "id")
        return [(row.type, row.data["status"], row.data["by"]) for row in rows]
