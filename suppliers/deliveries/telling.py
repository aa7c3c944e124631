"""What both parties are told of deliveries. Source: contract, supply.md 3.4, 8 and 10."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from core import clock
from ledger.public import Occurrence
from suppliers.orders.models import PurchaseOrderLine

from .events import EVENTS, DeliveryCancelled, ReceiptEvent
from .models import Delivery, DeliveryLine
from .receipt_models import Receipt
from .shipment_models import ShipmentDraft
from .tally import Count

BUYER, SUPPLIER = "buyer", "supplier"
_NOTHING: Final = Count()


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """What has happened to a delivery: its state before, the side that acted, and what was counted, by the ids of lines."""

    was: str | None
    by: str
    reason: str = ""
    exception: str | None = None
    counts: Mapping[UUID, Count] = field(default_factory=dict)
    receipt: Receipt | None = None


def told(
    row: Delivery,
    names: Sequence[str],
    lines: Iterable[DeliveryLine],
    ordered: Mapping[UUID, PurchaseOrderLine],
    what: Happened,
    *,
    is_managed: bool = False,
) -> dict[UUID, list[Occurrence]]:
    """Return what the parties are told of a delivery that has just changed, by the names of the types of events.

    It is to be called once the new versions stand in the row. `ordered` are the lines of the order by their ids. A managed
    supplier is told nothing.
    """
    about, receipt = [*lines], what.receipt
    given: dict[str, Any] = {
        "supplier_id": str(row.supplier_tenant_id), "buyer_id": str(row.tenant_id), "purchase_order_id": str(row.order_id),
        "delivery_number": row.number, "order_number": row.order_number, "po_number": row.po_number, "status": row.status,
        "was": what.was, "by": what.by, "exception": what.exception, "reason": what.reason,
        "lines": [_line(one) for one in about], "promised": [_promised(one, ordered, what) for one in about],
        "shipped_at": clock.rfc3339(row.shipped_at), "delivery_location_id": str(row.delivery_location_id),
        "delivered_at": clock.rfc3339(row.delivered_at) if row.delivered_at else None,
    }  # fmt: skip
    received: dict[str, Any] = {}
    if receipt is not None:
        received = {
            "receipt_id": str(receipt.id), "reverses": str(receipt.reverses_id) if receipt.reverses_id else None,
            "lines": [{**_line(one), **what.counts[one.id]._asdict()} for one in about],
        }  # fmt: skip
    kinds = [EVENTS[name] for name in names]
    facts = [kind(**(given | received if issubclass(kind, ReceiptEvent) else given)) for kind in kinds]
    found = {row.tenant_id: [Occurrence(one, row.pk, row.version) for one in facts]}
    if not is_managed:
        found[row.supplier_tenant_id] = [Occurrence(one, row.pk, row.shared_version) for one in facts]
    return found


def _line(line: DeliveryLine) -> dict[str, Any]:
    """Return what is told of a line: its number, product, lot and base units."""
    return {
        "line_no": line.line_no,
        "product_id": str(line.product_id) if line.product_id else None,
        "lot_number": line.lot_number or None,
        "base_quantity": line.base_quantity,
    }


def _promised(line: DeliveryLine, ordered: Mapping[UUID, PurchaseOrderLine], what: Happened) -> dict[str, Any]:
    """Return what the ledger alone keeps of a line: its category, when it was promised, and what was counted."""
    date = ordered[line.order_line_id].promised_date
    return {
        "line_no": line.line_no, "promised_date": date.isoformat() if date else None, "category": line.category,
        **what.counts.get(line.id, _NOTHING)._asdict(),
    }  # fmt: skip


def cancelled(row: ShipmentDraft, was: str, reason: str) -> Occurrence:
    """Return what the supplier is told of a shipment in preparation that was cancelled."""
    event = DeliveryCancelled(
        supplier_id=str(row.tenant_id), buyer_id=str(row.buyer_tenant_id), purchase_order_id=str(row.order_id),
        delivery_number=None, order_number=row.order_number, po_number=None, status=row.status, was=was, by=SUPPLIER,
        reason=reason,
    )  # fmt: skip
    return Occurrence(event, row.pk, row.version)
