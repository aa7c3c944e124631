"""Submitting a draft: the prices of now, the limits, and sending it where nobody has to approve.

Source: contract, supply-order.md 2 "States", "Limits" and "Approvals"; supply-price.md 2 "On submit".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.pipeline import Call, ReadBack, Rows, run
from ledger.public import Occurrence
from organizations.public import write_together
from procurement.approvals.decisions import of_revision
from procurement.approvals.steps import approvals_needed, begin_call
from procurement.budgets.commitments import Choice, budget_call, budget_for, commit_call, moved_of
from suppliers.public import (
    FOR_SENDING,
    ApprovalFor,
    Judged,
    PurchaseOrder,
    PurchaseOrderLine,
    Seller,
    Terms,
    Who,
    check_more,
    check_relationship,
    check_takes_orders,
    copy_calls,
    hold,
    hold_calls,
    joined,
    judge,
    need_of,
    number_calls,
    order_part,
    reading_of,
    require,
    saving_calls,
    seller_call,
    seller_of,
    send,
    serial_call,
    taken,
    taking_calls,
    told,
    used_calls,
)

from .budgeting import hold_of
from .outcomes import Outcome, outcome_of
from .peeking import Peeked

_SAVED = (
    "status", "approval_for", "submitted_at", "authors", "revision", "budget_id", "net", "tax", "gross", "taxes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Taken:
    """What a submit has taken: the facts of it, and the rows of what was locked at the supplier."""

    of_budget: Sequence[Occurrence]
    of_promotions: Sequence[Occurrence]
    reserved: Sequence[Rows]


@needs_transaction
def submit_order(
    actor: Actor, target: Peeked, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Submit a draft: it takes its limits, and goes to the supplier unless somebody has to approve it before.

    :raises InvalidTransition: it is no draft.
    :raises PartyClosed, SupplierNotQualified, RelationshipBlocked, NotOnFormulary, OfferNotAvailable: as named.
    :raises OrderQuantityInvalid, PriceChanged, PriceNotAvailable, LicenseMissing: name each line.
    :raises SpendLimitExceeded, BudgetExceeded, AgreementExhausted, PromotionExhausted, AllocationExceeded: as named.
    :raises InsufficientStock: the supplier allocates at once, has too little, and the order takes no backorders.
    :raises ReservationNotActive, InvalidFields, CurrencyMismatch: a reservation, or the budget, cannot be used any more.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, lines = target.row, target.lines
    require(row.place, "submit", Who.BUYER)
    check_relationship(target.standing)
    seller, judged = _judged(target, at, accepts_prices=data["accept_price_changes"])
    is_sent = not approvals_needed(target.policies, row, target.standing.currency)
    have = _taken(target, judged, at, sends=seller if is_sent else None)
    row.submitted_at = at
    row.authors = [*dict.fromkeys([*row.authors, str(actor.subject_id)])]
    if of_revision(row, target.decided, ApprovalFor.SENDING):
        row.revision += 1  # what was refused is decided anew
    was = row.status
    going = _sent(row, lines, seller, have, at) if is_sent else _pending(target, have, at)
    parts = [
        order_part(row, [*saving_calls(row, lines, [*_SAVED, *going.columns], at), *going.calls]),
        going.part._replace(calls=[*going.part.calls, *copy_calls(row, lines)]),
    ]
    names = ["purchase_order.submitted", *going.buyer]
    facts = told(row, names, going.supplier, was=was, by=Who.BUYER, lines=[vars(one) for one in lines])
    told_before = {row.tenant_id: have.of_budget, row.supplier_tenant_id: have.of_promotions}
    write_together(actor, parts, row.id, told=joined(going.told, told_before, facts), at=at, reading=reading)
    return row


def _sent(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], seller: Seller, have: Taken, at: datetime) -> Outcome:
    """Let the order go to its supplier."""
    sent = send(row, lines, seller, have.reserved, at)
    row.become(sent.place)
    return outcome_of(sent)


def _pending(target: Peeked, have: Taken, at: datetime) -> Outcome:
    """Let the order wait for its approvers, and what it has reserved with it."""
    row = target.row
    row.become(FOR_SENDING)
    part, held = hold(row, target.lines, have.reserved, at)
    return Outcome(place=FOR_SENDING, part=part, calls=[begin_call(row, target.policies, at)], told=held)


@needs_transaction
def _judged(target: Peeked, at: datetime, *, accepts_prices: bool) -> tuple[Seller, Judged]:
    """Read the supplier, and judge the order by what it offers now; the budget is locked, and the supplier stays bound."""
    row = target.row
    own, supplier = row.tenant_id, row.supplier_tenant_id
    named = [budget_call(own, Choice(row.budget_code, row.cost_center), at, lock=True)] if row.budget_code else []
    terms = Terms(own, supplier, row.currency, target.standing.country or None, row.price_agreement_id)
    mine = [serial_call(own, supplier), *named]
    found = run([*mine, bind_call(supplier), seller_call(supplier, own), *reading_of(terms, target.lines, at)])
    seller = seller_of(found[len(mine) + 1])
    check_takes_orders(seller)
    if named:
        row.budget_id = budget_for(found[1], row.currency).id
    judged = judge(
        terms, row, target.lines, target.standing, found[len(mine) + 2 :], accepts_prices=accepts_prices,
        is_managed=seller.is_managed,
    )  # fmt: skip
    return seller, judged


@needs_transaction
def _taken(target: Peeked, judged: Judged, at: datetime, *, sends: Seller | None) -> Taken:
    """Take the limits in the lock order, then lock the order, and what sending needs at the supplier."""
    row, lines = target.row, target.lines
    used = used_calls(row, target.standing, judged.shares, at)
    budget = [commit_call(hold_of(row), row.gross, at)] if row.budget_id else []
    limits = taking_calls(row, lines, at)
    groups: list[list[Call]] = [
        [bind_call(row.tenant_id)], used, budget, limits, [bind_call(row.tenant_id)], [target.lock_call()],
        number_calls(row, lines, sends, at) if sends else hold_calls(row),
    ]  # fmt: skip
    found = iter(run([call for group in groups for call in group]))
    _, of_used, of_budget, of_limits, _, locked, reserved = ([next(found) for _ in group] for group in groups)
    check_more(
        row, lines, target.standing, judged.shares, of_used, more_gross=row.gross, more=need_of(row.gross, lines).shares,
    )  # fmt: skip
    moved = moved_of(of_budget[0]).told if budget else ()
    promotions = taken(row, lines, of_limits)
    target.check(locked[0])
    return Taken(moved, promotions, reserved)
