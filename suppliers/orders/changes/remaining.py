"""The supplier's answer to one line: a proposal before the order is accepted, afterwards about the rest that is not shipped.

Source: contract, supply-order.md 2 "Item response".
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import ReadBack, run
from suppliers.inventory.refusals import InsufficientStock
from suppliers.orders.course import ACCEPTED, Step, Who, require
from suppliers.orders.ending import Ending, end_order
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from suppliers.orders.peeks import ReceivedPeek
from suppliers.orders.progress import cut, delivered, drop_dates, prepared_calls, prepared_of, promise
from suppliers.orders.refusals import AlreadyShipped
from suppliers.orders.states import Backorders

from .responses import base_of, line_named, propose

_NOT_NOW: Final = ("accepted_quantity", "substitute")


@needs_transaction
def respond_to_item(
    actor: Actor, target: ReceivedPeek, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Answer one line of an order; its id is the second one in the path.

    :raises NotFound: the order has no such line.
    :raises InvalidTransition: the state does not allow it.
    :raises InvalidFields: the reason is missing, or quantities do not fit the line.
    :raises AlreadyShipped: more is shipped or in preparation than the answer leaves.
    :raises InsufficientStock, SubstitutionNotAllowed, Busy: as `propose`.
    """
    line = line_named(target.lines, target.path[1])
    step = require(target.row.place, "items", Who.SUPPLIER)
    if not data.get("reason_code"):  # a PATCH may leave out what its body names
        raise InvalidFields(errors=[FieldError("reason_code", "required", "Say why.")])
    if step.source == ACCEPTED:
        return _of_accepted(actor, target, step, line, data, at, reading)
    answer = {**data, "item_id": line.id, "place": ""}
    return propose(actor, target, step, [answer], at, reading)


@needs_transaction
def _of_accepted(  # what an action is called with, and the line
    actor: Actor,
    target: ReceivedPeek,
    step: Step,
    line: PurchaseOrderLine,
    data: Mapping[str, Any],
    at: datetime,
    reading: ReadBack | None,
) -> PurchaseOrder:
    """Move the promised date of a line, and let a part of its rest come later or not at all."""
    row, lines = target.row, target.lines
    for name in _NOT_NOW:
        if data.get(name) is not None:
            message = "The order is accepted: its rest can be promised anew, backordered or cancelled."
            raise InvalidFields(errors=[FieldError(name, "invalid", message)])
    _, *found = run([bind_call(row.supplier_tenant_id), *prepared_calls(row)])
    prepared = prepared_of(found)
    gone = base_of(line, data, "cancel_quantity") or 0
    later = base_of(line, data, "backorder_quantity")
    less = _cut(line, prepared.get(line.id, 0), gone)
    _put_off(row, line, prepared.get(line.id, 0), later, data.get("backorder_date"))
    if data.get("promised_date"):
        promise(line, data["promised_date"])
    row.revision += 1
    needed = {one.id: max(0, one.accepted - delivered(one)) for one in lines}
    reason = f"{data['reason_code']}: {data['note']}" if data.get("note") else data["reason_code"]
    ending = Ending(
        step=step, target=ACCEPTED, less={line.id: less}, by=Who.SUPPLIER, reason=reason, prepared=prepared,
        moved=frozenset({line.id}), keeping=needed,
    )  # fmt: skip
    return end_order(actor, target, ending, at, reading)


def _cut(line: PurchaseOrderLine, prepared: int, gone: int) -> int:
    """Cancel so much of the rest of a line, what comes later first.

    :raises AlreadyShipped: less is left.
    """
    wanted, sent = line.ordered - line.cancelled, delivered(line) + prepared
    if gone > wanted - sent:
        raise AlreadyShipped(f"{max(0, wanted - sent)} base units are neither shipped nor in preparation.")
    return cut(line, wanted - gone)


def _put_off(row: PurchaseOrder, line: PurchaseOrderLine, prepared: int, later: int | None, day: date | None) -> None:
    """Let so much of a line come later: on a day, or, where none is said, once there is stock.

    :raises InsufficientStock: the buyer takes nothing that comes later.
    :raises AlreadyShipped: less is left.
    :raises InvalidFields: it is less than what comes later already.
    """
    if later is None:
        return
    if later and row.backorder_policy == Backorders.REFUSE:
        message = "The buyer takes nothing that comes later."
        raise InsufficientStock(errors=[FieldError("backorder_quantity", InsufficientStock.code, message)])
    left = line.ordered - line.cancelled - delivered(line) - prepared
    if later > left:
        raise AlreadyShipped(f"{max(0, left)} base units are neither shipped nor in preparation.")
    if later < line.backordered:
        message = f"{line.backordered} base units come later; they are accepted once stock is allocated to them."
        raise InvalidFields(errors=[FieldError("backorder_quantity", "min_value", message)])
    both = line.accepted + line.backordered
    line.backordered, line.accepted = later, both - later
    line.backorder_date = day
    drop_dates(line)
