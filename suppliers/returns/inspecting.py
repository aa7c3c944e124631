"""A supplier inspects what came back: its stock moves, the buyer gets a credit note or other goods, and the return is completed.

Source: contract, supply-invoice.md 4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.model_rows import lock_call, row_of, save_all_call, save_call
from core.pipeline import Call, ReadBack, run
from ledger.public import Occurrence
from organizations.public import Part, ReceivedKind, write_together
from suppliers.deliveries.models import DELIVERIES
from suppliers.files.handing_over import Handed, binding_calls, check_files, files_calls, received_calls
from suppliers.files.states import ResourceType
from suppliers.inventory.movements.came_back import Moved, Onward, move_on
from suppliers.inventory.movements.sent_back import reference_of
from suppliers.inventory.reservations.changes import joined
from suppliers.inventory.states import MovementType, ReasonCode
from suppliers.orders.ending import close_if_complete
from suppliers.orders.models import ORDERS
from suppliers.orders.sending import BOTH
from suppliers.orders.telling import SYSTEM
from suppliers.orders.telling import told as told_of_order

from .course import COMPLETED, Step, Who, require
from .crediting import Plan, credit, plan, require_number
from .disposing import DESTROY, NOT_RECEIVED, RESTOCK, TO_MANUFACTURER, Disposed, count, disposed
from .finding import Returned
from .judging import Known, check_named, knowing_calls, known, refuse_disposed
from .models import COUNTED, RETURNS, Return, ReturnPrivate
from .replacing import replace
from .states import Resolution
from .telling import SUPPLIER, told

_MOVES: Final = {
    RESTOCK: (MovementType.TRANSFER_OUT.value, ReasonCode.RETURN.value),
    DESTROY: (MovementType.DISPOSAL.value, ReasonCode.DESTROYED.value),
    TO_MANUFACTURER: (MovementType.SHIPMENT.value, ReasonCode.RETURN.value),
    NOT_RECEIVED: (MovementType.ADJUSTMENT.value, ReasonCode.CORRECTION.value),
}
_LINE: Final = (*COUNTED.values(), "file_ids", "credited", "credited_amount")


@dataclass(slots=True)
class Settled:
    """What follows from an inspection beside stock, in memory."""

    columns: list[str] = field(default_factory=list)
    at_buyer: list[Call] = field(default_factory=list)
    at_supplier: list[Call] = field(default_factory=list)
    touched: list[tuple[ReceivedKind, UUID]] = field(default_factory=list)
    told: Mapping[UUID, Sequence[Occurrence]] = field(default_factory=dict)


@needs_transaction
def inspect(
    actor: Actor, target: Returned, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Return:
    """Say what becomes of goods that came back; of a completed return, of what lies in quarantine.

    :raises InvalidFields: a line, a place, a file or a member is unknown, or goods have no disposition or too many.
    :raises InvalidTransition: the goods have not come back.
    :raises DispositionNotAllowed, WitnessRequired: name each line.
    :raises InvoiceNumberTaken, CreditExceedsInvoice: as the credit notes are issued.
    :raises InsufficientStock, StorageMismatch, LotRecalled, WrongSerial: as the stock moves; name each line.
    """
    row, was = target.row, str(target.row.status)
    again = was == COMPLETED
    if target.lines and target.lines[0].received is None:
        require(was, "inspect", Who.SUPPLIER)
    found = disposed(target.lines, data["lines"], again=again)
    billed = _planned(target, found, data, again=again)
    private, have, files = _known(actor, target, found, at)
    step = require(was, "inspect", Who.SUPPLIER)
    refuse_disposed(actor, found, have)
    moved = _moved(actor, target, found, private, have, at)
    count(found, again=again)
    private.witnesses = [*private.witnesses, *_witnesses(found, at)]
    settled = Settled() if again else _settle(target, billed, data["credit_note_number"] or "", have.today, at)
    _write(actor, target, _Inspected(step, found, private, moved, settled, files), at, reading)
    return row


@needs_transaction
def _planned(target: Returned, found: Sequence[Disposed], data: Mapping[str, Any], *, again: bool) -> Plan:
    """Lock the invoices of the order, which come before stock, and see what of the goods is credited.

    :raises InvalidFields: the number of the credit note is missing.
    """
    kept: dict[UUID, int] = {}
    for one in found:
        if one.disposition != NOT_RECEIVED:
            kept[one.line.id] = kept.get(one.line.id, 0) + one.quantity
    if again:
        return Plan(None, {})
    made = plan(target, kept, credits_goods=target.row.resolution == Resolution.CREDIT)
    require_number(made, data["credit_note_number"] or "")
    return made


@needs_transaction
def _known(
    actor: Actor, target: Returned, found: Sequence[Disposed], at: datetime
) -> tuple[ReturnPrivate, Known, Mapping[UUID, Handed]]:
    """Read what the inspection is held against, and lock what the supplier has of the return, and the files named.

    The supplier is bound afterwards.

    :raises InvalidFields: as `check_files` and `check_named`.
    """
    own = actor.tenant_id
    named = _files(found)
    files = files_calls(own, named)
    _, private, *read = run(
        [
            bind_call(own), lock_call(ReturnPrivate, own, target.row.id), *files,
            *knowing_calls(actor, target.lines, found, target.row.delivery_location_id),
        ]
    )  # fmt: skip
    handed = check_files(named, read[: len(files)])
    held = row_of(ReturnPrivate, private)
    assert held is not None
    have = known(read[len(files) :], at)
    check_named(found, have, is_kept=bool(held.stock.get("kept")))
    return held, have, handed


def _files(found: Sequence[Disposed]) -> dict[str, Sequence[UUID]]:
    return {f"lines.{one.number}.file_ids": one.file_ids for one in found}


@needs_transaction
def _moved(
    actor: Actor, target: Returned, found: Sequence[Disposed], private: ReturnPrivate, have: Known, at: datetime
) -> Moved:
    """Move the goods on from where they were set apart, where they lie in stock; the supplier is bound."""
    if not private.stock.get("kept"):
        return Moved()
    onward = []
    for one in found:
        quantity, serials = one.quantity, one.serials
        if one.disposition == NOT_RECEIVED:  # only what was counted as received, and is not there
            quantity -= one.line.base_quantity - (one.line.received or 0)
            serials = [number for number in serials if number in one.line.serial_numbers[: one.line.received]]
        if one.line.product_id and one.disposition in _MOVES and quantity > 0:
            kind, reason = _MOVES[one.disposition]
            onward.append(
                Onward(
                    one.number, one.line.product_id, quantity, one.line.lot_number, serials, one.location_id, kind, reason
                )
            )  # fmt: skip
    reference = reference_of(target.row.id, target.row.number)
    return move_on(actor, have.products, have.places(), onward, private.location_id, reference, at)


def _witnesses(found: Sequence[Disposed], at: datetime) -> list[dict[str, Any]]:
    return [
        {
            "line_no": one.line.line_no,
            "witness_id": str(one.witness),
            "base_quantity": one.quantity,
            "at": at.isoformat(),
        }
        for one in found
        if one.witness
    ]


@needs_transaction
def _settle(target: Returned, billed: Plan, number: str, today: date, at: datetime) -> Settled:
    """Count what came back, and give the buyer what it has asked for; the buyer is bound then.

    :raises InvoiceNumberTaken, CreditExceedsInvoice: as `credit`.
    """
    row, settled = target.row, Settled()
    settled.told = _count(target, at, closes=billed.billed is None)
    if billed.billed is not None and row.resolution != Resolution.CREDIT:
        for one in target.lines:
            billed.billed.replaced[one.order_line_id] = billed.billed.replaced.get(one.order_line_id, 0) + one.kept
    if row.resolution == Resolution.CREDIT or billed.billed is not None:
        credited = credit(target, billed, number, today, at)
        settled.columns.append("credit_note_id")
        settled.touched += credited.touched
        settled.told = joined(settled.told, credited.told)
    if row.resolution != Resolution.CREDIT and (made := replace(target, at)):
        row.replacement_order_id = made.row.id
        settled.columns.append("replacement_order_id")
        settled.at_buyer, settled.at_supplier = [*made.at_buyer], [*made.at_supplier]
        settled.touched.append((ORDERS, made.row.id))
        settled.told = joined(settled.told, made.told)
    settled.touched = [*dict.fromkeys([*settled.touched, (ORDERS, target.order.id), (DELIVERIES, target.delivery.id)])]
    return settled


@needs_transaction
def _count(target: Returned, at: datetime, *, closes: bool) -> Mapping[UUID, Sequence[Occurrence]]:
    """Write what the lines of order and delivery count, so that invoices are matched by it; return what is told.

    With `closes`, nothing of the order being invoiced, it closes by itself where all of it is done.
    """
    order, was = target.order, str(target.order.status)
    for one in target.lines:
        target.ordered(one).returned += one.kept
        target.delivered[one.delivery_line_id].returned -= one.not_received
    buyer, supplier = close_if_complete(order, target.order_lines, at) if closes else ([], [])
    closing = ["status", "closed_at"] if buyer else []
    counted = {one.order_line_id: target.ordered(one) for one in target.lines}
    run(
        [
            bind_call(order.tenant_id), save_call(order, *closing, at=at, versions=BOTH),
            save_all_call([*counted.values()], "returned", at=at), save_call(target.delivery, at=at, versions=BOTH),
            save_all_call([*target.delivered.values()], "returned", at=at),
        ]
    )  # fmt: skip
    lines = [vars(one) for one in target.order_lines]
    return told_of_order(order, buyer, supplier, was=was, by=SYSTEM, lines=lines) if buyer else {}


@dataclass(frozen=True, slots=True)
class _Inspected:
    """The parts of one write."""

    step: Step
    found: Sequence[Disposed]
    private: ReturnPrivate
    moved: Moved
    settled: Settled
    files: Mapping[UUID, Handed]


@needs_transaction
def _write(actor: Actor, target: Returned, made: _Inspected, at: datetime, reading: ReadBack | None) -> None:
    moved, settled = made.moved, made.settled
    row, own = target.row, actor.tenant_id
    row.become(COMPLETED)
    row.completed_at = row.completed_at or at
    handed = [one.as_received() for one in made.files.values()]
    concerned = [*{one.line.id: one.line for one in made.found}.values()]
    of_buyer = [
        *settled.at_buyer,
        save_call(row, "status", "completed_at", *settled.columns, at=at, versions=BOTH),
        save_all_call(concerned, *_LINE, at=at),
        *received_calls(row.tenant_id, own, handed, at, bound_id=row.tenant_id),
    ]
    of_supplier = [
        *moved.calls, save_call(made.private, "witnesses", at=at), *settled.at_supplier,
        *binding_calls(own, _files(made.found), ResourceType.RETURN.value, row.id, at),
    ]  # fmt: skip
    # The supplier first: the counters are those of the first owner.
    parts = [
        Part(own, [], of_supplier),
        Part(row.tenant_id, [(RETURNS, row.id), *settled.touched], of_buyer),
    ]
    facts = joined(
        settled.told, told(row, made.step.told, target.lines, was=made.step.source, by=SUPPLIER), {own: moved.facts}
    )
    write_together(actor, parts, row.id, told=facts, at=at, reading=reading, counts=moved.counts)
