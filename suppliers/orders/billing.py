"""How far the bills of an order are, derived from what its lines count as invoiced.

The rooms of invoices lie above this one: whether all of an order's invoices are paid is a question that they answer.
Source: contract, supply-order.md 2.
"""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from core.pipeline import Call, Rows

from .models import PurchaseOrder, PurchaseOrderLine
from .states import Billing

# The buyer and the order; the statement is bound to the buyer and gives `true` where an invoice of the order is not paid.
_asked: list[Callable[[UUID, UUID], Call]] = []


def ask(question: Callable[[UUID, UUID], Call]) -> None:
    """Register the statement that tells whether an invoice of an order is not paid; the last registration holds."""
    _asked[:] = [question]


def unpaid_calls(row: PurchaseOrder, lines: Iterable[PurchaseOrderLine]) -> list[Call]:
    """Return the statement that tells whether an invoice of an order is not paid, bound to the buyer.

    There is none where nothing of the order is invoiced. `is_paid` reads it.
    """
    if not any(one.invoiced for one in lines):
        return []
    return [question(row.tenant_id, row.id) for question in _asked]


def is_paid(found: Sequence[Rows]) -> bool:
    """Tell whether all invoices of the order are paid."""
    return all(rows.value() != b"true" for rows in found)


def billing_of(lines: Iterable[PurchaseOrderLine], *, paid: bool) -> Billing:
    """Return how far the bills are; paid is an order of which all that is kept is invoiced, and every invoice paid."""
    of = [*lines]
    if not any(one.invoiced for one in of):
        return Billing.NOT_INVOICED
    if any(one.invoiced < one.ordered - one.cancelled - one.returned for one in of):
        return Billing.PARTIALLY_INVOICED
    return Billing.PAID if paid else Billing.INVOICED
