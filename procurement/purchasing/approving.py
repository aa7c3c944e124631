"""One approval of an order; the last one leads on, at first to the supplier. Source: contract, supply-order.md 2 "Approvals"."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.model_rows import save_call
from core.pipeline import ReadBack, run
from organizations.public import write_together, write_unshared
from procurement.approvals.decisions import approvals_of, record_call
from procurement.approvals.states import Decision
from procurement.approvals.steps import approvals_needed, begin_call, end_call
from suppliers.public import (
    ApprovalFor,
    PurchaseOrder,
    Who,
    check_relationship,
    check_takes_orders,
    header_call,
    joined,
    number_calls,
    order_part,
    saving_calls,
    seller_call,
    seller_of,
    send,
    told,
)

from .amounts import to_approve
from .change_outcomes import accept_approved, propose_approved
from .deciding import Deciding
from .outcomes import Outcome, outcome_of
from .peeking import Peeked

APPROVED = "purchase_order.approved"


@needs_transaction
def approve_order(
    actor: Actor, target: Deciding, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Approve the revision of an order that waits for it; the policy of now says how many approvals it needs.

    The order is locked, so of several at once each sees the approvals before it.

    :raises InvalidTransition, RevisionChanged, AlreadyDecided: as `Deciding.check`.
    :raises SupplierNotQualified, RelationshipBlocked, PartyClosed, InsufficientStock: it cannot be sent now; it stays pending.
    """
    row, order = target.row, target.order
    target.check("approve", data["revision"])
    was, before, note = row.status, target.before, data["note"] or ""
    calls = [record_call(actor, row, target.approver, Decision.APPROVED, before, note, at)]
    if approvals_of(before) + 1 < approvals_needed(order.policies, to_approve(order), order.standing.currency):
        calls += [begin_call(row, order.policies, at), save_call(row, at=at)]
        facts = told(row, [APPROVED], was=was, by=Who.BUYER, reason=note)
        write_unshared(actor, row.tenant_id, row.id, calls, told=facts, at=at, reading=reading)
        return row
    going = _LEADS[row.approval_for](order, at)
    columns = ["status", "approval_for", "proposed_by", *going.columns]
    if going.line_columns:
        calls += saving_calls(row, order.lines, columns, at, *going.line_columns)
    else:
        calls.append(header_call(row, columns, at))
    parts = [order_part(row, [*calls, end_call(row), *going.calls]), going.part]
    lines = [vars(one) for one in going.lines or order.lines]
    facts = told(row, [APPROVED], was=was, by=Who.BUYER, reason=note, lines=lines)
    # The note is the buyer's alone.
    further = told(row, going.buyer, going.supplier, was=was, by=Who.BUYER, reason=going.reason, lines=lines)
    write_together(actor, parts, row.id, told=joined(going.told, facts, further), at=at, reading=reading)
    return row


@needs_transaction
def send_approved(target: Peeked, at: datetime) -> Outcome:
    """Let an order go to its supplier that its last approver has approved; its limits were taken when it was submitted.

    :raises PartyClosed: the supplier's tenant is closed.
    :raises SupplierNotQualified: the supplier takes no new orders any more.
    :raises RelationshipBlocked: the buyer's relationship stops orders now.
    :raises InsufficientStock: the supplier allocates at once, has too little, and the order takes no backorders.
    """
    row = target.row
    check_relationship(target.standing)
    supplier = row.supplier_tenant_id
    _, sold_by = run([bind_call(supplier), seller_call(supplier, row.tenant_id)])
    seller = seller_of(sold_by)
    check_takes_orders(seller)
    found = run(number_calls(row, target.lines, seller, at))
    sent = send(row, target.lines, seller, found, at, was_held=True)
    row.become(sent.place)
    return outcome_of(sent)


_LEADS: Final = {
    ApprovalFor.SENDING.value: send_approved,
    ApprovalFor.SUPPLIER_CHANGE.value: accept_approved,
    ApprovalFor.BUYER_CHANGE.value: propose_approved,
}
