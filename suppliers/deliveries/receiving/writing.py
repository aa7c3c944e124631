"""The last write of a receipt: its rows and counters, with the copies of receipt, order and delivery.

Source: contract, supply-order.md 4 and supply.md 3.2.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.ids import uuid7
from core.model_rows import save_all_call, save_call
from core.pipeline import Call, ReadBack
from ledger.public import Occurrence
from organizations.public import ReceivedKind, write_documents
from suppliers.deliveries.models import DELIVERIES
from suppliers.deliveries.receipt_models import RECEIPTS, Receipt
from suppliers.deliveries.tally import Count
from suppliers.deliveries.telling import BUYER, Happened, told
from suppliers.inventory.movements.delivered import Landed
from suppliers.inventory.movements.taken_back import units_call
from suppliers.inventory.reservations.changes import joined
from suppliers.invoices.billed import Billed
from suppliers.invoices.rematching import read_billed, rematch
from suppliers.orders.ending import close_if_complete
from suppliers.orders.models import ORDERS
from suppliers.orders.progress import fulfilment_of
from suppliers.orders.telling import SYSTEM
from suppliers.orders.telling import told as told_of_order

from .finding import Receivable
from .judging import Judged

BOTH: Final = ("version", "shared_version")
COUNTED: Final = ("accepted", "rejected", "short", "tolerance")
ORDERED: Final = ("shipped", "received", "rejected", "short", "over_received")


class Written(NamedTuple):
    """A receipt with the statements that write it, what is told of it, and what it moved on the buyer's shelves."""

    receipt: Receipt
    calls: Sequence[Call]
    told: Mapping[UUID, Sequence[Occurrence]]
    landed: Landed | None
    touched: Sequence[tuple[ReceivedKind, UUID]] = ()


@needs_transaction
def write(actor: Actor, target: Receivable, made: Written, at: datetime, reading: ReadBack | None) -> None:
    """Write a receipt with the copies of receipt, order and delivery, and of the invoices that match otherwise now.

    The answer is the buyer's receipt alone, so it is read with the rows, and what else is written goes with COMMIT.
    """
    order = (ORDERS, target.order.id)
    billed = [one for one in made.touched if one != order]
    touched = [(RECEIPTS, made.receipt.id), order, (DELIVERIES, target.row.id), *billed]
    counts = made.landed.counts if made.landed else []
    given: dict[str, Any] = {"told": made.told, "at": at, "reading": reading, "counts": counts}
    write_documents(actor, target.row.tenant_id, touched, made.calls, **given, is_answered_first=True)


class Counted(NamedTuple):
    """The statements that save counters, and what is told of invoices, and of the order where it has closed by them."""

    calls: list[Call]
    told: Mapping[UUID, Sequence[Occurrence]]
    touched: Sequence[tuple[ReceivedKind, UUID]]


@needs_transaction
def counted(target: Receivable, lines: Sequence[Judged], at: datetime, billed: Billed | None = None) -> Counted:
    """Save the counters, how far the order is, and the delivery; an order of which all is done closes by itself.

    The open invoices of the order are matched again; `billed` are those that the caller has locked.
    """
    order, was = target.order, str(target.order.status)
    order.fulfilment_status = fulfilment_of(target.order_lines.values()).value
    ordered = {one.line.order_line_id: target.ordered(one.line) for one in lines}
    buyer, supplier = close_if_complete(order, [*target.order_lines.values()], at)
    closing = ["status", "closed_at"] if buyer else []
    calls = [
        save_call(order, "fulfilment_status", *closing, at=at, versions=BOTH),
        save_all_call([*ordered.values()], *ORDERED, at=at),
        save_call(target.row, "status", "completed_at", at=at, versions=BOTH),
        save_all_call([one.line for one in lines], *COUNTED, at=at),
    ]
    settled = rematch(billed or read_billed(order, target.order_lines), at)
    calls += settled.calls
    if not buyer:
        return Counted(calls, settled.told, settled.touched)
    kept = [vars(one) for one in target.order_lines.values()]
    heard = [] if target.is_managed else supplier
    closed = told_of_order(order, buyer, heard, was=was, by=SYSTEM, lines=kept)
    return Counted(calls, joined(closed, settled.told), settled.touched)


def told_of_receipt(
    target: Receivable,
    receipt: Receipt,
    names: Sequence[str],
    lines: Sequence[Judged],
    *,
    was: str,
    counts: Mapping[UUID, Count] | None = None,
) -> dict[UUID, list[Occurrence]]:
    """Return what the parties are told of a receipt, whose delivery has just changed; of a reversal with what it takes back."""
    counted = {one.line.id: one.count for one in lines} if counts is None else counts
    happened = Happened(was=was, by=BUYER, counts=counted, receipt=receipt)
    about = [one.line for one in lines]
    return told(target.row, names, about, target.order_lines, happened, is_managed=target.is_managed)


def line_values(receipt: Receipt, one: Judged, at: datetime) -> dict[str, Any]:
    """Return a line of a receipt as it is stored."""
    asked = one.asked
    return {
        "id": uuid7(), "tenant_id": receipt.tenant_id, "created_at": at, "updated_at": at, "version": 1,
        "receipt_id": receipt.id, "line_no": one.number + 1, "delivery_line_id": one.line.id, "unit": asked["unit"],
        **one.count._asdict(), "rejection_reason": asked["rejection_reason"] or "", "lot_number": one.lot_number,
        "expiry_date": one.expiry_date, "differs": one.differs, "is_quarantined": one.is_quarantined,
        "serial_numbers": [*one.serials], "note": asked["note"] or "", "file_ids": [str(key) for key in asked["file_ids"]],
        "stock": one.stock or None,
    }  # fmt: skip


def unit_calls(target: Receivable, lines: Sequence[Judged], at: datetime, *, received: bool) -> list[Call]:
    """Return the statements that tell the supplier's units that their buyer has them, or no more; the buyer is bound again."""
    named = [(one.line.product_id, number) for one in lines if one.line.product_id for number in one.serials]
    if not named:
        return []
    supplier_id = target.row.supplier_tenant_id
    turned = units_call(supplier_id, named, at, received=received)
    return [bind_call(supplier_id), turned, bind_call(target.row.tenant_id)]
