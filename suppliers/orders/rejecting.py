"""The supplier rejects an order that it has never accepted: all that the order has taken is given back.

Source: contract, supply-order.md 2 "States" and "The supplier's answer".
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.actor import Actor
from core.db import needs_transaction
from core.errors import InvalidTransition
from core.pipeline import ReadBack

from .course import REJECTED, Who, allowed, require
from .ending import Ending, cut_all, end_order
from .models import PurchaseOrder
from .peeks import ReceivedPeek


@needs_transaction
def reject_order(
    actor: Actor, target: ReceivedPeek, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Reject an order; the buyer's limits and what is reserved are given back.

    :raises InvalidTransition: the state does not allow it, or the order was accepted before.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row = target.row
    step = require(row.place, "reject", Who.SUPPLIER)
    if row.accepted_at is not None:
        others = [one for one in allowed(row.place, Who.SUPPLIER) if one != "reject"]
        raise InvalidTransition(state=row.status, action="reject", allowed=others)
    reason = f"{data['reason_code']}: {data['note']}" if data["note"] else data["reason_code"]
    ending = Ending(step=step, target=REJECTED, less=cut_all(target.lines), by=Who.SUPPLIER, reason=reason)
    return end_order(actor, target, ending, at, reading)
