"""How far the bills of orders are whose invoices a payment moves. Source: contract, supply-order.md 2: `paid` when every invoice is paid."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from core.pipeline import Rows, Statement
from suppliers.invoices.models import Invoice
from suppliers.invoices.states import InvoiceStatus, InvoiceType
from suppliers.orders.models import PurchaseOrder
from suppliers.orders.states import Billing

_OWES_NOTHING: Final = (InvoiceStatus.PAID.value, InvoiceStatus.REJECTED.value, InvoiceStatus.CANCELLED.value)


class Bill(NamedTuple):
    """What is to be known of an order beside the invoices at hand: whether all is invoiced, and whether others are unpaid."""

    order_id: UUID
    is_invoiced: bool
    has_unpaid: bool


def bills(which: str) -> Statement:
    """Return the statement that reads the bills of the orders of invoices; `which` is SQL about the id of an invoice."""
    ended = ", ".join(f"'{one}'" for one in _OWES_NOTHING)
    return Statement.of(
        "SELECT o.id AS order_id, NOT EXISTS (SELECT 1 FROM suppliers_purchaseorderline l WHERE l.tenant_id = $1"
        " AND l.order_id = o.id AND l.invoiced < l.ordered - l.cancelled) AS is_invoiced,"
        " EXISTS (SELECT 1 FROM suppliers_invoice i WHERE i.tenant_id = $1 AND i.order_id = o.id AND NOT (i.id"
        f" {which}) AND i.type <> '{InvoiceType.CREDIT_NOTE}' AND i.status NOT IN ({ended})) AS has_unpaid"
        " FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.id IN"
        f" (SELECT i.order_id FROM suppliers_invoice i WHERE i.tenant_id = $1 AND i.id {which})",
        row=Bill,
    )


def bills_of(found: Rows) -> dict[UUID, Bill]:
    """Return the bills that `bills` has read, by their orders."""
    return {one.order_id: one for one in found.of(Bill)}


def rebilled(
    orders: Mapping[UUID, PurchaseOrder], bill_of: Mapping[UUID, Bill], invoices: Iterable[Invoice]
) -> list[PurchaseOrder]:
    """Let orders say how far their bills are, in memory; return those that changed."""
    unpaid = {one.order_id for one in invoices if one.status not in _OWES_NOTHING}
    changed = []
    for key, order in sorted(orders.items()):
        bill = bill_of[key]
        is_paid = not bill.has_unpaid and key not in unpaid
        now = Billing.PAID if is_paid else Billing.INVOICED if bill.is_invoiced else Billing.PARTIALLY_INVOICED
        if order.billing_status != now.value:
            order.billing_status = now.value
            changed.append(order)
    return changed
