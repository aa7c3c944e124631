"""Issuing invoices, prepayments and credit notes: by the supplier, or recorded by the buyer of a managed one.

The number is the supplier's, the rows are the buyer's; matching runs at once. Source: contract, supply-invoice.md 2.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.ids import uuid7
from core.pipeline import ReadBack, run
from organizations.public import write_documents
from suppliers.orders.states import Party

from .billed import Billed
from .crediting import place
from .drawing import (
    check_delivered,
    check_not_over,
    delivered_call,
    draw_up,
    require_billable,
    require_return,
    return_call,
)
from .finding import BilledOrder, managed_order
from .models import Invoice
from .numbering import MEMBER, claim, evidence_calls
from .settling import Work, insert_call, settle


@needs_transaction
def issue(
    actor: Actor, target: BilledOrder, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Invoice:
    """Issue an invoice, prepayment or credit note for lines of an order.

    :raises InvalidTransition: the order was not accepted, or the invoice to be credited is rejected or withdrawn.
    :raises InvalidFields: a line, a delivery, a file, an amount or a stated total is wrong.
    :raises InvoiceNumberTaken: the supplier has another document with the number.
    :raises OverInvoiced, CreditExceedsInvoice: name each line.
    """
    return _issue(actor, target.billed, data, at, reading, by=Party.SUPPLIER.value)


@needs_transaction
def record(actor: Actor, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None) -> Invoice:
    """Record an invoice of a managed supplier.

    :raises CounterpartyOnly: the supplier is on the platform.
    :raises InvalidFields: there is no such order, or as `issue`.
    :raises InvalidTransition, InvoiceNumberTaken, OverInvoiced, CreditExceedsInvoice: as `issue`.
    """
    billed = managed_order(actor, data["purchase_order_id"])
    return _issue(actor, billed, data, at, reading, by=Party.BUYER.value)


@needs_transaction
def _issue(
    actor: Actor, billed: Billed, data: Mapping[str, Any], at: datetime, reading: ReadBack | None, *, by: str
) -> Invoice:
    order, key = billed.order, uuid7()
    is_note = data["original_invoice_id"] is not None
    if not is_note:
        require_billable(order)
    author, buyer, files = actor.tenant_id, order.tenant_id, data[MEMBER]
    products = [one.product_id for one in billed.lines.values() if one.product_id]
    claimed = claim(order.supplier_tenant_id, author, buyer, data["invoice_number"], key, products, files)
    recorder: UUID | None = actor.subject_id if by == Party.BUYER.value else None
    invoice, lines = draw_up(
        billed, data, key, at, services=claimed.services, deliveries=_deliveries(billed, data), recorded_by=recorder,
        return_id=_return(billed, data),
    )  # fmt: skip
    claimed.require_free()
    work = Work(billed, at)
    if is_note:
        calls = place(work, invoice, lines, data, by=by)
    else:
        check_not_over(billed, invoice, lines)
        billed.add(invoice, lines)
        calls = [insert_call(invoice)]
        work.new.append(invoice)
        work.tell(invoice, "invoice.issued", was=None, by=by)
    settled = settle(work)
    calls += [*evidence_calls(author, buyer, files, key, at), *settled.calls]
    write_documents(actor, buyer, settled.touched, calls, told=settled.told, at=at, reading=reading)
    return invoice


@needs_transaction
def _deliveries(billed: Billed, data: Mapping[str, Any]) -> list[str]:
    """Return the deliveries that a body names, by themselves or by their lines; the buyer is bound.

    :raises InvalidFields: the order has no such delivery.
    """
    if not data["delivery_ids"] and not any(one["delivery_line_id"] for one in data["lines"]):
        return []
    (found,) = run([delivered_call(billed.order)])
    return check_delivered(data, found)


@needs_transaction
def _return(billed: Billed, data: Mapping[str, Any]) -> UUID | None:
    """Return the return that a credit note names; the buyer is bound.

    :raises InvalidFields: the order has no such return.
    """
    key: UUID | None = data["return_id"]
    if key is not None:
        (found,) = run([return_call(billed.order, key)])
        require_return(found)
    return key
