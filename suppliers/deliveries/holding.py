"""Suspect goods of a delivery, whichever side reports them: the buyer's lots of them are held back.

Goods that come later are held back when they are received. Source: contract, supply-order.md 3.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from core.arrays import array_literal
from core.db import needs_transaction
from core.pipeline import Call, run
from suppliers.inventory.movements.held_back import HeldBack, hold_back, locking
from suppliers.inventory.movements.shelving import LotRow

from .models import Delivery, DeliveryLine

SUSPECT: Final = "Suspect goods"
# Of the lines $2: what was shipped, and what the buyer has confirmed in its place.
_LOTS = locking(
    "SELECT d.product_id, d.lot_number FROM suppliers_deliveryline d WHERE d.tenant_id = $1 AND d.id = ANY($2::uuid[])"
    " UNION SELECT d.product_id, c.lot_number FROM suppliers_receiptline c JOIN suppliers_deliveryline d"
    " ON d.tenant_id = c.tenant_id AND d.id = c.delivery_line_id AND d.tenant_id = $1"
    " WHERE c.tenant_id = $1 AND c.delivery_line_id = ANY($2::uuid[]) AND c.differs"
)


@needs_transaction
def hold_lines(row: Delivery, lines: Sequence[DeliveryLine], note: str, at: datetime, *, by: str) -> HeldBack:
    """Hold the buyer's lots of some lines back; the buyer is bound, and its delivery locked."""
    ids = [one.id for one in lines if one.lot_number]
    if not ids:
        return HeldBack()
    (found,) = run([Call(_LOTS, [str(row.tenant_id), array_literal(ids)])])
    return hold_back(row.tenant_id, found.of(LotRow), note or SUSPECT, at, by=by)
