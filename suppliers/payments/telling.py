"""What both parties are told of payments. Source: contract, supply.md 3.4, 8 and 10."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from core.money import Money
from ledger.public import Occurrence

from .events import EVENTS
from .finding import OwnPayment
from .models import PaymentAllocation

BUYER = "buyer"


def told(
    target: OwnPayment, names: Sequence[str], *, was: str | None, on: date, reason: str = ""
) -> dict[UUID, list[Occurrence]]:
    """Return what the parties are told of a payment that has just changed; `on` is its day. A managed supplier is told nothing.

    It is to be called once the new versions stand in the row.
    """
    row = target.row
    given: dict[str, Any] = {
        "supplier_id": str(row.supplier_tenant_id), "buyer_id": str(row.tenant_id), "payment_number": row.number,
        "status": row.status, "was": was, "by": BUYER, "method": row.method, "reason": reason, "currency": row.currency,
        "invoice_ids": [str(one.invoice_id) for one in target.allocations], "amount": text_of(row.amount, row.currency),
        "allocations": [_figures(target, one, on) for one in target.allocations],
    }  # fmt: skip
    facts = [EVENTS[name](**given) for name in names]
    found = {row.tenant_id: [Occurrence(one, row.pk, row.version) for one in facts]}
    if not target.books.parties.is_managed:
        found[row.supplier_tenant_id] = [Occurrence(one, row.pk, row.shared_version) for one in facts]
    return found


def _figures(target: OwnPayment, one: PaymentAllocation, on: date) -> dict[str, Any]:
    due = target.invoice(one).due_date
    days = None if due is None else (on - due).days
    return {"invoice_id": str(one.invoice_id), "amount": text_of(one.amount, one.currency), "days_from_due": days}


def text_of(amount: Decimal, currency: str) -> str:
    """Write an amount with the decimals of its currency."""
    return f"{Money(amount, currency).rounded().amount:f}"
