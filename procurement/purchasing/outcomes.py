"""Where a decision leads an order, and what is written with it beside the decision.

What the last approval and a rejection lead to is registered by what the approval is for, in the app's `ready`:

    decided(ApprovalFor.SUPPLIER_CHANGE, approved=accept_change, rejected=offer_again)

Each is called with the order as the approver has found it, and the instant, inside the transaction of the decision, and
moves the order itself: `target.row.become(...)`. At an approval the order is locked, and its buyer bound; limits were taken
before, so nothing of them is locked here. At a rejection it is not locked: what it gives back comes before it in the lock
order, so the function locks it in its place and calls `target.check` (`suppliers.public.give_back` does both). The
decision, the step that the order waits at, `purchase_order.approved` or `approval_rejected`, and the save of the row are
not its business: it returns the columns that it has changed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.pipeline import Call
from ledger.public import Occurrence
from organizations.public import Part
from suppliers.public import ApprovalFor, Place, Sent

from .peeking import Peeked


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Where an order goes.

    `columns` of the order and `line_columns` of all its lines are saved; `calls` are further ones in the buyer's rows, `part`
    is what is written in the supplier's. `buyer` and `supplier` are the types of events of the order that each side is
    told, `told` are other facts, which come before.
    """

    place: Place
    part: Part
    columns: Sequence[str] = ()
    line_columns: Sequence[str] = ()
    calls: Sequence[Call] = ()
    buyer: Sequence[str] = ()
    supplier: Sequence[str] = ()
    told: Mapping[UUID, Sequence[Occurrence]] = field(default_factory=dict)


Lead = Callable[[Peeked, datetime], Outcome]


class _Leads(NamedTuple):
    approved: Lead
    rejected: Lead


_leads: Final[dict[str, _Leads]] = {}


def decided(approval_for: ApprovalFor, *, approved: Lead, rejected: Lead) -> None:
    """Register where the last approval, and a rejection, lead an order that is pending for a purpose."""
    _leads[approval_for.value] = _Leads(approved, rejected)


def after_approval(target: Peeked, at: datetime) -> Outcome:
    """Lead an order on that its last approver has approved."""
    return _leads[target.row.approval_for].approved(target, at)


def after_rejection(target: Peeked, at: datetime) -> Outcome:
    """Lead an order back that an approver has refused."""
    return _leads[target.row.approval_for].rejected(target, at)


def outcome_of(sent: Sent) -> Outcome:
    """Return where an order goes by being sent."""
    return Outcome(
        place=sent.place, part=sent.part, columns=sent.columns, told=sent.told, buyer=sent.buyer,
        supplier=sent.supplier,
        line_columns=["accepted"] if sent.place.status == "accepted" else [],
    )  # fmt: skip
