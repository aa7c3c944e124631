"""Where the last approval, and a rejection, lead an order that is pending because of a change. Source: contract, supply-order.md 2.

The approver's order is locked before the limits that a change gives back. Whoever else moves these for the same order waits
for it, or is told to try again.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from core.db import needs_transaction
from organizations.public import Part
from suppliers.public import (
    ACCEPTED,
    BY_BUYER,
    BY_SUPPLIER,
    SETTLED_LINE,
    ChangeState,
    OrderChange,
    Party,
    Who,
    ahead_of,
    as_changed,
    deciding_call,
    give_back_more,
    open_of,
    proposing_call,
    taken_over,
    to_state_before,
)

from .outcomes import Outcome
from .peeking import Peeked


@needs_transaction
def accept_approved(target: Peeked, at: datetime) -> Outcome:
    """Accept the supplier's change that was approved.

    :raises InsufficientStock: what the supplier accepts is not there any more, and the buyer takes nothing later.
    """
    change = open_of(target.changes, Party.SUPPLIER)
    assert change is not None
    return _accepted(target, change, at, supplier=["order.accepted"])


@needs_transaction
def _accepted(target: Peeked, change: OrderChange, at: datetime, *, supplier: Sequence[str]) -> Outcome:
    made = taken_over(target, change, at, by=Who.BUYER, may_wait=True)
    return Outcome(
        place=ACCEPTED, part=made.part, columns=made.columns, line_columns=SETTLED_LINE, calls=made.calls,
        buyer=["purchase_order.accepted"], supplier=supplier, told=made.told, lines=made.lines,
    )  # fmt: skip


@needs_transaction
def ask_again(target: Peeked, at: datetime) -> Outcome:
    """Let the supplier's change that was not approved wait for the buyer again; what it held of limits is given back.

    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, change = target.row, open_of(target.changes, Party.SUPPLIER)
    assert change is not None
    back = give_back_more(target, at)
    row.become(BY_SUPPLIER)
    change.more_gross, change.more = Decimal(0), {}
    part = Part(row.supplier_tenant_id, [], back.copies)
    return Outcome(place=BY_SUPPLIER, part=part, calls=[proposing_call(change, at)], told=back.told)


@needs_transaction
def propose_approved(target: Peeked, at: datetime) -> Outcome:
    """Let the supplier read of the buyer's change that was approved; at a managed one, where nobody answers, it is accepted."""
    row, change = target.row, open_of(target.changes, Party.BUYER)
    assert change is not None
    if ahead_of(row).is_managed:
        return _accepted(target, change, at, supplier=())
    row.become(BY_BUYER)
    return Outcome(
        place=BY_BUYER, part=Part(row.supplier_tenant_id, [], []), buyer=["purchase_order.change_proposed"],
        supplier=["order.change_proposed"], lines=as_changed(target.lines, change), reason=change.reason,
    )  # fmt: skip


@needs_transaction
def drop_change(target: Peeked, at: datetime) -> Outcome:
    """End the buyer's change that was not approved: the order is as it was before, and limits are given back.

    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, change = target.row, open_of(target.changes, Party.BUYER)
    assert change is not None
    back = give_back_more(target, at)
    place = to_state_before(row)
    part = Part(row.supplier_tenant_id, [], back.copies)
    calls = [deciding_call(change, ChangeState.DECLINED, at)]
    return Outcome(place=place, part=part, columns=["before_change"], calls=calls, told=back.told)
