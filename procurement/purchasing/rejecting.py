"""Refusing an approval; a refused sending is a draft again. Source: contract, supply-order.md 2 "States"."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from core.actor import Actor
from core.db import needs_transaction
from core.pipeline import ReadBack
from organizations.public import Part, write_together
from procurement.approvals.decisions import record_call
from procurement.approvals.states import Decision
from procurement.approvals.steps import end_call
from suppliers.public import (
    DRAFT,
    ApprovalFor,
    Ending,
    PurchaseOrder,
    Who,
    give_back,
    header_call,
    joined,
    order_part,
    require,
    told,
)

from .change_outcomes import ask_again, drop_change
from .deciding import Deciding
from .outcomes import Outcome
from .peeking import Peeked

REJECTED = "purchase_order.approval_rejected"


@needs_transaction
def reject_order(
    actor: Actor, target: Deciding, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Refuse the revision of an order that waits for its approval.

    :raises InvalidTransition, RevisionChanged, AlreadyDecided: as `Deciding.check`.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, reason = target.row, data["reason"]
    target.check("reject", data["revision"])
    was = row.status
    recorded = record_call(actor, row, target.approver, Decision.REJECTED, target.before, reason, at)
    going = _LEADS[row.approval_for](target.order, at)
    columns = ["status", "approval_for", "proposed_by", *going.columns]
    calls = [recorded, header_call(row, columns, at), end_call(row), *going.calls]
    lines = [vars(one) for one in target.order.lines]
    facts = told(row, [REJECTED], was=was, by=Who.BUYER, reason=reason, lines=lines)
    # The reason is the buyer's alone.
    further = told(row, going.buyer, going.supplier, was=was, by=Who.BUYER, lines=lines)
    parts = [order_part(row, calls), going.part]
    write_together(actor, parts, row.id, told=joined(going.told, facts, further), at=at, reading=reading)
    return row


@needs_transaction
def draft_again(target: Peeked, at: datetime) -> Outcome:
    """Let an order that is not to be sent be a draft again; its limits are given back, and what it has reserved stays soft.

    :raises Busy: somebody else has changed the order meanwhile.
    """
    row = target.row
    step = require(row.place, "reject", Who.APPROVER)
    less = {one.id: one.ordered for one in target.lines}
    ended = give_back(target, Ending(step=step, target=DRAFT, less=less, by=Who.BUYER), Decimal(0), at, is_all=True)
    row.become(DRAFT)
    row.submitted_at = None
    part = Part(row.supplier_tenant_id, ended.touched, ended.calls)
    return Outcome(place=DRAFT, part=part, columns=["submitted_at"], told=ended.told)


_LEADS: Final = {
    ApprovalFor.SENDING.value: draft_again,
    ApprovalFor.SUPPLIER_CHANGE.value: ask_again,
    ApprovalFor.BUYER_CHANGE.value: drop_change,
}
