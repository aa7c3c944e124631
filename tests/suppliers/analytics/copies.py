"""Copies of orders, deliveries and receipts as a supplier has them, made of the facts of the naive model."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from core.clock import now, rfc3339
from core.pipeline import run
from suppliers.analytics.folding import fold
from suppliers.analytics.rolling import deliveries_calls, orders_calls
from suppliers.deliveries.models import ReceivedDelivery
from suppliers.deliveries.receipt_models import ReceivedReceipt
from suppliers.orders.models import ReceivedOrder

from .naive import Arrival, Line, Order


def _common(tenant_id: UUID, order: Order, key: UUID, at: datetime, status: str) -> dict[str, Any]:
    return {
        "id": key, "tenant_id": tenant_id, "owner_tenant_id": order.buyer, "number": str(key)[-12:], "status": status, "version": 1,
        "received_at": at, "updated_at": at,
    }  # fmt: skip


def _line(order: Order, number: int, line: Line) -> dict[str, Any]:
    return {
        "id": str(uuid5(order.id, f"line {number}")), "line_no": number, "product_id": str(line.product),
        "snapshot": {"category": line.category}, "ordered": line.ordered, "cancelled": line.cancelled,
        "accepted": line.accepted, "shipped": line.shipped, "line_total": str(line.net),
        "list_net": None if line.list_net is None else str(line.list_net),
        "promised_date": line.due.isoformat() if line.due else None, "requested_date": None,
    }  # fmt: skip


def _order(tenant_id: UUID, order: Order) -> ReceivedOrder:
    return ReceivedOrder(
        **_common(tenant_id, order, order.id, order.sent, "accepted"), po_number="P", fulfilment_status="none",
        billing_status="none", priority="routine",
        representation={
            "currency": order.currency, "accepted_at": rfc3339(order.accepted) if order.accepted else None,
            "sent_at": rfc3339(order.sent), "totals": {"net": str(sum(one.net for one in order.lines))},
        },
        lines=[_line(order, number, line) for number, line in enumerate(order.lines, 1)],
    )  # fmt: skip


def _delivery(
    tenant_id: UUID, order: Order, number: int, line: Line, one: Arrival
) -> tuple[ReceivedDelivery, ReceivedReceipt]:
    key, taken = uuid5(order.id, f"{number} {one.at} {one.units}"), one.units - one.rejected
    part = {
        "id": str(uuid5(key, "line")), "line_no": 1, "product_id": str(line.product), "base_quantity": one.units, "rejected": one.rejected,
        "short": 0, "returned": taken // 3, "order_line_id": str(uuid5(order.id, f"line {number}")),
    }  # fmt: skip
    delivery = ReceivedDelivery(
        **_common(tenant_id, order, key, one.at, "delivered"), order_id=order.id, order_number="O", po_number="P",
        tracking_number="", shipped_at=one.at, lines=[part],
        representation={"delivered_at": rfc3339(one.at), "to_location_id": str(order.location)},
    )  # fmt: skip
    receipt = ReceivedReceipt(
        **_common(tenant_id, order, uuid5(key, "receipt"), one.at, "recorded"), delivery_id=key,
        representation={
            "received_at": rfc3339(one.at), "reverses": None,
            "lines": [{"delivery_line_id": part["id"], "accepted": taken, "rejected": one.rejected}],
        },
    )  # fmt: skip
    return delivery, receipt


def write(tenant_id: UUID, orders: list[Order]) -> list[str]:
    """Write the copies as they are now; return the ids of the deliveries."""
    pairs = [
        _delivery(tenant_id, order, number, line, one)
        for order in orders
        for number, line in enumerate(order.lines, 1)
        for one in line.arrivals
    ]
    _put(tenant_id, ReceivedOrder, [_order(tenant_id, one) for one in orders])
    _put(tenant_id, ReceivedDelivery, [one for one, _ in pairs])
    _put(tenant_id, ReceivedReceipt, [one for _, one in pairs])
    return [str(one.id) for one, _ in pairs]


def _put(tenant_id: UUID, model: Any, rows: list[Any]) -> None:
    known = set(model.objects.filter(tenant_id=tenant_id).values_list("id", flat=True))
    model.objects.bulk_create([one for one in rows if one.id not in known])
    for one in (one for one in rows if one.id in known):
        model.objects.filter(tenant_id=tenant_id, id=one.id).update(representation=one.representation, lines=one.lines)


def follow(tenant_id: UUID, orders: list[Order]) -> None:
    """Write the copies as they are now, and let the roll-ups follow them."""
    deliveries = write(tenant_id, orders)
    run(orders_calls(tenant_id, [str(one.id) for one in orders]))
    if deliveries:
        run(deliveries_calls(tenant_id, deliveries))


def summed_up(tenant_id: UUID) -> int:
    """Sum up what roll-ups there are, as if it were two days later; return how many."""
    total, at = 0, now() + timedelta(days=2)
    while done := fold(tenant_id, at):
        total += done
    return total
