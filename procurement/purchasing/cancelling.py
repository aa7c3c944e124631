"""Cancelling an order, or what is not shipped of it, and closing one: what it has taken is given back.

Source: contract, supply-order.md 2 "States".
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.pipeline import ReadBack
from procurement.approvals.steps import end_call
from suppliers.public import (
    ACCEPTED,
    CANCELLED,
    CLOSED,
    Ahead,
    AlreadyShipped,
    CancellationNotAllowed,
    Ending,
    OpenDelivery,
    OpenInvoice,
    OrderStatus,
    PurchaseOrder,
    Who,
    ahead_of,
    cut,
    cut_all,
    delivered,
    end_order,
    on_lines,
    on_the_way,
    require,
)

from .peeking import Peeked

REMAINDER = "remainder"


@needs_transaction
def cancel_order(
    actor: Actor, target: Peeked, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Cancel an order, or the rest of one; limits and stock are given back.

    :raises InvalidTransition: the state does not allow it.
    :raises AlreadyShipped: something is shipped or in preparation; or with `remainder`, nothing else is left.
    :raises CancellationNotAllowed: the supplier has accepted the order, and its settings or a change under way forbid it.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, reason = target.row, data["reason"] or ""
    step = require(row.place, "cancel", Who.BUYER, REMAINDER if data[REMAINDER] else "")
    if row.place != ACCEPTED:
        if row.accepted_at is not None:
            raise CancellationNotAllowed
        less = cut_all(target.lines)
        waits = [end_call(row)] if row.status == OrderStatus.PENDING_APPROVAL else []
        ending = Ending(step=step, target=CANCELLED, less=less, by=Who.BUYER, reason=reason, calls=waits)
        return end_order(actor, target, ending, at, reading)
    ahead = ahead_of(row)
    is_untouched = not ahead.prepared and not any(one.shipped for one in target.lines)
    if not is_untouched and not data[REMAINDER]:
        raise AlreadyShipped
    if ahead.settings["cancel_until"] == "accepted":
        raise CancellationNotAllowed
    less, place = _cut_rest(target, ahead), ACCEPTED
    if not any(less.values()):
        raise AlreadyShipped("All that is left of the order is shipped or in preparation.")
    if is_untouched:
        step, place = require(row.place, "cancel", Who.BUYER), CANCELLED
    ending = Ending(
        step=step, target=place, less=less, by=Who.BUYER, reason=reason, prepared=ahead.prepared,
        is_silent=ahead.is_managed,
    )  # fmt: skip
    return end_order(actor, target, ending, at, reading)


@needs_transaction
def close_order(
    actor: Actor, target: Peeked, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Close an accepted order of which nothing more will come; what was not received counts as cancelled.

    :raises InvalidTransition: it is not accepted.
    :raises OpenDelivery: names each line of which something is in preparation or on the way.
    :raises OpenInvoice: names each line of which something was received and is not invoiced.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, lines = target.row, target.lines
    step = require(row.place, "close", Who.BUYER)
    ahead = ahead_of(row)
    moving = {
        n: "It is on the way." for n, one in enumerate(lines) if on_the_way(one) > 0 or ahead.prepared.get(one.id)
    }
    if moving:
        raise OpenDelivery(errors=on_lines(OpenDelivery.code, moving))
    owed = {n: "It is not invoiced yet." for n, one in enumerate(lines) if one.owed > 0}
    if owed:
        raise OpenInvoice(errors=on_lines(OpenInvoice.code, owed))
    ending = Ending(
        step=step, target=CLOSED, less=_cut_rest(target, ahead), by=Who.BUYER, reason=data["reason"] or "",
        is_silent=ahead.is_managed,
    )  # fmt: skip
    return end_order(actor, target, ending, at, reading)


def _cut_rest(target: Peeked, ahead: Ahead) -> dict[UUID, int]:
    """Cancel in memory what is neither shipped nor in preparation; return how much of each line."""
    return {
        one.id: max(0, cut(one, min(one.ordered - one.cancelled, delivered(one) + ahead.prepared.get(one.id, 0))))
        for one in target.lines
    }
