"""What a receipt or its reversal makes of the invoices of an order: one function for whoever receives.

Source: contract, supply-invoice.md 2 and supply-order.md 4.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from core.db import needs_transaction
from core.pipeline import Call, Rows, run
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine

from .billed import Billed, billed_calls, billed_of
from .matching import is_by_order
from .settling import Settled, Work, settle
from .states import RELEASED


@needs_transaction
def read_billed(order: PurchaseOrder, lines: Mapping[UUID, PurchaseOrderLine]) -> Billed | None:
    """Lock and read the invoices of an order that the caller holds with its lines; None where nothing of it is invoiced.

    The buyer is bound. The rows of the order are those of the caller.
    """
    asked = asking_calls(order, lines)
    return answered(order, lines, run(asked)) if asked else None


def asking_calls(order: PurchaseOrder, lines: Mapping[UUID, PurchaseOrderLine]) -> list[Call]:
    """Return the statements of `read_billed`, for a trip that goes on to what stands behind invoices in the lock order.

    There are none where nothing of the order is invoiced. `answered` reads their rows.
    """
    is_billed = any(one.invoiced for one in lines.values())
    return billed_calls(order.tenant_id, order.pk, by="order") if is_billed else []


def answered(order: PurchaseOrder, lines: Mapping[UUID, PurchaseOrderLine], found: Sequence[Rows]) -> Billed | None:
    """Return what `asking_calls` has read."""
    billed = billed_of(found) if found else None
    if billed is None:
        return None
    return Billed(order, dict(lines), billed.invoices, billed.of, billed.rules, billed.replaced)


def rematch(billed: Billed | None, at: datetime) -> Settled:
    """Match all open invoices of an order whose counters have moved; return what is to be saved and told."""
    return Settled() if billed is None else settle(Work(billed, at))


def released_units(billed: Billed | None) -> dict[UUID, int]:
    """Return how many base units of goods stand on released invoices and were not credited, by the lines of the order."""
    counts: dict[UUID, int] = {}
    if billed is None:
        return counts
    for invoice in billed.live():
        if str(invoice.status) in RELEASED:
            for line in billed.of[invoice.pk]:
                if not is_by_order(invoice, line):
                    counts[line.order_line_id] = counts.get(line.order_line_id, 0) + line.base_quantity - line.credited
    return counts
