"""What both parties are told of deliveries. Source: contract, supply.md 3.4, 8 and 10."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from core import clock
from ledger.public import Occurrence

from .events import EVENTS, DeliveryCancelled
from .models import Delivery, DeliveryLine
from .shipment_models import ShipmentDraft

BUYER, SUPPLIER = "buyer", "supplier"


def told(
    row: Delivery,
    names: Sequence[str],
    lines: Iterable[DeliveryLine] = (),
    *,
    was: str | None,
    by: str,
    reason: str = "",
    exception: str | None = None,
) -> dict[UUID, list[Occurrence]]:
    """Return what the parties are told of a delivery that has just changed, by the names of the types of events.

    It is to be called once the new versions stand in the row.
    """
    given: dict[str, Any] = {
        "supplier_id": str(row.supplier_tenant_id), "buyer_id": str(row.tenant_id), "purchase_order_id": str(row.order_id),
        "delivery_number": row.number, "order_number": row.order_number, "po_number": row.po_number, "status": row.status,
        "was": was, "by": by, "exception": exception, "lines": [line_of(vars(one)) for one in lines], "reason": reason,
        "shipped_at": clock.rfc3339(row.shipped_at), "delivery_location_id": str(row.delivery_location_id),
    }  # fmt: skip
    facts = [EVENTS[name](**given) for name in names]
    return {
        row.tenant_id: [Occurrence(one, row.pk, row.version) for one in facts],
        row.supplier_tenant_id: [Occurrence(one, row.pk, row.shared_version) for one in facts],
    }


def line_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told of a line: its number, product, lot and base units."""
    return {
        "line_no": line["line_no"],
        "product_id": str(line["product_id"]) if line["product_id"] else None,
        "lot_number": line["lot_number"] or None,
        "base_quantity": line["base_quantity"],
    }


def cancelled(row: ShipmentDraft, was: str, reason: str) -> Occurrence:
    """Return what the supplier is told of a shipment in preparation that was cancelled."""
    event = DeliveryCancelled(
        supplier_id=str(row.tenant_id), buyer_id=str(row.buyer_tenant_id), purchase_order_id=str(row.order_id),
        delivery_number=None, order_number=row.order_number, po_number=None, status=row.status, was=was, by=SUPPLIER,
        reason=reason,
    )  # fmt: skip
    return Occurrence(event, row.pk, row.version)
