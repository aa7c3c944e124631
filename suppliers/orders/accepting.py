"""The supplier accepts an order: stock is allocated to its lines, and what is not there may come later.

Which answer it is, `course` says by the choice that the body makes.
Source: contract, supply-order.md 2 "The supplier's answer".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.pipeline import ReadBack, run
from organizations.public import Part, write_together
from suppliers.inventory.reservations import changes

from .allocating import Stock, allocate, missing, refuse_short, stock_calls, stock_of
from .changes.deciding import decide
from .changes.responses import are_as_ordered, propose
from .course import ACCEPTED, Step, Who, require
from .models import PurchaseOrder, PurchaseOrderLine
from .peeks import ReceivedPeek
from .progress import asked_for, counted, promise
from .revisions import check_revision
from .sending import order_part, saving_calls
from .states import Backorders, OrderStatus
from .telling import told

WHOLE: Final = ""
LINES: Final = "lines"
_COLUMNS: Final = ("accepted", "backordered", "promised_date", "first_promised_date")


@needs_transaction
def accept_order(
    actor: Actor, target: ReceivedPeek, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Accept an order in the way that the body chooses: wholly, with other lines, or as the buyer has changed it.

    :raises InvalidTransition: the state does not allow it.
    :raises RevisionChanged: the body names another revision.
    :raises InsufficientStock: names each line of which too little is free, unless the rest may come later.
    :raises InvalidFields, SubstitutionNotAllowed: as `changes.responses.propose`.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row = target.row
    choice = _choice(target, data)
    step = require(row.place, "accept", Who.SUPPLIER, choice)
    check_revision(row, data.get("revision"))
    if choice == WHOLE:
        return _accept_whole(actor, target, step, data, at, reading)
    if choice == LINES:
        return propose(actor, target, step, data["lines"], at, reading)
    return decide(actor, target, step, data, at, reading)


def _choice(target: ReceivedPeek, data: Mapping[str, Any]) -> str:
    """Return in which way the body accepts: lines that are answered as they were ordered need no confirmation by the buyer."""
    if not data["lines"]:
        return data["decision"] or WHOLE
    is_new = target.row.status == OrderStatus.SENT
    return WHOLE if is_new and are_as_ordered(target.row, target.lines, data["lines"]) else LINES


@needs_transaction
def _accept_whole(
    actor: Actor, target: ReceivedPeek, step: Step, data: Mapping[str, Any], at: datetime, reading: ReadBack | None
) -> PurchaseOrder:
    """Accept all lines as they are."""
    row, lines = target.row, target.lines
    own = row.supplier_tenant_id
    locked, _, *found = run([target.lock_call(), bind_call(own), *stock_calls(row, lines, at)])
    target.check(locked)
    stock = stock_of(found)
    may_wait = data["allow_partial"] and row.backorder_policy == Backorders.ACCEPT
    allocated = allocate(row, lines, stock, missing(lines, stock), at, by=Who.SUPPLIER)
    if not may_wait:
        refuse_short(lines, stock)
    was = row.status
    _count(row, lines, stock)
    row.become(ACCEPTED)
    row.accepted_at = at
    columns = ["status", "approval_for", "proposed_by", "accepted_at"]
    parts = [
        order_part(row, saving_calls(row, lines, columns, at, *_COLUMNS)),
        Part(own, changes.touched(allocated.rows), allocated.calls),
    ]
    facts = told(row, step.buyer, step.supplier, was=was, by=Who.SUPPLIER, lines=[vars(one) for one in lines])
    write_together(actor, parts, row.id, told=changes.joined(allocated.told, facts), at=at, reading=reading)
    return row


def _count(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], stock: Stock) -> None:
    """Let what lines hold be accepted, and the rest be backordered; what is accepted is promised for the day it is asked for."""
    for line in lines:
        wanted = counted(line)
        line.accepted = wanted if stock.needs_none(line) else min(wanted, stock.of(line))
        line.backordered = wanted - line.accepted
        promise(line, asked_for(row, line) if line.accepted else None)
