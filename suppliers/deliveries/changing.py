"""A supplier changes a shipment: a draft, which it may let leave or cancel; or a delivery, which arrives or is lost.

Source: contract, supply-order.md 3.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import save_all_call, save_call
from core.pipeline import Call, ReadBack, run
from ledger import public as ledger
from ledger.public import Occurrence
from organizations.public import write_documents
from suppliers.inventory.movements.held_back import HeldBack
from suppliers.inventory.reservations import changes
from suppliers.orders.models import ORDERS, PurchaseOrder, PurchaseOrderLine
from suppliers.orders.progress import fulfilment_of
from suppliers.orders.sending import BOTH, saving_calls

from .course import CANCELLED, DELIVERED, IN_TRANSIT, LOST, UNDER_WAY, Who, require
from .finding import Shipment
from .holding import hold_lines
from .leaving import Leaving, leave
from .models import DELIVERIES, Delivery, DeliveryLine, Transport
from .packing import check_packed
from .reporting import concerned, report
from .shipment_models import ShipmentDraft
from .shipping import left_at, packages_of, read_ground, require_accepted, transport_of
from .states import ExceptionType
from .telling import SUPPLIER, cancelled, told
from .wanting import check_goods, wants_of, wants_of_draft

_OF_DRAFTS: Final = ("lines", "packages", "from_location_id", "picking_notes")


@needs_transaction
def change(
    actor: Actor, target: Shipment, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Delivery | ShipmentDraft:
    """Change a shipment as a body says; `status` is what it is to become.

    :raises InvalidTransition: the state does not allow it.
    :raises InvalidFields, OverShipment: as `shipping.ship`.
    :raises WrongSerial, LotConflict, LotNotShippable, InsufficientStock: as `leaving.leave`.
    """
    action = data.get("status") or ("exceptions" if data.get("exception") else "update")
    require(target.status, action, Who.SUPPLIER)
    _check_members(data, action, target.status, is_draft=target.delivery is None)
    if target.delivery is not None:
        return _change_delivery(actor, target, target.delivery, data, action, at, reading)
    assert target.draft is not None
    if action == CANCELLED:
        return _cancel(actor, target.draft, data, at, reading)
    return _change_draft(actor, target, target.draft, data, at, reading)


def _check_members(data: Mapping[str, Any], action: str, status: str, *, is_draft: bool) -> None:
    """Require that a body says only what the state lets change.

    :raises InvalidFields: names each member that does not fit.
    """
    wrong = [] if is_draft and action != CANCELLED else [name for name in _OF_DRAFTS if name in data]
    if action == CANCELLED or (action == "exceptions" and status not in UNDER_WAY):
        wrong += [name for name in (*Transport.TRANSPORT, "temperature") if name in data]
    if data.get("exception") and (is_draft or action != "exceptions"):
        wrong.append("exception")
    wrong += ["dispatched_at"] * ("dispatched_at" in data and action != IN_TRANSIT)
    wrong += ["delivered_at"] * ("delivered_at" in data and action != DELIVERED)
    if wrong:
        message = "Cannot be changed with this status."
        raise InvalidFields(errors=[FieldError(name, "invalid", message) for name in wrong])


# -- drafts ---------------------------------------------------------------------------------------------------------------


@needs_transaction
def _change_draft(
    actor: Actor,
    target: Shipment,
    draft: ShipmentDraft,
    data: Mapping[str, Any],
    at: datetime,
    reading: ReadBack | None,
) -> Delivery | ShipmentDraft:
    """Write the changes of a draft, or let it leave with them."""
    order = target.order
    leaves = data.get("status") == IN_TRANSIT
    if leaves or "lines" in data:
        require_accepted(order)
    wants = wants_of(data["lines"], target.order_lines) if "lines" in data else None
    kept = wants if wants is not None else wants_of_draft(draft.lines, target.order_lines)
    for name, value in transport_of(data).items():
        setattr(draft, name, value)
    draft.from_location_id = data.get("from_location_id", draft.from_location_id)
    draft.picking_notes = data["picking_notes"] or "" if "picking_notes" in data else draft.picking_notes
    draft.packages = packages_of(data) if "packages" in data else draft.packages
    goods, places = read_ground(actor, order, kept, draft.from_location_id, draft.id)
    if wants is not None:
        check_goods(wants, data["lines"], goods)
        draft.lines, draft.lines_total = [one.as_json() for one in wants], len(wants)
    check_packed(draft.packages, kept)
    if not leaves:
        calls = [save_call(draft, *ShipmentDraft.WRITABLE, at=at)]
        return _written(actor, draft, calls, [], at, reading)
    what = Leaving(
        order=order, order_lines=target.order_lines, wants=kept, goods=goods, places=places,
        from_location_id=draft.from_location_id, shipped_at=left_at(data.get("dispatched_at"), at),
        transport={name: getattr(draft, name) for name in ShipmentDraft.TRANSPORT}, packages=draft.packages,
        picking_notes=draft.picking_notes, draft=draft,
    )  # fmt: skip
    return leave(actor, what, at, reading)


@needs_transaction
def _cancel(
    actor: Actor, draft: ShipmentDraft, data: Mapping[str, Any], at: datetime, reading: ReadBack | None
) -> ShipmentDraft:
    was = draft.status
    draft.become(CANCELLED)
    saved = save_call(draft, "status", at=at)
    return _written(actor, draft, [saved], [cancelled(draft, was, data.get("reason") or "")], at, reading)


@needs_transaction
def _written(
    actor: Actor,
    draft: ShipmentDraft,
    calls: Sequence[Call],
    facts: Sequence[Occurrence],
    at: datetime,
    reading: ReadBack | None,
) -> ShipmentDraft:
    """Write what is the supplier's alone, and read the answer."""
    told_of = ledger.statements_of_many(actor=actor, occurrences=facts, at=at) if facts else []
    found = run([bind_call(draft.tenant_id), *calls, *told_of, *([reading.call(draft.id)] if reading else [])])
    if reading is not None:
        reading.rows = found[-1]
    return draft


# -- deliveries -----------------------------------------------------------------------------------------------------------


@needs_transaction
def _change_delivery(
    actor: Actor, target: Shipment, row: Delivery, data: Mapping[str, Any], action: str, at: datetime,
    reading: ReadBack | None,
) -> Delivery:  # fmt: skip
    """Write the changes of a delivery: of its way, its arrival, its loss, or what is reported of it."""
    was = row.status
    columns = {name: value for name, value in transport_of(data).items() if getattr(row, name) != value}
    if (
        action == "update" and not columns
    ):  # nothing differs, so nothing is written; the answer is read bound to the caller
        run([bind_call(actor.tenant_id)])
        return row
    for name, value in columns.items():
        setattr(row, name, value)
    names, calls, touched = [*columns], list[Call](), [(DELIVERIES, row.id)]
    told_types, exception, about = ["delivery.updated"], None, target.lines
    held = HeldBack()
    if action == DELIVERED:
        row.become(DELIVERED)
        row.delivered_at = _arrived(row, data.get("delivered_at"), at)
        names += ["status", "delivered_at"]
        told_types = ["delivery.delivered"]
    elif action == LOST:
        calls, columns_of_loss = lose(row, target.lines, target.order, target.order_lines, at)
        names += columns_of_loss
        touched.append((ORDERS, target.order.id))
        told_types = ["delivery.lost"]
    elif action == "exceptions":
        said = data["exception"]
        calls = [report(row, said, target.lines, by=SUPPLIER, member=None, at=at)]
        told_types, exception, about = ["delivery.exception_reported"], said["type"], concerned(target.lines, said)
        if exception == ExceptionType.SUSPECT:
            held = hold_lines(row, about, said["note"] or "", at, by=SUPPLIER)
    calls = [save_call(row, *names, at=at, versions=BOTH), *calls, *held.calls]
    reason = data.get("reason") or (data.get("exception") or {}).get("note") or ""
    facts = told(row, told_types, about, was=was, by=SUPPLIER, reason=reason, exception=exception)
    both = changes.joined({row.tenant_id: held.facts}, facts)
    write_documents(actor, row.tenant_id, touched, calls, told=both, at=at, reading=reading)
    return row


def _arrived(row: Delivery, said: datetime | None, at: datetime) -> datetime:
    """Return when a delivery has arrived: now, where nothing is said.

    :raises InvalidFields: it lies ahead, or before the delivery had left.
    """
    if said is not None and not row.shipped_at <= said <= at:
        message = "Lies in the future, or before the shipment had left."
        raise InvalidFields(errors=[FieldError("delivered_at", "invalid", message)])
    return said or at


def lose(
    row: Delivery,
    lines: Sequence[DeliveryLine],
    order: PurchaseOrder,
    order_lines: Sequence[PurchaseOrderLine],
    at: datetime,
) -> tuple[list[Call], list[str]]:
    """Let a delivery be lost: what was not received counts as short, in its lines and in those of the order.

    Return the statements that write the lines and the order, bound to the buyer, and the columns of the delivery that change.
    """
    known, missing = {one.id: one for one in order_lines}, list[DeliveryLine]()
    for line in lines:
        rest = line.base_quantity - line.accepted - line.rejected - line.short
        if rest > 0:
            line.short += rest
            known[line.order_line_id].short += rest
            missing.append(line)
    row.become(LOST)
    row.lost_at = at
    order.fulfilment_status = fulfilment_of(order_lines).value
    counted = [one for one in order_lines if one.id in {line.order_line_id for line in missing}]
    calls = [save_all_call(missing, "short", at=at)] if missing else []
    calls += saving_calls(order, counted, ["fulfilment_status"], at, "short") if counted else []
    return calls, ["status", "lost_at"]
