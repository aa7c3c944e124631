"""Event types of single lines of orders, for both parties. Source: contract, supply.md 8 and 10.

Quantities are in base units. The dates that the supplier has promised, and the reason, stand in the figures, which no webhook tells.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID

from ledger.public import EventType, Occurrence, register

from .models import PurchaseOrder, PurchaseOrderLine


@dataclass(frozen=True, kw_only=True)
class OrderItemEvent(EventType):
    """What became of a line of an order; the version is that of the order."""

    resource: ClassVar[str] = "order_item"
    figures: ClassVar[tuple[str, ...]] = ("promised_date", "first_promised_date", "reason")

    order_id: str
    supplier_id: str
    buyer_id: str
    po_number: str = field(metadata={"example": "PO-000017"})
    order_number: str | None = field(metadata={"example": "SO-000042"})
    line_no: int
    product_id: str | None
    accepted: int
    backordered: int
    cancelled: int
    by: str = field(metadata={"example": "buyer"})
    promised_date: str | None = None
    first_promised_date: str | None = None
    reason: str = ""


@register
@dataclass(frozen=True, kw_only=True)
class OrderItemUpdated(OrderItemEvent):
    """What is accepted, backordered or cancelled of a line has changed."""

    type: ClassVar[str] = "order_item.updated"


@register
@dataclass(frozen=True, kw_only=True)
class OrderItemAllocated(OrderItemEvent):
    """Stock that has come was allocated to what was backordered of a line, which is accepted now."""

    type: ClassVar[str] = "order_item.allocated"


def told_of_items(
    kind: type[OrderItemEvent],
    row: PurchaseOrder,
    lines: Iterable[PurchaseOrderLine],
    *,
    by: str,
    reason: str = "",
    is_silent: bool = False,
) -> dict[UUID, list[Occurrence]]:
    """Return what the parties are told of lines, once the new versions stand in the order; `is_silent` leaves the supplier out."""
    found: dict[UUID, list[Occurrence]] = defaultdict(list)
    for line in lines:
        event = kind(
            order_id=str(row.id), supplier_id=str(row.supplier_tenant_id), buyer_id=str(row.tenant_id),
            po_number=row.number, order_number=row.order_number or None, line_no=line.line_no,
            product_id=None if line.product_id is None else str(line.product_id), accepted=line.accepted,
            backordered=line.backordered, cancelled=line.cancelled, by=by,
            promised_date=line.promised_date.isoformat() if line.promised_date else None,
            first_promised_date=line.first_promised_date.isoformat() if line.first_promised_date else None,
            reason=reason,
        )  # fmt: skip
        found[row.tenant_id].append(Occurrence(event, line.id, row.version))
        if not is_silent:
            found[row.supplier_tenant_id].append(Occurrence(event, line.id, row.shared_version))
    return found
