"""Recording a receipt: counters of the delivery and its order, the buyer's stock, copies and facts, in one transaction.

Source: contract, supply-order.md 4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call, ReadBack
from ledger.public import Occurrence
from suppliers.deliveries.course import COMPLETED, PARTIALLY_RECEIVED, Who, require
from suppliers.deliveries.filing import filing_calls, named_by_lines, sharing_calls
from suppliers.deliveries.models import DeliveryException
from suppliers.deliveries.receipt_models import Receipt, ReceiptLine
from suppliers.deliveries.refusals import AlreadyCompleted
from suppliers.deliveries.states import ExceptionType
from suppliers.deliveries.tally import add, is_complete
from suppliers.deliveries.telling import BUYER, Happened, told
from suppliers.files.handing_over import check_files, files_calls
from suppliers.inventory.movements.delivered import (
    Landed,
    delivered_goods,
    delivered_goods_calls,
    land,
    refuse_recalled,
)
from suppliers.inventory.movements.held_back import HeldBack, hold_back
from suppliers.inventory.reservations.changes import joined
from suppliers.invoices.rematching import answered, asking_calls

from .finding import Arriving, Receivable
from .judging import Judged, check_scanned, judge, refuse
from .placing import Placed, place, places_of
from .reversing import reverse
from .writing import Written, counted, line_values, told_of_receipt, unit_calls, write


@needs_transaction
def receive(
    actor: Actor, target: Arriving, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Receipt:
    """Record what a buyer has received of a delivery, or reverse a receipt of it.

    :raises InvalidFields: a line, a place, a file or serial numbers are unknown or missing, or the cold chain is not spoken of.
    :raises InvalidTransition: the delivery is lost.
    :raises AlreadyCompleted: all of it is received.
    :raises LotMismatch, OverReceipt, WrongSerial, LotRecalled, LotConflict, StorageMismatch: name each line.
    :raises ReceiptNotReversible: as `reverse`.
    """
    refuse_future(data["received_at"], at)
    if data["reverses"] is not None:
        return reverse(actor, target, data["reverses"], data["received_at"], at, reading)
    return _receive(actor, target, data, at, reading)


@needs_transaction
def _receive(
    actor: Actor, arriving: Arriving, data: Mapping[str, Any], at: datetime, reading: ReadBack | None
) -> Receipt:
    """Lock the delivery in the trip that reads its goods, and record what was received."""
    named = named_by_lines(data["lines"])
    read = _reading(arriving, data)
    target, found = arriving.lock([*read, *files_calls(actor.tenant_id, named)])
    lines = judge(target, data)
    delivered = delivered_goods(found[: len(read)])
    known = check_files(named, found[len(read) :])
    check_scanned(lines, delivered.packed)
    accepted = [one for one in lines if one.count.accepted and one.line.product_id]
    placed = place(delivered, data, lines, target.suspect)
    if target.row.status == COMPLETED:
        raise AlreadyCompleted
    require(target.row.status, "receipts", Who.BUYER)
    refuse(target, lines, confirmed=data["confirm_difference"])
    refuse_recalled(delivered, [(one.number, one.line.product_id, one.lot_number) for one in accepted])  # type: ignore[misc]
    receipt = _receipt(actor, target, data, placed, at)
    asked = asking_calls(target.order, target.order_lines)
    landed = land(actor, delivered, placed.arrivals, receipt.id, at, asked) if placed.arrivals else None
    filed = filing_calls(actor.tenant_id, named, target.row.id, at)
    if not target.is_managed:
        filed += sharing_calls(target.row.supplier_tenant_id, actor.tenant_id, known, at, bound_id=actor.tenant_id)
    return record(actor, target, Recorded(receipt, lines, landed, placed.held, filed), at, reading)


def _reading(arriving: Arriving, data: Mapping[str, Any]) -> list[Call]:
    """Return the statements that read what is delivered; `delivered_goods` reads their rows."""
    lots = {*arriving.lots, *(one["lot_number"] for one in data["lines"] if one["lot_number"])}
    gtins = {one["gtin"] for one in data["lines"] if one.get("gtin")}
    given = arriving.products, lots, places_of(data), data["location_id"], gtins
    return delivered_goods_calls(arriving.actor, arriving.supplier_id, *given)


def refuse_future(received_at: datetime | None, at: datetime) -> None:
    """Require that goods are there, and that a reversal has happened.

    :raises InvalidFields: they are said to come later.
    """
    if received_at is not None and received_at > at:
        message = "Goods are received first, and then recorded."
        raise InvalidFields(errors=[FieldError("received_at", "in_future", message)])


def _receipt(actor: Actor, target: Receivable, data: Mapping[str, Any], placed: Placed, at: datetime) -> Receipt:
    return Receipt(
        id=uuid7(), tenant_id=actor.tenant_id, delivery_id=target.row.id, supplier_tenant_id=target.row.supplier_tenant_id,
        received_at=data["received_at"], location_id=data["location_id"], temperature_ok=data["temperature_ok"],
        confirm_difference=data["confirm_difference"], putaway=placed.putaway, received_by_id=actor.subject_id,
        created_at=at, updated_at=at,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recorded:
    """A receipt with its lines, what has come to the shelves, and why lots are held back, by product and number.

    Where something has come, the invoices of the order were locked in the trip of the shelves, ahead of them.
    """

    receipt: Receipt
    lines: Sequence[Judged]
    landed: Landed | None = None
    held: Mapping[tuple[UUID, str], str] = field(default_factory=dict)
    calls: Sequence[Call] = field(default_factory=list)

    @property
    def spoiled(self) -> list[int]:
        """The numbers of the lines of the delivery that were not kept cold."""
        return sorted(one.line.line_no for one in self.lines if one.is_spoiled)


@needs_transaction
def record(actor: Actor, target: Receivable, made: Recorded, at: datetime, reading: ReadBack | None) -> Receipt:
    """Write a receipt that was judged, and all that follows from it; `made.calls` are what is written before it."""
    row, receipt, was = target.row, made.receipt, str(target.row.status)
    for one in made.lines:
        one.stock = made.landed.kept.get(one.number, []) if made.landed else []
        add(one.line, target.ordered(one.line), one.count)
    is_completed = is_complete(target.lines)
    row.become(COMPLETED if is_completed else PARTIALLY_RECEIVED)
    row.completed_at = at if is_completed else None
    billed = answered(target.order, target.order_lines, made.landed.shelves.ahead) if made.landed else None
    counts, held = counted(target, made.lines, at, billed), _held(target, made, at)
    calls = [
        *made.calls,
        *counts.calls,
        rows.insert(receipt),
        rows.insert_all(ReceiptLine, [line_values(receipt, one, at) for one in made.lines]),
        *(made.landed.calls if made.landed else []),
        *held.calls,
        *_excursion_calls(actor, target, made, at),
        *unit_calls(target, made.lines, at, received=True),
    ]
    names = ["delivery.received", *(["delivery.completed"] if is_completed else [])]
    facts = told_of_receipt(target, receipt, names, made.lines, was=was)
    facts = joined(facts, counts.told, _excursion_told(target, made))
    if made.landed:
        facts = joined(facts, {row.tenant_id: [*made.landed.facts, *held.facts]})
    write(actor, target, Written(receipt, calls, facts, made.landed, counts.touched), at, reading)
    return receipt


def _held(target: Receivable, made: Recorded, at: datetime) -> HeldBack:
    """Hold lots of the receipt back, which are locked by now."""
    found, known = HeldBack(), made.landed.shelves.lots if made.landed else {}
    for reason in sorted({*made.held.values()}):
        lots = [known[key] for key, why in made.held.items() if why == reason and key in known]
        one = hold_back(target.row.tenant_id, lots, reason, at, by=BUYER)
        found.calls.extend(one.calls)
        found.facts.extend(one.facts)
    return found


def _excursion_calls(actor: Actor, target: Receivable, made: Recorded, at: datetime) -> list[Call]:
    """Return the statement that reports goods that were not kept cold."""
    if not made.spoiled:
        return []
    reported = DeliveryException(
        id=uuid7(), tenant_id=target.row.tenant_id, delivery_id=target.row.id, by="buyer", at=at,
        type=ExceptionType.TEMPERATURE_EXCURSION.value, line_nos=made.spoiled, reported_by_id=actor.subject_id,
        created_at=at, updated_at=at,
    )  # fmt: skip
    return [rows.insert(reported)]


def _excursion_told(target: Receivable, made: Recorded) -> dict[UUID, list[Occurrence]]:
    if not made.spoiled:
        return {}
    kind, concerned = ExceptionType.TEMPERATURE_EXCURSION.value, [one.line for one in made.lines if one.is_spoiled]
    happened = Happened(was=str(target.row.status), by=BUYER, exception=kind)
    names = ["delivery.exception_reported"]
    return told(target.row, names, concerned, target.order_lines, happened, is_managed=target.is_managed)
