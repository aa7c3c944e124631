"""What becomes of a payment: the outcome at the bank, as its buyer records it, and its cancellation.

Source: contract, supply-invoice.md 3.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import needs_transaction
from core.model_rows import save_call
from core.pipeline import ReadBack
from organizations.public import write_documents
from suppliers.inventory.reservations.changes import joined

from .course import CANCEL, CANCELLED, FAILED, PROCESSING, REVERSED, SUCCEEDED, Step, require
from .finding import OwnPayment
from .models import PAYMENTS, Payment
from .settling import Effect, settle
from .states import FINAL
from .telling import told

_BOTH: Final = ("version", "shared_version")
_EFFECTS: Final = {
    PROCESSING: Effect.NONE, SUCCEEDED: Effect.PAY, FAILED: Effect.RELEASE, CANCELLED: Effect.RELEASE,
    REVERSED: Effect.REVERSE,
}  # fmt: skip


@needs_transaction
def confirm_payment(
    actor: Actor, target: OwnPayment, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Payment:
    """Record what the bank has made of a payment; what is held is paid or given back, what was paid is due again.

    :raises PaymentFinal: the payment is at its end.
    :raises InvalidTransition: its state does not allow the outcome.
    """
    step = require(target.row.status, data["status"])
    row, failure = target.row, data["failure"] or {}
    row.value_date = data["value_date"] or row.value_date
    row.provider_reference = data["provider_reference"] or row.provider_reference
    row.failure_code, row.failure_message = failure.get("code") or "", failure.get("message") or ""
    row.confirmed_by_id = actor.subject_id
    if step.target == SUCCEEDED:
        row.succeeded_at, row.value_date = at, row.value_date or target.books.date_of(at)
    return _write(target, step, data["reason"] or row.failure_message, at, reading)


@needs_transaction
def cancel_payment(
    actor: Actor, target: OwnPayment, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Payment:
    """Cancel a payment that was not sent to the bank yet; what it holds is free again.

    :raises PaymentFinal, InvalidTransition: as `confirm_payment`.
    """
    return _write(target, require(target.row.status, CANCEL), data["reason"] or "", at, reading)


@needs_transaction
def _write(target: OwnPayment, step: Step, reason: str, at: datetime, reading: ReadBack | None) -> Payment:
    """Take a step: write the payment with its invoices and orders, their copies, and what both parties are told."""
    row, was = target.row, str(target.row.status)
    row.become(step.target)
    row.ended_at = at if step.target in FINAL else None
    settled = settle(target, _EFFECTS[step.target], at)
    columns = (
        "status", "value_date", "provider_reference", "failure_code", "failure_message", "confirmed_by_id",
        "succeeded_at", "ended_at",
    )  # fmt: skip
    calls = [*settled.calls, save_call(row, *columns, at=at, versions=_BOTH)]
    on = row.value_date if step.target == SUCCEEDED and row.value_date else target.books.date_of(at)
    facts = joined(told(target, step.told, was=was, on=on, reason=reason), settled.told)
    touched = [(PAYMENTS, row.id), *settled.touched]
    write_documents(target.actor, row.tenant_id, touched, calls, told=facts, at=at, reading=reading)
    return row
