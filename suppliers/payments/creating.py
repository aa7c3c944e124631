"""Creating a payment: its amounts are held on the invoices; an offset pays at once, with credit of other invoices.

Source: contract, supply-invoice.md 3.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call, ReadBack, run
from organizations.public import write_documents
from suppliers.agreements.refusals import SelfTrade
from suppliers.inventory.reservations.changes import joined
from suppliers.invoices.balances import payable
from suppliers.invoices.models import Invoice
from suppliers.invoices.refusals import ExceedsBalance, InvoiceNotApproved
from suppliers.invoices.states import RELEASED
from suppliers.orders.numbers import claim_calls, number_of
from suppliers.orders.states import DocumentKind
from suppliers.relationships.states import Block

from .books import Books, books_of, given_calls
from .course import CREATE, NONE, OFFSET, SUCCEEDED, step_of
from .finding import PLACE, OwnPayment
from .models import PAYMENTS, CreditSource, Payment, PaymentAllocation
from .refusals import PaymentCurrencyMismatch, SupplierPaymentBlocked
from .settling import Effect, settle
from .telling import text_of, told

Named = Sequence[tuple[str, Mapping[str, Any]]]


@needs_transaction
def create_payment(actor: Actor, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None) -> Payment:
    """Create a payment with what it pays.

    :raises SelfTrade: the supplier is the buyer itself.
    :raises InvalidFields: names each invoice that the supplier has not issued to the tenant, or that is out of reach.
    :raises SupplierPaymentBlocked: the relationship stops payments.
    :raises PaymentCurrencyMismatch, InvoiceNotApproved, ExceedsBalance: name each invoice.
    :raises PartyClosed: the supplier's tenant is closed.
    """
    if data["supplier_id"] == actor.tenant_id:
        raise SelfTrade
    row = _row(actor, data, at)
    named = [
        (f"{name}.{place}", one) for name in ("allocations", "credit_sources") for place, one in enumerate(data[name])
    ]
    locking = given_calls(row.tenant_id, row.supplier_tenant_id, [one["invoice_id"] for _, one in named])
    *found, _, number = run([*locking, *claim_calls(row.tenant_id, DocumentKind.PAYMENT, row.id)])
    row.number, books = number_of(number), books_of(found)
    _judge(actor, row, named, books)
    invoices = {one["invoice_id"]: books.invoice(one["invoice_id"]) for _, one in named}
    row.location_ids = sorted({str(one.delivery_location_id) for one in invoices.values() if one is not None})
    target = OwnPayment(
        actor, row, _parts(PaymentAllocation, row, data["allocations"], books, at),
        _parts(CreditSource, row, data["credit_sources"], books, at), books,
    )  # fmt: skip
    _write(target, at, reading)
    return row


@needs_transaction
def _write(target: OwnPayment, at: datetime, reading: ReadBack | None) -> None:
    """Hold or pay, and write the payment with all that follows."""
    row, is_offset = target.row, target.row.method == OFFSET
    step = step_of(NONE, CREATE, OFFSET if is_offset else "")
    assert step is not None
    on = row.value_date or target.books.date_of(at)
    if is_offset:
        row.become(SUCCEEDED)
        row.succeeded_at, row.value_date, row.confirmed_by_id = at, on, row.created_by_id
    settled = settle(target, Effect.PAY_AT_ONCE if is_offset else Effect.HOLD, at)
    parts = [_insert_call(model, some) for model, some in _by_model(target) if some]
    facts = joined(told(target, step.told, was=None, on=on), settled.told)
    touched = [(PAYMENTS, row.id), *settled.touched]
    calls = [rows.insert(row), *parts, *settled.calls]
    write_documents(target.actor, row.tenant_id, touched, calls, told=facts, at=at, reading=reading)


def _by_model(target: OwnPayment) -> Sequence[tuple[Any, Sequence[Any]]]:
    return ((PaymentAllocation, target.allocations), (CreditSource, target.sources))


def _judge(actor: Actor, row: Payment, named: Named, books: Books) -> None:
    """Hold a payment to its invoices.

    :raises InvalidFields, SupplierPaymentBlocked, PaymentCurrencyMismatch, InvoiceNotApproved, ExceedsBalance: as
        `create_payment`.
    """
    of = [(name, one, books.invoice(one["invoice_id"])) for name, one in named]
    if unknown := [
        FieldError(f"{name}.invoice_id", "unknown_invoice", "The supplier has issued no such invoice.")
        for name, _, invoice in of
        if invoice is None or not _is_reached(actor, row.supplier_tenant_id, invoice)
    ]:
        raise InvalidFields(errors=unknown)
    if Block.PAYMENTS.value in books.parties.blocks:
        raise SupplierPaymentBlocked
    known = [(name, one["amount"], invoice) for name, one, invoice in of if invoice is not None]
    if foreign := [
        FieldError(name, PaymentCurrencyMismatch.code, f"The invoice is in {invoice.currency}.")
        for name, _, invoice in known
        if invoice.currency != row.currency
    ]:
        raise PaymentCurrencyMismatch(errors=foreign)
    _judge_balances(known)


def _judge_balances(known: Sequence[tuple[str, Decimal, Invoice]]) -> None:
    """Hold a payment to what is left of its invoices, and of their credit.

    :raises InvoiceNotApproved, ExceedsBalance: name each invoice.
    """
    if closed := [
        FieldError(name, InvoiceNotApproved.code, f"The invoice is {invoice.status}.")
        for name, _, invoice in known
        if invoice.is_credit_note or invoice.status not in RELEASED
    ]:
        raise InvoiceNotApproved(errors=closed)
    if over := [
        FieldError(
            name, ExceedsBalance.code, "More than is left.", {"left": text_of(max(left, Decimal(0)), invoice.currency)}
        )
        for name, amount, invoice in known
        if amount > (left := _left(name, invoice))
    ]:
        raise ExceedsBalance(errors=over)


def _left(name: str, invoice: Invoice) -> Decimal:
    return payable(invoice) if name.startswith("allocations") else invoice.credit_available


def _is_reached(actor: Actor, supplier_id: UUID, invoice: Invoice) -> bool:
    return invoice.supplier_tenant_id == supplier_id and PLACE.holds(actor, invoice.delivery_location_id)


def _row(actor: Actor, data: Mapping[str, Any], at: datetime) -> Payment:
    return Payment(
        id=uuid7(), tenant_id=actor.tenant_id, supplier_tenant_id=data["supplier_id"], method=data["method"],
        amount=data["amount"], currency=data["currency"], value_date=data["value_date"],
        provider_reference=data["provider_reference"] or "", bank_account=data["bank_account"] or "",
        remittance_text=data["remittance_text"] or "", created_by_id=actor.subject_id, created_at=at, updated_at=at,
    )  # fmt: skip


def _parts(model: Any, row: Payment, given: Sequence[Mapping[str, Any]], books: Books, at: datetime) -> list[Any]:
    return [
        model(
            id=uuid7(), tenant_id=row.tenant_id, payment_id=row.id, position=place, invoice_id=one["invoice_id"],
            invoice_number=_number(books, one["invoice_id"]), currency=row.currency, amount=one["amount"],
            created_at=at, updated_at=at,
        )
        for place, one in enumerate(given, 1)
    ]  # fmt: skip


def _number(books: Books, key: UUID) -> str:
    found = books.invoice(key)
    assert found is not None
    return str(found.number)


def _insert_call(model: Any, parts: Sequence[Any]) -> Call:
    names = [one.attname for one in model._meta.concrete_fields]
    return rows.insert_all(model, [{name: _json(getattr(one, name)) for name in names} for one in parts])


def _json(value: Any) -> Any:
    return f"{value:f}" if isinstance(value, Decimal) else value
