"""What orders share that end, wholly or in part: limits are given back, stock is free again, and both parties are told.

The lines say in memory what is cancelled of them; the order is locked behind the limits, and refused where it has changed.
Source: contract, supply-order.md 2 "Limits"; supply.md 5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import Busy
from core.pipeline import Call, ReadBack, Rows, Statement, run
from ledger.public import Occurrence
from organizations.public import Part, ReceivedKind, write_together
from suppliers.company.settings import settings_call, settings_of
from suppliers.inventory.reservations import changes

from .billing import billing_of, is_paid, unpaid_calls
from .budgeting import budgets
from .course import ACCEPTED, CLOSED, Place, Step, Who, require
from .freeing import free, held_calls
from .item_events import OrderItemUpdated, told_of_items
from .limits import returning
from .models import PurchaseOrder, PurchaseOrderLine
from .other_prices import has_other_price
from .peeks import OrderPeek
from .progress import cut, fulfilment_of, is_complete, prepared_calls, prepared_of
from .proposals.content import kept_totals
from .proposals.finding import closing_call
from .proposals.needs import more_taken
from .proposals.states import ChangeState
from .sending import header_call, order_part, saving_calls
from .telling import told

_MANAGED = Statement.of("SELECT (n.managed_by_id IS NOT NULL)::text FROM organizations_tenant n WHERE n.id = $1")
_COUNTERS: Final = (
    "accepted", "backordered", "cancelled", "promised_date", "first_promised_date", "backorder_date",
)  # fmt: skip
_COLUMNS: Final = (
    "status", "approval_for", "proposed_by", "before_change", "given_back", "closed_at", "fulfilment_status", "billing_status",
    "revision", "net", "tax", "gross", "taxes", "price_differs",
)  # fmt: skip


class Ahead(NamedTuple):
    """What is to be known of the supplier before an accepted order ends: what it has settled, and what it prepares."""

    settings: Mapping[str, Any]
    prepared: Mapping[UUID, int]
    is_managed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an order ends: the step, where it leads, what is cut off by the ids of lines, and who says why.

    `prepared` is what was in preparation when the order was looked at; its stock stays held. `calls` are further statements in
    the buyer's rows.
    """

    step: Step
    target: Place
    less: Mapping[UUID, int]
    by: str
    reason: str = ""
    prepared: Mapping[UUID, int] = field(default_factory=dict)
    moved: frozenset[UUID] = frozenset()  # lines that are told of though nothing of them is cut off
    keeping: Mapping[UUID, int] | None = None  # what lines still need of stock, where that is more than is prepared
    is_silent: bool = False  # the supplier is managed, and nobody reads there
    calls: Sequence[Call] = ()


@needs_transaction
def ahead_of(row: PurchaseOrder) -> Ahead:
    """Read what is to be known of the supplier, without a lock; it stays bound."""
    own = row.supplier_tenant_id
    _, settings, managed, *prepared = run(
        [bind_call(own), settings_call(own, row.tenant_id), Call(_MANAGED, [str(own)]), *prepared_calls(row)]
    )
    return Ahead(settings_of(settings), prepared_of(prepared), managed.value() == b"true")


def cut_all(lines: Sequence[PurchaseOrderLine]) -> dict[UUID, int]:
    """Cancel all of some lines, in memory; return how much of each."""
    return {line.id: cut(line, 0) for line in lines}


@needs_transaction
def end_order(
    actor: Actor, peek: OrderPeek, ending: Ending, at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """End an order, or its rest, whose lines were cut in memory.

    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, lines, was = peek.row, peek.lines, peek.row.status
    is_all = all(one.cancelled == one.ordered for one in lines)
    kept = {} if is_all else kept_totals(row, lines)
    gone = give_back(peek, ending, kept.get("gross", Decimal(0)), at, is_all=is_all)
    row.become(ending.target)
    row.before_change, row.given_back = "", row.gross if is_all else Decimal(0)
    row.assign(kept | {"price_differs": has_other_price(lines)})
    row.fulfilment_status = fulfilment_of(lines).value
    row.billing_status = billing_of(lines, paid=gone.paid).value
    names, others = [*ending.step.buyer], [*ending.step.supplier]
    if ending.target == CLOSED:
        row.closed_at = at
    elif ending.target == ACCEPTED:
        more, supplier = close_if_complete(row, lines, at)
        names, others = [*names, *more], [*others, *supplier]
    cut_or_moved = [one for one in lines if one.id in ending.moved or ending.less.get(one.id)]
    saved = (
        saving_calls(row, cut_or_moved, _COLUMNS, at, *_COUNTERS) if cut_or_moved else [header_call(row, _COLUMNS, at)]
    )
    closed = [closing_call(row, ChangeState.DECLINED, at)] if peek.changes else []
    own = order_part(row, [*saved, *ending.calls, *closed])
    parts = [own, Part(row.supplier_tenant_id, gone.touched, gone.calls)]
    heard = [] if ending.is_silent or not row.was_sent else [one for one in others if one != OrderItemUpdated.type]
    facts = told(
        row, [one for one in names if one != OrderItemUpdated.type], heard, was=was, by=ending.by, reason=ending.reason,
        lines=[vars(one) for one in lines],
    )  # fmt: skip
    items = cut_or_moved if OrderItemUpdated.type in names else []
    of_items = told_of_items(
        OrderItemUpdated, row, items, by=ending.by, reason=ending.reason, is_silent=ending.is_silent
    )
    write_together(actor, parts, row.id, told=changes.joined(gone.told, facts, of_items), at=at, reading=reading)
    return row


def close_if_complete(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], at: datetime
) -> tuple[list[str], list[str]]:
    """Close an accepted order of which all is received or cancelled, and invoiced, in memory.

    Return what the buyer and the supplier are told then, nothing where it is not complete. Whoever moves its counters under its
    lock calls this and saves `status` and `closed_at`.
    """
    if row.place != ACCEPTED or not is_complete(lines):
        return [], []
    step = require(row.place, "close", Who.SYSTEM)
    row.become(CLOSED)
    row.closed_at = at
    return [*step.buyer], [*step.supplier]


class Gone(NamedTuple):
    """What is written at the supplier, touched there, and told; and whether all invoices of the order are paid."""

    calls: Sequence[Call]
    touched: Sequence[tuple[ReceivedKind, UUID]]
    told: Mapping[UUID, Sequence[Occurrence]]
    paid: bool


@needs_transaction
def give_back(peek: OrderPeek, ending: Ending, keeping: Decimal, at: datetime, *, is_all: bool) -> Gone:
    """Give back what the order has taken, in the lock order, with the order locked in its place.

    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, lines = peek.row, peek.lines
    own, supplier = row.tenant_id, row.supplier_tenant_id
    given = None
    if row.submitted_at is not None:
        given = returning(row, lines, ending.less, is_all=is_all, more=more_taken(row, peek.changes))
    budget = budgets().giving_back(row, keeping, at) if given else []
    at_supplier = [bind_call(supplier), *held_calls(row, lines)] if row.was_sent else []
    groups: list[Sequence[Call]] = [
        [bind_call(own)], budget, given.calls(row, at) if given else [], [bind_call(own)], [peek.lock_call(), *unpaid_calls(row, lines)], at_supplier,
        prepared_calls(row) if at_supplier else [],
    ]  # fmt: skip
    found = iter(run([call for group in groups for call in group]))
    _, of_budget, of_limits, _, locked, held, prepared = ([next(found) for _ in group] for group in groups)
    peek.check(locked[0])
    if prepared_of(prepared) != dict(ending.prepared):
        raise Busy
    gone = _gone(row, ending, given, of_budget, of_limits, held, at)
    return gone._replace(paid=is_paid(locked[1:]))


def _gone(  # the rows of each group of statements
    row: PurchaseOrder,
    ending: Ending,
    given: Any,
    of_budget: Sequence[Rows],
    of_limits: Sequence[Rows],
    held: Sequence[Rows],
    at: datetime,
) -> Gone:
    news = given.given(of_limits) if given else []
    moved = budgets().given_back(of_budget) if of_budget else ()
    freed = free(row, held[1:], at, by=ending.by, keeping=ending.keeping or ending.prepared) if held else None
    return Gone(
        [*(freed.calls if freed else []), *(given.copy_calls() if given else [])],
        changes.touched(freed.rows) if freed else [],
        changes.joined(freed.told if freed else {}, {row.supplier_tenant_id: news, row.tenant_id: moved}),
        paid=True,
    )
