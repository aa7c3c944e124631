"""What approvers have decided about an order: read, counted and recorded."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from core import rows
from core.actor import Actor
from core.pipeline import Call, Rows, Statement
from suppliers.public import PurchaseOrder

from .models import Approval
from .states import Decision


class Decided(NamedTuple):
    """One decision about an order."""

    revision: int
    approval_for: str
    decision: str
    approver_id: UUID
    delegated_by_id: UUID | None


_DECIDED = Statement.of(
    "SELECT a.revision, a.approval_for, a.decision, a.approver_id, a.delegated_by_id FROM procurement_approval a"
    " WHERE a.tenant_id = $1 AND a.order_id = $2 ORDER BY a.at, a.id",
    row=Decided,
)


@dataclass(frozen=True, slots=True)
class Approver:
    """Who decides: a person, and the one in whose place, if any."""

    id: UUID
    delegated_by: UUID | None = None


def decisions_call(tenant_id: UUID, order_id: UUID) -> Call:
    """Return the statement that reads all decisions about an order; its buyer is bound."""
    return Call(_DECIDED, [str(tenant_id), str(order_id)])


def decisions_of(found: Rows) -> list[Decided]:
    """Return the decisions that `decisions_call` has read."""
    return list(found.of(Decided))


def of_revision(row: PurchaseOrder, decided: Iterable[Decided], approval_for: str = "") -> list[Decided]:
    """Keep the decisions about the present revision, for what the order is pending or for another purpose."""
    wanted = (row.revision, approval_for or row.approval_for)
    return [one for one in decided if (one.revision, one.approval_for) == wanted]


def people_of(decided: Iterable[Decided]) -> set[UUID]:
    """Return who has decided: approvers, and those in whose place."""
    return {one for each in decided for one in (each.approver_id, each.delegated_by_id) if one is not None}


def approvals_of(decided: Iterable[Decided]) -> int:
    """Count the approvals."""
    return sum(one.decision == Decision.APPROVED for one in decided)


def record_call(  # one argument for each part of the decision
    actor: Actor,
    row: PurchaseOrder,
    approver: Approver,
    decision: Decision,
    before: Collection[Decided],
    note: str,
    at: datetime,
) -> Call:
    """Return the statement that records a decision about a pending order; `before` are those about the same revision."""
    made = Approval(
        tenant_id=row.tenant_id, order_id=row.id, revision=row.revision, approval_for=row.approval_for,
        step=len(before) + 1, decision=decision.value, approver_id=approver.id, delegated_by_id=approver.delegated_by,
        note=note, credential=actor.subject.credential, at=at,
    )  # fmt: skip
    return rows.insert(made)
