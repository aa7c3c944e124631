"""A supplier changes a shipment: a draft, which it may let leave or cancel; or a delivery, which arrives or is lost.

Source: contract, supply-order.md 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import save_all_call, save_call
from core.pipeline import Call, ReadBack, run
from ledger import public as ledger
from ledger.public import Occurrence
from organizations.public import ReceivedKind, write_documents
from suppliers.inventory.movements.held_back import HeldBack
from suppliers.inventory.reservations import changes
from suppliers.orders.models import ORDERS, PurchaseOrder, PurchaseOrderLine
from suppliers.orders.progress import fulfilment_of
from suppliers.orders.sending import BOTH, saving_calls

from .course import CANCELLED, DELIVERED, IN_TRANSIT, LOST, UNDER_WAY, Who, require
from .filing import MEMBER, filing_calls, named_by, require_files, sharing_calls, texts_of
from .finding import Shipment
from .holding import hold_lines
from .leaving import Leaving, leave
from .models import DELIVERIES, Delivery, DeliveryLine, Transport
from .packing import check_packed
from .reporting import concerned, report
from .shipment_models import ShipmentDraft
from .shipping import left_at, packages_of, read_ground, require_accepted, transport_of
from .states import ExceptionType
from .tally import Count
from .telling import SUPPLIER, Happened, cancelled, told
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
        wrong += [name for name in (*Transport.TRANSPORT, "temperature", MEMBER) if name in data]
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
    draft.file_ids = texts_of(data[MEMBER]) if MEMBER in data else draft.file_ids
    named = {MEMBER: [UUID(key) for key in draft.file_ids]} if leaves else named_by(data)
    goods, places, known = read_ground(actor, order, kept, draft.from_location_id, draft.id, named)
    if wants is not None:
        check_goods(wants, data["lines"], goods)
        draft.lines, draft.lines_total = [one.as_json() for one in wants], len(wants)
    check_packed(draft.packages, kept)
    if not leaves:
        calls = [save_call(draft, *ShipmentDraft.WRITABLE, at=at), *filing_calls(draft.tenant_id, named, draft.id, at)]
        return _written(actor, draft, calls, [], at, reading)
    what = Leaving(
        order=order, order_lines=target.order_lines, wants=kept, goods=goods, places=places,
        from_location_id=draft.from_location_id, shipped_at=left_at(data.get("dispatched_at"), at),
        transport={name: getattr(draft, name) for name in ShipmentDraft.TRANSPORT}, packages=draft.packages,
        picking_notes=draft.picking_notes, draft=draft, files=named, known=known,
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


@dataclass(slots=True)
class _Change:
    """What is written of a delivery that changes, and what is told of it."""

    names: list[str]
    touched: list[tuple[ReceivedKind, UUID]]
    about: Sequence[DeliveryLine]
    calls: list[Call] = field(default_factory=list)
    told: str = "delivery.updated"
    exception: str | None = None
    held: HeldBack = field(default_factory=HeldBack)
    counts: Mapping[UUID, Count] = field(default_factory=dict)


@needs_transaction
def _change_delivery(
    actor: Actor, target: Shipment, row: Delivery, data: Mapping[str, Any], action: str, at: datetime,
    reading: ReadBack | None,
) -> Delivery:  # fmt: skip
    """Write the changes of a delivery: of its way, its arrival, its loss, or what is reported of it."""
    was, said = row.status, data.get("exception") or {}
    given = transport_of(data) | ({MEMBER: texts_of(data[MEMBER])} if MEMBER in data else {})
    columns = {name: value for name, value in given.items() if getattr(row, name) != value}
    if (
        action == "update" and not columns
    ):  # nothing differs, so nothing is written; the answer is read bound to the caller
        run([bind_call(actor.tenant_id)])
        return row
    for name, value in columns.items():
        setattr(row, name, value)
    named = {**named_by(data), **named_by(said, "exception.")}
    known = require_files(row.supplier_tenant_id, named, row.tenant_id)
    change = _changed(target, row, [*columns], data, action, at)
    filed = filing_calls(row.supplier_tenant_id, named, row.id, at)
    calls = [
        save_call(row, *change.names, at=at, versions=BOTH), *change.calls, *change.held.calls,
        *([bind_call(row.supplier_tenant_id), *filed, bind_call(row.tenant_id)] if filed else []),
        *sharing_calls(row.tenant_id, row.supplier_tenant_id, known, at, bound_id=row.tenant_id),
    ]  # fmt: skip
    reason = data.get("reason") or said.get("note") or ""
    happened = Happened(was=was, by=SUPPLIER, reason=reason, exception=change.exception, counts=change.counts)
    facts = told(row, [change.told], change.about, {one.id: one for one in target.order_lines}, happened)
    both = changes.joined({row.tenant_id: change.held.facts}, facts)
    write_documents(actor, row.tenant_id, change.touched, calls, told=both, at=at, reading=reading)
    return row


@needs_transaction
def _changed(
    target: Shipment, row: Delivery, names: list[str], data: Mapping[str, Any], action: str, at: datetime
) -> _Change:
    """Change a delivery as an action asks for; `names` are the columns that differ already."""
    change = _Change(names, [(DELIVERIES, row.id)], target.lines)
    if action == DELIVERED:
        row.become(DELIVERED)
        row.delivered_at = _arrived(row, data.get("delivered_at"), at)
        change.names += ["status", "delivered_at"]
        change.told = "delivery.delivered"
    elif action == LOST:
        lost = lose(row, target.lines, target.order, target.order_lines, at)
        change.calls, change.counts = lost.calls, lost.counts
        change.names += lost.names
        change.touched.append((ORDERS, target.order.id))
        change.told = "delivery.lost"
    elif action == "exceptions":
        said = data["exception"]
        change.calls = [report(row, said, target.lines, by=SUPPLIER, member=None, at=at)]
        change.told, change.exception = "delivery.exception_reported", said["type"]
        change.about = concerned(target.lines, said)
        if said["type"] == ExceptionType.SUSPECT:
            change.held = hold_lines(row, change.about, said["note"] or "", at, by=SUPPLIER)
    return change


def _arrived(row: Delivery, said: datetime | None, at: datetime) -> datetime:
    """Return when a delivery has arrived: now, where nothing is said.

    :raises InvalidFields: it lies ahead, or before the delivery had left.
    """
    if said is not None and not row.shipped_at <= said <= at:
        message = "Lies in the future, or before the shipment had left."
        raise InvalidFields(errors=[FieldError("delivered_at", "invalid", message)])
    return said or at


class Loss(NamedTuple):
    """The statements that write the lines and the order of a lost delivery, bound to the buyer.

    `names` are the columns of the delivery that change, `counts` what is missing of its lines.
    """

    calls: list[Call]
    names: list[str]
    counts: dict[UUID, Count]


def lose(
    row: Delivery,
    lines: Sequence[DeliveryLine],
    order: PurchaseOrder,
    order_lines: Sequence[PurchaseOrderLine],
    at: datetime,
) -> Loss:
    """Let a delivery be lost: what was not received counts as short, in its lines and in those of the order."""
    known, missing, counts = {one.id: one for one in order_lines}, list[DeliveryLine](), dict[UUID, Count]()
    for line in lines:
        rest = line.base_quantity - line.accepted - line.rejected - line.short
        if rest > 0:
            line.short += rest
            known[line.order_line_id].short += rest
            missing.append(line)
            counts[line.id] = Count(short=rest)
    row.become(LOST)
    row.lost_at = at
    order.fulfilment_status = fulfilment_of(order_lines).value
    counted = [one for one in order_lines if one.id in {line.order_line_id for line in missing}]
    calls = [save_all_call(missing, "short", at=at)] if missing else []
    calls += saving_calls(order, counted, ["fulfilment_status"], at, "short") if counted else []
    return Loss(calls, ["status", "lost_at"], counts)
