"""The supplier's answer to a change that the buyer has proposed. Source: contract, supply-order.md 2 "States"."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import needs_transaction
from core.pipeline import ReadBack
from suppliers.orders.course import Step, Who
from suppliers.orders.models import PurchaseOrder
from suppliers.orders.peeks import OrderPeek
from suppliers.orders.proposals.content import open_of
from suppliers.orders.proposals.states import ChangeState
from suppliers.orders.states import Party

from . import settling
from .settling import ChangeEnding

ACCEPT: Final = "accept"


@needs_transaction
def decide(
    actor: Actor, target: OrderPeek, step: Step, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Accept or decline the change of the buyer; declined, the order is in the state before it.

    :raises InsufficientStock: names each line of which too little is free, unless the rest may come later.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    change = open_of(target.changes, Party.BUYER)
    assert change is not None
    ending = ChangeEnding(
        Who.SUPPLIER, step.buyer, step.supplier, str(target.row.status), may_wait=bool(data.get("allow_partial"))
    )
    if data["decision"] == ACCEPT:
        return settling.accept(actor, target, change, ending, at, reading)
    return settling.go_back(actor, target, change, ChangeState.DECLINED, ending, at, reading)
