"""Stock that was allocated to orders breaks: what was accepted of it is backordered, as far as nothing of it is shipped.

Source: contract, supply-shelf.md "Adjustment line" and "Recall"; supply.md 5 "Who starts at stock".
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from core import clock
from core.arrays import array_literal
from core.db import bind_call, needs_transaction
from core.errors import Busy
from core.model_rows import lock_call, rows_of
from core.pipeline import Call, Statement, run
from core.watermark import mark_call
from ledger.public import Occurrence
from organizations.public import Part
from suppliers.inventory.models import Reservation
from suppliers.inventory.reservations import changes
from suppliers.inventory.reservations.order_books import Books, Broken, Promised

from .course import Who
from .item_events import OrderItemUpdated, told_of_items
from .models import PurchaseOrder, PurchaseOrderLine
from .progress import delivered
from .sending import order_part, saving_calls
from .states import TERMINAL

_SAVED: Final = ("accepted", "backordered", "backorder_date")
_ORDER: Final = ", ".join(f'"{one.column}"' for one in PurchaseOrder._meta.concrete_fields)
_LINE: Final = ", ".join(f'"{one.column}"' for one in PurchaseOrderLine._meta.concrete_fields)
_NAMED: Final = (
    "(SELECT l.order_id FROM suppliers_purchaseorderline l WHERE l.tenant_id = $1 AND l.id = ANY($2::uuid[]))"
)
_ORDERS_OF = Statement.of(
    "SELECT DISTINCT l.order_id::text FROM suppliers_purchaseorderline l WHERE l.tenant_id = $1 AND l.id = ANY($2::uuid[])"
)
# What this transaction holds already is not passed by.
_TAKE = Statement.of(
    f"SELECT {_ORDER} FROM suppliers_purchaseorder WHERE tenant_id = $1 AND id IN {_NAMED} ORDER BY id FOR UPDATE SKIP LOCKED"
)
_LINES = Statement.of(f"SELECT {_LINE} FROM suppliers_purchaseorderline WHERE tenant_id = $1 AND id = ANY($2::uuid[])")


@needs_transaction
def _hold(supplier_id: UUID, promised: Sequence[Promised]) -> None:
    """Lock orders by their ids, each bound to its buyer."""
    by_buyer: dict[UUID, list[UUID]] = defaultdict(list)
    for one in promised:
        by_buyer[one.buyer_id].append(one.line_id)
    calls = [
        call
        for buyer_id, lines in sorted(by_buyer.items())
        for call in (bind_call(buyer_id), Call(_ORDERS_OF, [str(buyer_id), array_literal(lines)]))
    ]
    found = run(calls)[1::2]
    orders = sorted(
        (UUID((rows.value(number) or b"").decode()), buyer_id)
        for buyer_id, rows in zip(sorted(by_buyer), found, strict=True)
        for number in range(len(rows))
    )
    locks = [
        call for key, buyer_id in orders for call in (bind_call(buyer_id), lock_call(PurchaseOrder, buyer_id, key))
    ]
    run([*map(mark_call, sorted(by_buyer)), *locks, bind_call(supplier_id)])


@needs_transaction
def _broken(supplier_id: UUID, rows: Sequence[Reservation], at: datetime) -> Broken:
    """Let accepted lines lose what has broken.

    :raises Busy: somebody else has one of the orders.
    """
    at = max(at, clock.now())  # behind the marks of `_hold`
    lost: dict[UUID, dict[UUID, int]] = defaultdict(lambda: defaultdict(int))
    for one in rows:
        assert one.purchase_order_line_id is not None
        lost[one.buyer_tenant_id][one.purchase_order_line_id] += one.base_quantity
    calls = []
    for buyer_id in sorted(lost):
        given = [str(buyer_id), array_literal(sorted(lost[buyer_id]))]
        calls += [bind_call(buyer_id), Call(_TAKE, given), Call(_LINES, given)]
    found = run([*calls, bind_call(supplier_id)])
    parts, told = list[Part](), dict[UUID, list[Occurrence]]()
    for number, buyer_id in enumerate(sorted(lost)):
        orders = {one.id: one for one in rows_of(PurchaseOrder, found[3 * number + 1])}
        lines = rows_of(PurchaseOrderLine, found[3 * number + 2])
        if {one.order_id for one in lines} - orders.keys():
            raise Busy
        for order in orders.values():
            mine = [one for one in lines if one.order_id == order.id and _lose(order, one, lost[buyer_id][one.id])]
            if mine:
                parts.append(order_part(order, saving_calls(order, mine, [], at, *_SAVED)))
                told = changes.joined(told, told_of_items(OrderItemUpdated, order, mine, by=Who.SUPPLIER))
    return parts, told


def _lose(order: PurchaseOrder, line: PurchaseOrderLine, quantity: int) -> bool:
    """Turn what has broken of a line from accepted to backordered, in memory; tell whether that changes anything."""
    if order.accepted_at is None or order.status in TERMINAL:
        return False
    less = max(0, min(quantity, line.accepted - max(0, delivered(line))))
    line.accepted -= less
    line.backordered += less
    if less:
        line.backorder_date = None  # it comes as soon as there is stock
    return less > 0


BOOKS: Final = Books(_hold, _broken)
