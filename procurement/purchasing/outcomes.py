"""Where a decision leads an order, and what is written with it beside the decision.

Each way is called with the order as the approver has found it, and the instant, inside the transaction of the decision, and
moves the order itself: `target.row.become(...)`. At an approval the order is locked, and its buyer bound; the limits of a
sending were taken before, those of a change move behind that lock. At a rejection it is not locked: what it gives back comes
before it in the lock order, so the way locks it in its place and calls `target.check` (`suppliers.public.give_back` does
both). The decision, the step that the order waits at, `purchase_order.approved` or `approval_rejected`, and the save of the
row are not its business: it returns the columns that it has changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from core.pipeline import Call
from ledger.public import Occurrence
from organizations.public import Part
from suppliers.public import ACCEPTED, Place, PurchaseOrderLine, Sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Where an order goes.

    `columns` of the order and `line_columns` of all its lines are saved; `calls` are further ones in the buyer's rows, `part`
    is what is written in the supplier's. `buyer` and `supplier` are the types of events of the order that each side is
    told, with the figures of `lines`, by default those of the order, and `reason`; `told` are other facts, which come before.
    """

    place: Place
    part: Part
    columns: Sequence[str] = ()
    line_columns: Sequence[str] = ()
    calls: Sequence[Call] = ()
    buyer: Sequence[str] = ()
    supplier: Sequence[str] = ()
    told: Mapping[UUID, Sequence[Occurrence]] = field(default_factory=dict)
    lines: Sequence[PurchaseOrderLine] = ()
    reason: str = ""


def outcome_of(sent: Sent) -> Outcome:
    """Return where an order goes by being sent."""
    return Outcome(
        place=sent.place, part=sent.part, columns=sent.columns, told=sent.told, buyer=sent.buyer,
        supplier=sent.supplier,
        line_columns=["accepted"] if sent.place == ACCEPTED else [],
    )  # fmt: skip
