"""The buyer confirms or declines what its supplier has proposed, or withdraws its own change.

Source: contract, supply-order.md 2 "States" and "Limits": what is more is taken when the buyer confirms, what is less is given
back with it; declined, the order is cancelled and all is given back.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.model_rows import save_call
from core.pipeline import Call, ReadBack, run
from organizations.public import Part, write_together
from procurement.approvals.decisions import of_revision
from procurement.approvals.steps import approvals_needed, begin_call
from suppliers.public import (
    BOTH,
    CANCELLED,
    FOR_SUPPLIERS,
    ApprovalFor,
    ChangeEnding,
    ChangeState,
    Ending,
    Need,
    OrderChange,
    Party,
    PurchaseOrder,
    PurchaseOrderLine,
    Who,
    accept_change,
    as_changed,
    check_more,
    check_relationship,
    check_revision,
    check_takes_orders,
    cut_all,
    end_order,
    go_back,
    held_by,
    joined,
    judge_substitutes,
    lines_added,
    move,
    named_as,
    need_of,
    open_of,
    order_part,
    proposing_call,
    require,
    seller_call,
    seller_of,
    serial_call,
    substitutes_calls,
    told,
    used_calls,
)

from .amounts import with_gross
from .peeking import Peeked
from .proposing import keep

ACCEPT: Final = "accept"
DECLINE: Final = "decline"
_COLUMNS: Final = ("status", "approval_for", "proposed_by", "authors", "revision")


@needs_transaction
def confirm_changes(
    actor: Actor, target: Peeked, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Accept or decline the supplier's change, or withdraw the own one.

    :raises InvalidTransition, RevisionChanged: nothing of that kind waits; it is another revision.
    :raises RelationshipBlocked, SupplierNotQualified, NotOnFormulary, LicenseMissing: as named, where more is ordered.
    :raises SpendLimitExceeded, BudgetExceeded, AgreementExhausted, PromotionExhausted, AllocationExceeded: as named.
    :raises InsufficientStock: what the supplier accepts is not there any more, and the buyer takes nothing later.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, decision = target.row, data["decision"]
    step = require(row.place, "confirm-changes", Who.BUYER, decision)
    check_revision(row, data["revision"])
    reason = data["reason"] or ""
    if decision == DECLINE:
        ending = Ending(step=step, target=CANCELLED, less=cut_all(target.lines), by=Who.BUYER, reason=reason)
        return end_order(actor, target, ending, at, reading)
    change = open_of(target.changes, Party.SUPPLIER if decision == ACCEPT else Party.BUYER)
    assert change is not None
    ends = ChangeEnding(Who.BUYER, step.buyer[:1], step.supplier, str(row.status), reason)
    if decision == ACCEPT:
        return _accept(actor, target, change, ends, at, reading)
    return go_back(actor, target, change, ChangeState.WITHDRAWN, ends, at, reading)


@needs_transaction
def _accept(
    actor: Actor, target: Peeked, change: OrderChange, ends: ChangeEnding, at: datetime, reading: ReadBack | None
) -> PurchaseOrder:
    """Accept the supplier's change, or let it wait for approvers where the total rises and a step applies."""
    row, lines = target.row, target.lines
    as_proposed = as_changed(lines, change)
    held = held_by(row, lines, target.changes)
    needed = need_of(change.gross, as_proposed)
    if needed.exceeds(held) or change.added:
        _check_more(target, change, as_proposed, held, needed, at)
    is_more = change.gross > row.gross - row.given_back
    if is_more and approvals_needed(target.policies, with_gross(row, change), target.standing.currency):
        return _pending(actor, target, change, needed, at, reading)
    ends.may_wait = True
    return accept_change(actor, target, change, ends, at, reading)


@needs_transaction
def _check_more(  # what is held and needed, and the lines of it
    target: Peeked,
    change: OrderChange,
    lines: Sequence[PurchaseOrderLine],
    held: Need,
    needed: Need,
    at: datetime,
) -> None:
    """Hold what the supplier's change orders more to the limits of a submit; the buyer is bound then."""
    row = target.row
    own, supplier, added = row.tenant_id, row.supplier_tenant_id, lines_added(change)
    check_relationship(target.standing)
    _, _, sold_by, *goods = run(
        [
            serial_call(own, supplier), bind_call(supplier), seller_call(supplier, own),
            *substitutes_calls(row, added, at),
        ]
    )  # fmt: skip
    seller = seller_of(sold_by)
    check_takes_orders(seller)
    with named_as([f"lines.{one.line_no - 1}" for one in added]):
        shares = judge_substitutes(target.standing, added, goods)
    used: list[Call] = [bind_call(own), *used_calls(row, target.standing, shares, at, with_own=True)]
    found = run(used)
    check_more(
        row, lines, target.standing, shares, found[1:], more_gross=needed.gross - held.gross,
        more=needed.more_shares(held),
    )  # fmt: skip


@needs_transaction
def _pending(
    actor: Actor, target: Peeked, change: OrderChange, needed: Need, at: datetime, reading: ReadBack | None
) -> PurchaseOrder:
    """Let the supplier's change wait for approvers; the limits of what is more are taken already."""
    row, lines = target.row, target.lines
    held = held_by(row, lines, target.changes)
    needed = held.most(needed)
    keep(change, row, lines, needed)
    moving = move(row, held, needed, at, lines)
    limits = moving.calls()
    found = run([*limits, bind_call(row.tenant_id), target.lock_call()])
    news = moving.moved(found[: len(limits)])
    target.check(found[-1])
    if of_revision(row, target.decided, ApprovalFor.SUPPLIER_CHANGE):
        row.revision = change.revision = row.revision + 1  # what was refused is decided anew
    was = row.status
    row.become(FOR_SUPPLIERS)
    row.authors = [str(actor.subject_id)]
    own = [
        proposing_call(change, at), save_call(row, *_COLUMNS, at=at, versions=BOTH), begin_call(row, target.policies, at),
    ]  # fmt: skip
    facts = told(row, ["purchase_order.submitted"], was=was, by=Who.BUYER)
    parts = [order_part(row, own), Part(row.supplier_tenant_id, [], moving.copy_calls())]
    write_together(actor, parts, row.pk, told=joined(news, facts), at=at, reading=reading)
    return row
