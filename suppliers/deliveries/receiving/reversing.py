"""Reversing a receipt: its counts and its goods go back, and the receipt itself stays as it is.

Source: contract, supply-order.md 4 "Reversing".
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.model_rows import row_of, rows_of
from core.pipeline import Call, ReadBack, Statement
from suppliers.deliveries.course import PARTIALLY_RECEIVED, Who, require
from suppliers.deliveries.receipt_models import Receipt, ReceiptLine
from suppliers.deliveries.tally import Count, add, is_complete
from suppliers.inventory.movements.delivered import Landed
from suppliers.inventory.movements.taken_back import Gone, kept_of, take_back
from suppliers.inventory.reservations.changes import joined
from suppliers.invoices.billed import Billed
from suppliers.invoices.rematching import read_billed, released_units
from suppliers.orders.progress import tolerated

from .finding import Arriving, Receivable
from .judging import Judged
from .refusals import ReceiptNotReversible
from .writing import Written, counted, line_values, told_of_receipt, unit_calls, write

REVERSIBLE: Final = timedelta(days=30)


def _columns(model: Any) -> str:
    return ", ".join(f'"{one.column}"' for one in model._meta.concrete_fields)


_RECEIPT = Statement.of(
    f"SELECT {_columns(Receipt)} FROM suppliers_receipt WHERE tenant_id = $1 AND id = $2 AND delivery_id = $3"
)
_LINES = Statement.of(
    f"SELECT {_columns(ReceiptLine)} FROM suppliers_receiptline WHERE tenant_id = $1 AND receipt_id = $2 ORDER BY line_no"
)
_REVERSED = Statement.of("SELECT 1 FROM suppliers_receipt WHERE tenant_id = $1 AND reverses_id = $2")


class Back(NamedTuple):
    """A reversing receipt with its lines, whose counts are negative, and what it takes from the shelves."""

    receipt: Receipt
    lines: Sequence[Judged]
    landed: Landed | None
    billed: Billed | None


@needs_transaction
def reverse(
    actor: Actor,
    arriving: Arriving,
    reverses: UUID,
    received_at: datetime | None,
    at: datetime,
    reading: ReadBack | None,
) -> Receipt:
    """Reverse a receipt of a delivery, which is locked in the trip that reads it, and partially received then.

    :raises InvalidFields: the delivery has no such receipt.
    :raises InvalidTransition: nothing of the delivery is received, or it is lost.
    :raises ReceiptNotReversible: it reverses one itself, was reversed, is older than 30 days; or, with the lines, its goods
        were sent back, are billed or gone, or what it had rejected was shipped again.
    """
    own = str(actor.tenant_id)
    target, (found, lines, reversed_by) = arriving.lock(
        [
            Call(_RECEIPT, [own, str(reverses), str(arriving.key)]),
            Call(_LINES, [own, str(reverses)]),
            Call(_REVERSED, [own, str(reverses)]),
        ]
    )
    first = row_of(Receipt, found)
    if first is None:
        message = "The delivery has no such receipt."
        raise InvalidFields(errors=[FieldError("reverses", "unknown_receipt", message)])
    require(target.row.status, "reverse", Who.BUYER)
    if reason := _settled(target, first, at, is_reversed=bool(len(reversed_by))):
        raise ReceiptNotReversible(reason)
    judged = _judged(target, rows_of(ReceiptLine, lines))
    for one in judged:
        add(one.line, target.ordered(one.line), one.count)
    receipt = _reversing(actor, target, first, received_at or at, at)
    billed = read_billed(target.order, target.order_lines)
    landed = _given_back(actor, target, judged, billed, receipt)
    _write(actor, target, Back(receipt, judged, landed, billed), at, reading)
    return receipt


@needs_transaction
def _given_back(
    actor: Actor, target: Receivable, judged: Sequence[Judged], billed: Billed | None, receipt: Receipt
) -> Landed | None:
    """Take the goods from their places, where nothing has become of them since.

    :raises ReceiptNotReversible: names each line.
    """
    errors, landed = [*_unfit(target, judged, released_units(billed))], None
    try:
        landed = _taken_back(actor, judged, receipt.id, receipt.created_at)
    except Gone as gone:
        errors += [_fault(number, "stock_gone") for number in gone.lines]
    if errors:
        raise ReceiptNotReversible(errors[0].code, errors)
    return landed


def _reversing(actor: Actor, target: Receivable, first: Receipt, received_at: datetime, at: datetime) -> Receipt:
    """Return the receipt that reverses another one."""
    return Receipt(
        id=uuid7(), tenant_id=actor.tenant_id, delivery_id=target.row.id, supplier_tenant_id=first.supplier_tenant_id,
        received_at=received_at, location_id=first.location_id, temperature_ok=first.temperature_ok,
        confirm_difference=first.confirm_difference, reverses_id=first.id, putaway=first.putaway,
        received_by_id=actor.subject_id, created_at=at, updated_at=at,
    )  # fmt: skip


def _settled(target: Receivable, first: Receipt, at: datetime, *, is_reversed: bool) -> str:
    """Return why a receipt stays whatever became of its goods; "" for nothing."""
    reasons = {
        "is_reversing": first.reverses_id is not None,
        "already_reversed": is_reversed,
        "too_old": at - first.created_at > REVERSIBLE,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


_WORDS: Final = {
    "returned": "Goods of the line were sent back.",
    "billed": "Goods of the line are on an approved invoice.",
    "shipped_again": "What was rejected or short was shipped again.",
    "stock_gone": "Goods of the line are no longer there, or are promised.",
}


def _fault(number: int, reason: str) -> FieldError:
    """Return the error of a line of the receipt."""
    return FieldError(f"lines.{number}", reason, _WORDS[reason])


def _unfit(target: Receivable, judged: Sequence[Judged], billed: Mapping[UUID, int]) -> Iterator[FieldError]:
    """Yield the lines whose counters, in which the receipt is taken back already, would not hold."""
    for one in judged:
        ordered = target.ordered(one.line)
        if one.line.returned > one.line.accepted or ordered.returned > ordered.received:
            yield _fault(one.number, "returned")
        elif one.count.accepted and billed.get(ordered.id, 0) > ordered.received - ordered.returned:
            yield _fault(one.number, "billed")
        elif ordered.shipped > ordered.accepted + tolerated(ordered) + ordered.rejected + ordered.short:
            yield _fault(one.number, "shipped_again")


def _judged(target: Receivable, lines: Sequence[ReceiptLine]) -> list[Judged]:
    """Return the lines of a receipt with their counts taken back; `stock` is what they had kept of their movements."""
    by_id = {one.id: one for one in target.lines}
    return [
        Judged(
            one.line_no - 1, by_id[one.delivery_line_id], Count(one.accepted, one.rejected, one.short).reversed(),
            {"unit": one.unit, "rejection_reason": one.rejection_reason, "note": "", "file_ids": []}, one.lot_number,
            one.expiry_date, one.differs, one.serial_numbers, one.is_quarantined, one.stock or [],
        )
        for one in lines
    ]  # fmt: skip


@needs_transaction
def _taken_back(actor: Actor, judged: Sequence[Judged], receipt_id: UUID, at: datetime) -> Landed | None:
    """Take the goods from their places.

    :raises Gone: as `take_back`.
    """
    kept = [
        movement
        for one in judged
        if one.line.product_id and one.stock
        for movement in kept_of(one.number, one.line.product_id, one.stock)
    ]
    return take_back(actor, kept, receipt_id, at) if kept else None


@needs_transaction
def _write(actor: Actor, target: Receivable, back: Back, at: datetime, reading: ReadBack | None) -> None:
    row, was = target.row, str(target.row.status)
    if not is_complete(target.lines):  # where others have received more than was shipped, it stays completed
        row.become(PARTIALLY_RECEIVED)
        row.completed_at = None
    receipt, landed = back.receipt, back.landed
    counts = {one.line.id: one.count for one in back.lines}
    for one in back.lines:
        one.count, one.stock = one.count.reversed(), landed.kept.get(one.number, []) if landed else []
    counters = counted(target, back.lines, at, back.billed)
    calls = [
        *counters.calls,
        rows.insert(receipt),
        rows.insert_all(ReceiptLine, [line_values(receipt, one, at) for one in back.lines]),
        *(landed.calls if landed else []),
        *unit_calls(target, back.lines, at, received=False),
    ]
    facts = told_of_receipt(target, receipt, ["delivery.received"], back.lines, was=was, counts=counts)
    facts = joined(facts, {row.tenant_id: landed.facts}) if landed else facts
    write(actor, target, Written(receipt, calls, joined(facts, counters.told), landed, counters.touched), at, reading)
