"""Cancelling an order that was never accepted: what it has taken is given back. Source: contract, supply-order.md 2 "States"."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.pipeline import Call, ReadBack, run
from ledger.public import Occurrence
from organizations.public import Part, ReceivedKind, write_together
from procurement.budgets.commitments import give_back_call, lock_call, moved_of
from suppliers.public import (
    CANCELLED,
    CancellationNotAllowed,
    PurchaseOrder,
    Who,
    give_back,
    held_calls,
    joined,
    order_part,
    require,
    returning,
    saving_calls,
    told,
    touched,
)

from .peeking import Peeked
from .submitting import hold_of


class Ended(NamedTuple):
    """What an order that ends has given back: what is written at the supplier, touched there, and told."""

    calls: Sequence[Call]
    touched: Sequence[tuple[ReceivedKind, UUID]]
    told: Mapping[UUID, Sequence[Occurrence]]


@needs_transaction
def cancel_order(
    actor: Actor, target: Peeked, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Cancel an order that no supplier has accepted yet; limits and reservations are given back.

    :raises InvalidTransition: the state does not allow it.
    :raises CancellationNotAllowed: the supplier has accepted it before.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, lines = target.row, target.lines
    step = require(row.place, "cancel", Who.BUYER)
    if row.accepted_at is not None:
        raise CancellationNotAllowed
    was = row.status
    ended = _ended(target, at)
    for line in lines:
        line.cancelled = line.ordered
    row.become(CANCELLED)
    row.before_change = ""
    columns = ["status", "approval_for", "proposed_by", "before_change"]
    parts = [
        order_part(row, saving_calls(row, lines, columns, at, "cancelled")),
        Part(row.supplier_tenant_id, ended.touched, ended.calls),
    ]
    supplier = step.supplier if row.was_sent else ()
    reason = data["reason"] or ""
    facts = told(row, step.buyer, supplier, was=was, by=Who.BUYER, reason=reason, lines=[vars(one) for one in lines])
    write_together(actor, parts, row.id, told=joined(ended.told, facts), at=at, reading=reading)
    return row


@needs_transaction
def _ended(target: Peeked, at: datetime) -> Ended:
    """Give back what the order has taken, in the lock order, with the order locked in its place."""
    row, lines = target.row, target.lines
    own, supplier = row.tenant_id, row.supplier_tenant_id
    given = returning(row, lines) if row.submitted_at is not None else None
    budget = [lock_call(own, [row.budget_id]), give_back_call(hold_of(row), at)] if given and row.budget_id else []
    groups: list[list[Call]] = [
        [bind_call(own)], budget, given.calls(row, at) if given else [], [bind_call(own)], [target.lock_call()],
        [bind_call(supplier), *held_calls(row)] if row.was_sent else [],
    ]  # fmt: skip
    found = iter(run([call for group in groups for call in group]))
    _, of_budget, of_limits, _, locked, held = ([next(found) for _ in group] for group in groups)
    target.check(locked[0])
    news = given.given(of_limits) if given else []
    moved = moved_of(of_budget[1]).told if budget else ()
    released = give_back(row, held[1:], at, by=Who.BUYER) if held else None
    return Ended(
        [*(released.calls if released else []), *(given.copy_calls() if given else [])],
        touched(released.rows) if released else [],
        joined(released.told if released else {}, {supplier: news, own: moved}),
    )
