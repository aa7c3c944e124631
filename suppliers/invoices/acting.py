"""What a buyer makes of an invoice, and how its supplier withdraws it. Source: contract, supply-invoice.md 2, the state table."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import ReadBack
from organizations.public import write_documents
from suppliers.orders.states import Party

from .course import WITHDRAW, Who, refuse, require
from .finding import BilledInvoice
from .models import INVOICES, Invoice
from .refusals import InvoicesBlocked, SeparationOfDuties
from .settling import Work, settle
from .states import InvoiceStatus

_BUYER, _SUPPLIER = Party.BUYER.value, Party.SUPPLIER.value


def _require(row: Invoice, action: str, who: Who, choice: str = "") -> None:
    """Require that an invoice allows an action.

    :raises InvalidTransition: its state does not, or it is a credit note.
    """
    if row.is_credit_note:
        raise refuse(str(row.status), action)
    require(str(row.status), action, who, choice)


@needs_transaction
def _write(actor: Actor, target: BilledInvoice, work: Work, at: datetime, reading: ReadBack | None) -> Invoice:
    row, settled = target.row, settle(work)
    touched = [(INVOICES, row.pk), *(one for one in settled.touched if one != (INVOICES, row.pk))]
    write_documents(actor, row.tenant_id, touched, settled.calls, told=settled.told, at=at, reading=reading)
    return row


@needs_transaction
def match_again(actor: Actor, target: BilledInvoice, at: datetime, reading: ReadBack | None = None) -> Invoice:
    """Match an invoice again.

    :raises InvalidTransition: it is released, under query or at its end.
    """
    _require(target.row, "match", Who.BUYER)
    work = Work(target.billed, at)
    work.rematch(target.row, asked=True)
    return _write(actor, target, work, at, reading)


@needs_transaction
def approve(
    actor: Actor, target: BilledInvoice, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Invoice:
    """Release an invoice for payment.

    :raises SeparationOfDuties: the caller has recorded it.
    :raises InvalidTransition: it is not matched.
    :raises InvalidFields: it does not match, and no reason is given; or it does, and one is.
    :raises InvoicesBlocked: the relationship stops approvals.
    """
    row, reason = target.row, (data["override_reason"] or "").strip()
    if row.recorded_by_id is not None and row.recorded_by_id == actor.subject_id:
        raise SeparationOfDuties
    _require(row, "approve", Who.BUYER)
    is_mismatched = row.status == InvoiceStatus.MISMATCHED
    if is_mismatched and not reason:
        message = "The invoice does not match: say why it is released."
        raise InvalidFields(errors=[FieldError("override_reason", "required", message)])
    if reason and not is_mismatched:
        raise InvalidFields(
            errors=[FieldError("override_reason", "invalid", "The invoice matches: nothing is overridden.")]
        )
    if target.billed.rules.is_blocked:
        raise InvoicesBlocked
    work = Work(target.billed, at)
    work.approve(row, by=_BUYER, reason=reason)
    row.approved_by_id = actor.subject_id
    return _write(actor, target, work, at, reading)


@needs_transaction
def dispute(
    actor: Actor, target: BilledInvoice, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Invoice:
    """Put an invoice under query, or with `withdraw` end that; it is matched again then.

    :raises InvalidTransition: its state does not allow it, or something of it is held or paid.
    """
    row, work = target.row, Work(target.billed, at)
    if data["withdraw"]:
        _require(row, "dispute", Who.BUYER, WITHDRAW)
        work.resolve(row, by=_BUYER)
        return _write(actor, target, work, at, reading)
    _require(row, "dispute", Who.BUYER)
    if row.held_total or row.paid_total or row.offset_total:
        raise refuse(str(row.status), "dispute")
    was = str(row.status)
    row.become(InvoiceStatus.DISPUTED.value)
    row.dispute_reason, row.dispute_note, row.disputed_at = data["reason_code"], data["note"] or "", at
    row.approved_at = row.approved_by_id = None
    row.override_reason = ""
    work.tell(row, "invoice.disputed", was=was, by=_BUYER, reason=row.dispute_note, code=row.dispute_reason)
    return _write(actor, target, work, at, reading)


@needs_transaction
def reject(
    actor: Actor, target: BilledInvoice, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Invoice:
    """Refuse an invoice for good; what it has billed may be invoiced again.

    :raises InvalidTransition: it is released or at its end.
    """
    return _end(actor, target, data, at, reading, InvoiceStatus.REJECTED)


@needs_transaction
def cancel(
    actor: Actor, target: BilledInvoice, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Invoice:
    """Withdraw an invoice that is not released; what it has billed may be invoiced again.

    :raises InvalidTransition: it is released or at its end.
    """
    return _end(actor, target, data, at, reading, InvoiceStatus.CANCELLED)


@needs_transaction
def _end(
    actor: Actor,
    target: BilledInvoice,
    data: Mapping[str, Any],
    at: datetime,
    reading: ReadBack | None,
    becomes: InvoiceStatus,
) -> Invoice:
    row, was = target.row, str(target.row.status)
    is_rejected = becomes == InvoiceStatus.REJECTED
    _require(row, "reject" if is_rejected else "cancel", Who.BUYER if is_rejected else Who.SUPPLIER)
    row.become(becomes.value)
    row.dispute_reason = row.dispute_note = ""
    row.disputed_at, row.ended_at, row.reason = None, at, data["reason"]
    work = Work(target.billed, at)
    by = _BUYER if is_rejected else _SUPPLIER
    work.tell(row, f"invoice.{becomes.value}", was=was, by=by, reason=row.reason)
    return _write(actor, target, work, at, reading)
