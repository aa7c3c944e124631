"""What a receipt or its reversal makes of the invoices of an order: one function for whoever receives.

Source: contract, supply-invoice.md 2 and supply-order.md 4.
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from core.db import needs_transaction
from core.pipeline import run
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
    if not any(one.invoiced for one in lines.values()):
        return None
    found = billed_of(run(billed_calls(order.tenant_id, order.pk, by="order")))
    if found is None:
        return None
    return Billed(order, dict(lines), found.invoices, found.of, found.rules)


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
