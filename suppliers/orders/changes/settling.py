"""What becomes of a change once it is accepted, declined or withdrawn: the order's rows, its limits, and the supplier's stock.

Both sides end here: the buyer confirms or withdraws, the supplier accepts or declines, and the last approval does the first.
The statements run in the lock order of supply.md 5; the order is locked between limits and stock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import orjson

from core import rows
from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.model_rows import save_all_call, save_call
from core.pipeline import Call, ReadBack, Rows, Statement, run
from ledger.public import Occurrence
from organizations.public import Part, write_together
from suppliers.inventory.reservations.changes import joined, touched
from suppliers.orders.allocating import Allocated, Stock, allocate, refuse_short, stock_calls, stock_of
from suppliers.orders.billing import billing_of, is_paid, unpaid_calls
from suppliers.orders.course import ACCEPTED, BY_SUPPLIER, SENT, Place
from suppliers.orders.freeing import free, held_calls
from suppliers.orders.limits import traces_of
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from suppliers.orders.other_prices import has_other_price
from suppliers.orders.peeks import OrderPeek
from suppliers.orders.progress import asked_for, counted, drop_dates, fit, promise
from suppliers.orders.proposals.content import HEADER, added_of, kept_totals, lay_over, lines_added
from suppliers.orders.proposals.finding import closing_call, deciding_call
from suppliers.orders.proposals.models import OrderChange
from suppliers.orders.proposals.needs import Need, held_by, move, need_of
from suppliers.orders.proposals.states import ChangeState
from suppliers.orders.sending import BOTH, order_part
from suppliers.orders.states import Backorders, OrderStatus, Party
from suppliers.orders.telling import told

_TRACES = Statement.of(
    "UPDATE suppliers_pricetrace SET traces = traces || $3::jsonb, updated_at = $4, version = version + 1"
    " WHERE tenant_id = $1 AND id = $2 RETURNING 1"
)
_HEADER: Final = {one.attname: one for one in PurchaseOrder._meta.concrete_fields}
HELD: Final = 4  # statements of `freeing.held_calls`
_STATE: Final = ("status", "approval_for", "proposed_by", "before_change", "accepted_at", "billing_status")
_TOTALS: Final = ("net", "tax", "gross", "taxes", "lines_total", "given_back", "price_differs")
LINE: Final = (
    "quantity", "ordered", "accepted", "backordered", "cancelled", "requested_date", "promised_date",
    "first_promised_date", "backorder_date", "net", "list_net", "redeemed", "tolerance",
    "tax_rate",
)  # fmt: skip


@dataclass(slots=True)
class ChangeEnding:
    """How a change ends: where the order goes, who did it, and what both sides are told by name.

    `ahead` is written before the order: a change that nobody answers is stored in the moment in which it is accepted.
    """

    by: str
    buyer: Sequence[str]
    supplier: Sequence[str]
    was: str
    reason: str = ""
    columns: Sequence[str] = ()
    ahead: Sequence[Call] = ()
    may_wait: bool = False


@dataclass(slots=True)
class Moved:
    """What moving limits tells, and how it goes on in the copies of agreements."""

    told: dict[UUID, list[Occurrence]]
    copies: list[Call]


@dataclass(slots=True)
class Settled:
    """An order that a change was laid over, in memory: what is written beside it and its stored lines, and what is told."""

    lines: list[PurchaseOrderLine]
    columns: list[str]
    calls: list[Call]
    part: Part
    told: dict[UUID, list[Occurrence]]


@needs_transaction
def taken_over(target: OrderPeek, change: OrderChange, at: datetime, *, by: str, may_wait: bool) -> Settled:
    """Let the order be as a change says, and accepted; limits follow, and stock is allocated to what it needs now.

    :raises InsufficientStock: too little is free for what lines accept, and may not come later.
    :raises PlatformError: a limit does not suffice any more.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, lines = target.row, target.lines
    held = held_by(row, lines, target.changes)
    asked = {one.id: asked_for(row, one) for one in lines}
    added = take_over(row, lines, change, at)
    every = [*lines, *added]
    moved, behind = _moved(target, held, need_of(row.gross - row.given_back, every), every, at)
    stock = stock_of(behind[:-HELD])
    freed = free(row, behind[-HELD:], at, by=by, keeping={one.id: one.accepted for one in every})
    allocated = _allocated(row, every, stock, at, may_wait=may_wait, by=by)
    _date(row, every, change, asked)
    row.price_differs = has_other_price(every)
    row.become(ACCEPTED)
    row.before_change = ""
    row.accepted_at = row.accepted_at or at
    _bill(row, every)
    theirs = [*freed.calls, *allocated.calls, *moved.copies]
    if added:
        given: list[str | bytes | None] = [str(row.supplier_tenant_id), str(row.pk), orjson.dumps(traces_of(added))]
        theirs.append(Call(_TRACES, [*given, at.isoformat()]))
    return Settled(
        every,
        [*dict.fromkeys([*_STATE, *_TOTALS, *(HEADER if change.header else ())])],
        [*_inserted(added, at), *_closed(target, change, at)],
        Part(row.supplier_tenant_id, touched([*freed.rows, *allocated.rows]), theirs),
        joined(moved.told, freed.told, allocated.told),
    )


@needs_transaction
def accept(
    actor: Actor,
    target: OrderPeek,
    change: OrderChange,
    ending: ChangeEnding,
    at: datetime,
    reading: ReadBack | None = None,
) -> PurchaseOrder:
    """Accept a change, and write what follows from it.

    :raises InsufficientStock, PlatformError, Busy: as `taken_over`.
    """
    row = target.row
    made = taken_over(target, change, at, by=ending.by, may_wait=ending.may_wait)
    saved = [
        save_all_call(target.lines, *LINE, at=at),
        save_call(row, *made.columns, *ending.columns, at=at, versions=BOTH),
    ]
    facts = told(
        row, ending.buyer, ending.supplier, was=ending.was, by=ending.by, reason=ending.reason,
        lines=[vars(one) for one in made.lines],
    )  # fmt: skip
    parts = [order_part(row, [*ending.ahead, *saved, *made.calls]), made.part]
    write_together(actor, parts, row.pk, told=joined(made.told, facts), at=at, reading=reading)
    return row


@needs_transaction
def go_back(
    actor: Actor,
    target: OrderPeek,
    change: OrderChange,
    state: ChangeState,
    ending: ChangeEnding,
    at: datetime,
    reading: ReadBack | None = None,
) -> PurchaseOrder:
    """Let the order be in the state before a change of the buyer, which ends; what it held of limits is given back.

    :raises Busy: somebody else has changed the order meanwhile.
    """
    row = target.row
    back = give_back_more(target, at)
    to_state_before(row)
    own = [deciding_call(change, state, at), save_call(row, *_STATE, at=at, versions=BOTH)]
    facts = told(row, ending.buyer, ending.supplier, was=ending.was, by=ending.by, reason=ending.reason)
    parts = [order_part(row, own), Part(row.supplier_tenant_id, [], back.copies)]
    write_together(actor, parts, row.pk, told=joined(back.told, facts), at=at, reading=reading)
    return row


@needs_transaction
def give_back_more(target: OrderPeek, at: datetime) -> Moved:
    """Give back what open changes hold of limits beyond what the order needs; the order is locked then.

    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, lines = target.row, target.lines
    held = held_by(row, lines, target.changes)
    moved, _ = _moved(target, held, need_of(row.gross - row.given_back, lines), (), at)
    return moved


def to_state_before(row: PurchaseOrder) -> Place:
    """Go to the state that the buyer's change began in; a change of the supplier that it began in is open again."""
    before = {OrderStatus.SENT: SENT, OrderStatus.ACCEPTED: ACCEPTED}.get(OrderStatus(row.before_change), BY_SUPPLIER)
    row.become(before)
    row.before_change = OrderStatus.SENT.value if before == BY_SUPPLIER else ""
    return before


def take_over(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], change: OrderChange, at: datetime
) -> list[PurchaseOrderLine]:
    """Let lines, header and totals be as a change says, in memory; return the further lines.

    What the change of the supplier does not say is accepted as it was ordered.
    """
    said = _said(change)
    lay_over(lines, change)
    added = lines_added(change)
    for line in [*lines, *added]:
        if line.id not in said:
            fit(line)
            line.accepted = counted(line) - line.backordered
    for name, value in change.header.items():
        setattr(row, name, _HEADER[name].to_python(value))
    row.assign(kept_totals(row, [*lines, *added]))
    row.given_back = Decimal(0)
    for line in added:
        line.created_at = line.updated_at = at
    return added


def _said(change: OrderChange) -> set[UUID]:
    """Return the lines of which a change of the supplier says what is accepted of them."""
    return {UUID(one["id"]) for one in change.lines} if change.proposed_by == Party.SUPPLIER else set()


def _date(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], change: OrderChange, asked: Mapping[UUID, date | None]
) -> None:
    """Let the dates of lines follow a change, in memory; `asked` are the days asked for before it, by the ids of lines.

    What is accepted is promised for the day that the supplier says, else for the day that is asked for. A buyer that asks
    for another day is promised that one by the acceptance of its change.
    """
    said = _said(change)
    for line in lines:
        day = asked_for(row, line)
        is_moved = change.proposed_by == Party.BUYER and day is not None and day != asked.get(line.id, day)
        if line.accepted and (is_moved or line.promised_date is None):
            line.promised_date = day
        if line.id not in said or not line.backordered:
            drop_dates(line)
        promise(line, line.promised_date)


@needs_transaction
def _moved(
    target: OrderPeek, held: Need, needed: Need, lines: Sequence[PurchaseOrderLine], at: datetime
) -> tuple[Moved, list[Rows]]:
    """Move the limits, lock the order, and lock and read the stock of some lines, in one trip behind what `move` reads."""
    row = target.row
    moving = move(row, held, needed, at, lines)
    limits = moving.calls()
    stocked = (
        [bind_call(row.supplier_tenant_id), *stock_calls(row, lines, at), *held_calls(row, lines)] if lines else []
    )
    found = run([*limits, bind_call(row.tenant_id), target.lock_call(), *stocked])
    news = moving.moved(found[: len(limits)])
    target.check(found[len(limits) + 1])
    return Moved(news, moving.copy_calls()), found[len(limits) + 3 :]


@needs_transaction
def _allocated(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], stock: Stock, at: datetime, *, may_wait: bool, by: str
) -> Allocated:
    """Allocate what lines accept and do not hold yet; what is not free comes later, where that may be.

    :raises InsufficientStock: names each line.
    """
    wanted = {
        one.id: one.accepted - stock.of(one)
        for one in lines
        if not stock.needs_none(one) and one.accepted > stock.of(one)
    }
    allocated = allocate(row, lines, stock, wanted, at, by=by)
    short = [one for one in lines if not stock.needs_none(one) and stock.of(one) < one.accepted]
    if not (may_wait and row.backorder_policy == Backorders.ACCEPT):
        refuse_short(lines, stock, needed={one.id: one.accepted for one in lines}, as_told=by == Party.BUYER)
    for line in short:
        line.backordered += line.accepted - stock.of(line)
        line.accepted = stock.of(line)
    return allocated


def _inserted(added: Sequence[PurchaseOrderLine], at: datetime) -> list[Call]:
    times: Mapping[str, Any] = {"created_at": at, "updated_at": at, "version": 1}
    return [rows.insert_all(PurchaseOrderLine, [{**added_of(one), **times} for one in added])] if added else []


@needs_transaction
def _bill(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine]) -> None:
    """Let a locked order whose lines have become others say how far its bills are; prepayments may have come before."""
    calls = unpaid_calls(row, lines)
    found = run([bind_call(row.tenant_id), *calls])[1:] if calls else []
    row.billing_status = billing_of(lines, paid=is_paid(found)).value


def _closed(target: OrderPeek, change: OrderChange, at: datetime) -> list[Call]:
    """Return the statements that close an accepted change, and the other side's below it."""
    others = [closing_call(target.row, ChangeState.DECLINED, at)] if len(target.changes) > 1 else []
    return [deciding_call(change, ChangeState.ACCEPTED, at), *others]
