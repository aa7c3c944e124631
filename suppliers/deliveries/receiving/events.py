"""Event types of receipts, told to both parties of a delivery. Source: contract, supply.md 8 and 10."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import UUID

from core import clock
from ledger.public import Occurrence, register
from suppliers.deliveries.events import DeliveryEvent
from suppliers.deliveries.models import Delivery, DeliveryLine
from suppliers.deliveries.receipt_models import Receipt
from suppliers.orders.models import PurchaseOrderLine

from .tally import Count


@dataclass(frozen=True, kw_only=True)
class ReceiptEvent(DeliveryEvent):
    """What was received of a delivery; `lines` are those of the receipt, with base units of this receipt alone."""

    receipt_id: str
    reverses: str | None = field(metadata={"example": None})
    delivered_at: str | None = None
    promised: list[dict[str, Any]] = field(default_factory=list)

    figures: ClassVar[tuple[str, ...]] = (*DeliveryEvent.figures, "delivered_at", "promised")


@register
@dataclass(frozen=True, kw_only=True)
class DeliveryReceived(ReceiptEvent):
    """The buyer has received a part of the delivery or all of it, or has reversed a receipt."""

    type: ClassVar[str] = "delivery.received"


@register
@dataclass(frozen=True, kw_only=True)
class DeliveryCompleted(ReceiptEvent):
    """All that was shipped is accepted, rejected or short."""

    type: ClassVar[str] = "delivery.completed"


Counted = Iterable[tuple[DeliveryLine, PurchaseOrderLine, Count]]


def told_of_receipt(
    row: Delivery, receipt: Receipt, counted: Counted, *, was: str, is_completed: bool, is_managed: bool
) -> dict[UUID, list[Occurrence]]:
    """Return what the parties are told of a receipt of a delivery, which has just changed; a managed supplier nothing.

    It is to be called once the new versions stand in the row.
    """
    held = list(counted)
    given: dict[str, Any] = {
        "supplier_id": str(row.supplier_tenant_id), "buyer_id": str(row.tenant_id), "purchase_order_id": str(row.order_id),
        "delivery_number": row.number, "order_number": row.order_number, "po_number": row.po_number, "status": row.status,
        "was": was, "by": "buyer", "receipt_id": str(receipt.id),
        "reverses": str(receipt.reverses_id) if receipt.reverses_id else None,
        "lines": [_line(line, count) for line, _, count in held],
        "promised": [_promised(line, ordered) for line, ordered, _ in held],
        "shipped_at": clock.rfc3339(row.shipped_at), "delivery_location_id": str(row.delivery_location_id),
        "delivered_at": clock.rfc3339(row.delivered_at) if row.delivered_at else None,
    }  # fmt: skip
    kinds = [DeliveryReceived, *([DeliveryCompleted] if is_completed else [])]
    facts = [kind(**given) for kind in kinds]
    found = {row.tenant_id: [Occurrence(one, row.pk, row.version) for one in facts]}
    if not is_managed:
        found[row.supplier_tenant_id] = [Occurrence(one, row.pk, row.shared_version) for one in facts]
    return found


def _line(line: DeliveryLine, count: Count) -> dict[str, Any]:
    return {
        "line_no": line.line_no,
        "product_id": str(line.product_id) if line.product_id else None,
        "lot_number": line.lot_number or None,
        "base_quantity": line.base_quantity,
        **count._asdict(),
    }


def _promised(line: DeliveryLine, ordered: PurchaseOrderLine) -> dict[str, Any]:
    date = ordered.promised_date
    return {"line_no": line.line_no, "promised_date": date.isoformat() if date else None, "category": line.category}
