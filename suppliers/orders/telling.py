"""What both parties are told of orders. Source: contract, supply.md 3.4, 8 and 10."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from core import clock
from ledger.public import Occurrence
from suppliers.pricing.amounts import sum_of

from .events import EVENTS
from .models import PurchaseOrder
from .states import OrderStatus, Party


def told(
    row: PurchaseOrder,
    buyer: Sequence[str] = (),
    supplier: Sequence[str] = (),
    *,
    was: str | None,
    by: str,
    reason: str = "",
    lines: Iterable[Mapping[str, Any]] = (),
) -> dict[UUID, list[Occurrence]]:
    """Return what the parties are told of an order that has just changed, by the names of the types of events.

    It is to be called once the new versions stand in the row. `lines` are the values of lines whose figures are kept.
    """
    kept = [figures_of(one) for one in lines]
    found = {row.tenant_id: _facts(row, buyer, was, by, reason, kept)}
    if supplier:
        found[row.supplier_tenant_id] = _facts(row, supplier, was, by, reason, kept)
    return found


def figures_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return what statistics need of a line."""
    return {
        "line_no": line["line_no"],
        "product_id": None if line["product_id"] is None else str(line["product_id"]),
        "category": line["category"],
        "base_quantity": line["ordered"],
        "net": f"{line['net']:f}",
        "list_net": None if line["list_net"] is None else f"{line['list_net']:f}",
    }


def _facts(
    row: PurchaseOrder, names: Sequence[str], was: str | None, by: str, reason: str, lines: list[dict[str, Any]]
) -> list[Occurrence]:
    return [_fact(row, name, was, by, reason, lines) for name in names]


def _fact(
    row: PurchaseOrder, name: str, was: str | None, by: str, reason: str, lines: list[dict[str, Any]]
) -> Occurrence:
    kind = EVENTS[name]
    is_buyer = kind.resource == "purchase_order"
    nets = [one["list_net"] for one in lines]
    event = kind(
        supplier_id=str(row.supplier_tenant_id), buyer_id=str(row.tenant_id), po_number=row.number,
        order_number=row.order_number or None, revision=row.revision, by=by, reason=reason,
        status=row.status if is_buyer else shared_status(row.status) or "",
        was=was if is_buyer else _shared_was(name, was),
        currency=row.currency, net=f"{row.net:f}",
        list_net=None if None in nets or not nets else f"{sum_of(map(Decimal, nets)):f}",
        delivery_location_id=str(row.delivery_location_id),
        sent_at=clock.rfc3339(row.sent_at) if row.sent_at else None,
        accepted_at=clock.rfc3339(row.accepted_at) if row.accepted_at else None, lines=lines,
    )  # fmt: skip
    return Occurrence(event, row.pk, row.version if is_buyer else row.shared_version)


def _shared_was(name: str, was: str | None) -> str | None:
    """Return the state before as the supplier reads it: none of an order that is new to him, whoever had to approve it."""
    return None if was is None or name == "order.placed" else shared_status(was)


def shared_status(status: str) -> str | None:
    """Return a state as the supplier reads it; he knows no draft, and of an approval only that a change waits."""
    if status == OrderStatus.DRAFT:
        return None
    return OrderStatus.CHANGE_PROPOSED.value if status == OrderStatus.PENDING_APPROVAL else str(status)


BUYER, SUPPLIER, SYSTEM = Party.BUYER.value, Party.SUPPLIER.value, "system"
