"""Backorders: when stock comes, it is allocated to the lines that wait for it, by the priority of their orders, then by age.

What the supplier has put off to a day waits for that day, by the date at the supplier, or for further stock of its product: what
lay there when it was put off is not for it.

The relay rings behind the commit of facts by which stock can come; a sweep looks at every supplier with waiting lines too, so that
what a batch left is done by the next one. Each batch is one transaction: orders by their ids, then levels.
Source: contract, supply-order.md 2 "The supplier's answer"; supply.md 5.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Q

from core import clock
from core.actor import system_actor
from core.arrays import array_literal
from core.db import bind_call, needs_transaction, tenant_context
from core.model_rows import lock_call, row_of
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from core.watermark import mark_call
from ledger.public import Event, Fact
from organizations.public import Part, write_together
from suppliers.company.today import today_call, today_of, today_sql
from suppliers.inventory.reservations import changes
from suppliers.rounds import by_rounds

from .allocating import Wish, allocate_all, stock_calls, stock_of
from .finding import lines_call, lines_of
from .item_events import OrderItemAllocated, told_of_items
from .models import PurchaseOrder, PurchaseOrderLine, ReceivedOrderLine
from .progress import asked_for, drop_dates, promise
from .sending import order_part, saving_calls
from .states import TERMINAL

SUBSCRIBER: Final = "suppliers.follow_stock"
FOLLOWED: Final = (
    "stock.adjusted", "stock.transferred", "stock.replenished", "lot.released", "reservation.released",
    "reservation.expired", "reservation.broken", "order.cancelled", "order.rejected", "order.closed", "order_item.updated",
)  # fmt: skip
_MOVED: Final = ("stock.adjusted", "stock.transferred")
BATCH: Final = 20  # orders of one transaction
_MOST_BATCHES: Final = 50  # of one call; the sweep goes on
_QUEUE: Final = "suppliers.allocate_backorders"
_BY: Final = "system"
_SAVED: Final = ("accepted", "backordered", "promised_date", "first_promised_date", "backorder_date")
_EASTERNMOST: Final = timedelta(hours=14)  # there it is tomorrow first
_rounds = Rounds()


class _Waiting(NamedTuple):
    """An order with a line that waits, and its buyer."""

    order_id: UUID
    buyer_id: UUID


_SELLABLE: Final = (
    "EXISTS (SELECT 1 FROM suppliers_stocklevel v"
    " LEFT JOIN suppliers_lot b ON b.tenant_id = v.tenant_id AND b.id = v.lot_id AND b.tenant_id = $1"
    " LEFT JOIN suppliers_stockplace s ON s.tenant_id = v.tenant_id AND s.location_id = v.location_id AND s.tenant_id = $1"
    " WHERE v.tenant_id = $1 AND v.product_id = l.product_id AND v.on_hand > v.reserved"
    " AND coalesce(b.status = 'released', true) AND coalesce(s.sellable, true)"
    " AND (b.expiry_date IS NULL OR b.expiry_date >= ($4::timestamptz AT TIME ZONE 'UTC')::date - 1))"
)
_WAITING = Statement.of(
    "SELECT o.id AS order_id, o.owner_tenant_id AS buyer_id FROM suppliers_receivedorder o"
    " WHERE o.tenant_id = $1 AND NOT o.id = ANY($2::uuid[]) AND o.id IN (SELECT l.document_id FROM suppliers_receivedorderline l"
    " WHERE l.tenant_id = $1 AND l.backordered > 0 AND l.product_id IS NOT NULL"
    f" AND (coalesce(l.backorder_date <= {today_sql('$1::uuid', '$4::timestamptz')}, true) OR l.product_id = $5::uuid)"
    f" AND {_SELLABLE})"
    " AND EXISTS (SELECT 1 FROM organizations_tenant n WHERE n.id = o.owner_tenant_id AND n.status <> 'closed')"
    " ORDER BY array_position(ARRAY['emergency', 'urgent', 'routine'], o.priority::text), o.received_at, o.id LIMIT $3::int",
    row=_Waiting,
)


def is_concerned(fact: Fact | Event) -> bool:
    """Tell whether a fact may be of a supplier's stock: what comes to a buyer's own shelves is for no order."""
    return fact.data.get("by") != "buyer" or not fact.type.startswith("stock.")


def follow_stock(event: Event) -> None:
    """Allocate what waits at the supplier whose stock may have come. Safe to run again, and in any order of the facts."""
    if not is_concerned(event):
        return  # noted before facts were told apart
    is_come = event.data["base_quantity"] > 0 if event.type in _MOVED else event.type == "lot.released"
    allocate_waiting(event.tenant_id, clock.now(), come=UUID(event.data["product_id"]) if is_come else None)


def allocate_backorders(*, at: datetime, go_on: GoOn = ever) -> int:
    """Allocate what waits, supplier by supplier; return how many orders got something."""
    is_due = Q(backorder_date__isnull=True) | Q(backorder_date__lte=(at + _EASTERNMOST).date())
    due = ReceivedOrderLine.objects.filter(is_due, backordered__gt=0)
    return by_rounds(_QUEUE, _rounds, due, allocate_waiting, at, go_on, batch=-1)


def allocate_waiting(supplier_id: UUID, at: datetime, *, come: UUID | None = None) -> int:
    """Allocate to the orders that wait at one supplier, batch by batch; return how many got something.

    `come` is the product of which further stock has come; its lines wait for no day. An order that got nothing is not looked
    at again in this call: what lies there is not for it.
    """
    done, passed = 0, list[UUID]()
    for _ in range(_MOST_BATCHES):
        with tenant_context(supplier_id):
            given = [str(supplier_id), array_literal(passed), str(BATCH), at.isoformat(), str(come) if come else None]
            (found,) = run([Call(_WAITING, given)])
            waiting = found.of(_Waiting)
            if not waiting:
                break
            done += _allocate(supplier_id, waiting, at, come)
        passed += [one.order_id for one in waiting]
    return done


@needs_transaction
def _allocate(supplier_id: UUID, waiting: Sequence[_Waiting], at: datetime, come: UUID | None) -> int:
    """Lock some orders by their ids, then the stock of what they wait for, and give it out in the order of `waiting`."""
    calls = [
        call
        for one in sorted(waiting)
        for call in (
            bind_call(one.buyer_id),
            mark_call(one.buyer_id),
            lock_call(PurchaseOrder, one.buyer_id, one.order_id),
            lines_call(one.buyer_id, one.order_id),
        )
    ]
    *found, day = run([*calls, bind_call(supplier_id), mark_call(supplier_id), today_call(supplier_id, at)])
    at, today = max(at, clock.now()), today_of(day)
    orders: dict[UUID, tuple[PurchaseOrder, list[PurchaseOrderLine]]] = {}
    for place in range(len(waiting)):
        row = row_of(PurchaseOrder, found[4 * place + 2])
        if row is not None and row.accepted_at is not None and row.status not in TERMINAL:
            orders[row.id] = row, lines_of(found[4 * place + 3])
    in_turns = [orders[one.order_id] for one in waiting if one.order_id in orders]
    wishes = [
        Wish(row, line, line.backordered) for row, lines in in_turns for line in lines if _is_due(line, today, come)
    ]
    if not wishes:
        return 0
    stock = stock_of(run(stock_calls(in_turns[0][0], [one.line for one in wishes], at)))
    before = dict(stock.held)
    allocated = allocate_all(supplier_id, wishes, stock, at, by=_BY)
    if not allocated.rows:
        return 0
    parts, told, done = [Part(supplier_id, changes.touched(allocated.rows), allocated.calls)], allocated.told, 0
    for row, lines in in_turns:
        mine = [line for line in lines if _accept(row, line, stock.of(line) - before.get(line.id, 0))]
        if mine:
            done += 1
            parts.append(order_part(row, saving_calls(row, mine, [], at, *_SAVED)))
            told = changes.joined(told, told_of_items(OrderItemAllocated, row, mine, by=_BY))
    write_together(system_actor(supplier_id), parts, waiting[0].order_id, told=told, at=at)
    return done


def _is_due(line: PurchaseOrderLine, today: date, come: UUID | None) -> bool:
    """Tell whether something of a line comes later, and not later than today at the supplier unless its product has come."""
    is_due = line.backorder_date is None or line.backorder_date <= today or line.product_id == come
    return bool(line.backordered) and is_due


def _accept(row: PurchaseOrder, line: PurchaseOrderLine, got: int) -> bool:
    """Turn what a line got from backordered to accepted, in memory; tell whether it got anything.

    A line of which nothing was accepted is promised for the day on which it was to come, else for the day first promised,
    else for the one that it is asked for.
    """
    if got <= 0:
        return False
    line.backordered -= got
    line.accepted += got
    promise(line, line.promised_date or line.backorder_date or line.first_promised_date or asked_for(row, line))
    drop_dates(line)
    return True
