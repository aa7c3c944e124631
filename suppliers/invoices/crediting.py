"""Credit notes: what is taken off an invoice, in the transaction of whoever writes. Source: contract, supply-invoice.md 2 and 4."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final
from uuid import UUID

from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.money import minor_units
from core.pipeline import Call, run
from suppliers.inventory.states import Unit

from .billed import Billed, billed_calls, billed_of
from .course import CREDIT, Who, require
from .drawing import draw_up, take_totals
from .models import Invoice, InvoiceLine
from .numbering import claim
from .refusals import CreditExceedsInvoice
from .settling import Settled, Work, insert_call, settle
from .states import OPEN, InvoiceStatus, InvoiceType

_REASON: Final = "Allowance of the invoice"


def place(work: Work, note: Invoice, lines: Sequence[InvoiceLine], data: Mapping[str, Any], *, by: str) -> list[Call]:
    """Take a credit note off its invoice, in memory; return the statements that insert it.

    At the invoiced price a line takes units back; at another price it takes a part of their price off.

    :raises InvalidFields: the order has no such invoice, or the totals are wrong.
    :raises InvalidTransition: the invoice is rejected or withdrawn.
    :raises CreditExceedsInvoice: more would be credited than is left; names each line.
    """
    billed = work.billed
    original = billed.invoice(note.original_id) if note.original_id else None
    if original is None or original.is_credit_note:
        message = "The order has no such invoice."
        raise InvalidFields(errors=[FieldError("original_invoice_id", "unknown_invoice", message)])
    require(str(original.status), CREDIT, Who.SYSTEM if work.of_inspection else Who.SUPPLIER)
    _take_off(billed.of[original.pk], lines)
    if work.of_inspection:
        data = {**data, "allowances": _allowed(billed, original, lines)}
        note.allowances = data["allowances"]
    take_totals(note, lines, data)
    _credit(billed, original, note, of_inspection=work.of_inspection)
    billed.add(note, lines)
    work.new.append(note)
    calls = [insert_call(note)]
    work.tell(note, "credit_note.issued", was=None, by=by)
    if original.status == InvoiceStatus.DISPUTED:
        work.resolve(original, by=by)
    elif str(original.status) not in OPEN:
        work.pay_off(original, by=by)
    return calls


def _allowed(billed: Billed, original: Invoice, lines: Sequence[InvoiceLine]) -> list[dict[str, str]]:
    """Return the allowances of a credit note for goods that came back: what its lines are more than is left of the net.

    That is the allowance of the invoice, which was never split over its lines.
    """
    notes = sum((one.net_total for one in _notes(billed, original)), Decimal(0))
    over = sum((one.net for one in lines), Decimal(0)) - (original.net_total - notes)
    groups: dict[tuple[str, Decimal | None], Decimal] = {}
    for line in lines:
        group = (line.tax_category, line.tax_rate)
        groups[group] = groups.get(group, Decimal(0)) + line.net
    found = []
    for (category, rate), net in groups.items():
        if (amount := min(net, over)) > 0:
            over -= amount
            text = "0" if rate is None else f"{rate.normalize():f}"
            amount = round(amount, minor_units(original.currency))
            found.append({"amount": f"{amount:f}", "reason": _REASON, "tax_category": category, "tax_rate": text})
    return found


def _notes(billed: Billed, original: Invoice) -> list[Invoice]:
    return [one for one in billed.invoices if one.original_id == original.pk]


def _take_off(kept: Sequence[InvoiceLine], lines: Sequence[InvoiceLine]) -> None:
    """Count each line of a credit note in a line of the invoice: of its own delivery and price before any other.

    :raises CreditExceedsInvoice: none has as much left; names each line.
    """
    errors = list[FieldError]()
    for number, line in enumerate(lines):
        same = [
            one
            for one in kept
            if one.order_line_id == line.order_line_id and line.delivery_line_id in (None, one.delivery_line_id)
        ]
        same.sort(key=lambda one: (one.delivery_line_id != line.delivery_line_id, not _has_price(one, line)))
        if not any(_placed(one, line) for one in same):
            left = sum(one.base_quantity - one.credited for one in same)
            message = f"{left} base units of the line are left to credit."
            errors.append(FieldError(f"lines.{number}", CreditExceedsInvoice.code, message, {"remaining": left}))
    if errors:
        raise CreditExceedsInvoice(errors=errors)


def _has_price(kept: InvoiceLine, line: InvoiceLine) -> bool:
    is_same: bool = line.unit_price * kept.price_base_quantity == kept.unit_price * line.price_base_quantity
    return is_same


def _placed(kept: InvoiceLine, line: InvoiceLine) -> bool:
    """Count a line of a credit note in a line of the invoice, if as much of it is left; tell whether it was."""
    units, net = kept.base_quantity - kept.credited, kept.net - kept.credited_net
    frees = _has_price(kept, line)
    if line.base_quantity > units:
        return False
    if frees and not line.allowance and (line.net > net or line.base_quantity == units):
        line.allowance, line.net = (
            max(Decimal(0), line.net - net),
            net,
        )  # the last units take what is left of the amount
    if line.net > net:
        return False
    line.frees, line.is_service = frees, kept.is_service
    kept.credited += line.base_quantity if frees else 0
    kept.credited_net += line.net
    return True


def _credit(billed: Billed, original: Invoice, note: Invoice, *, of_inspection: bool) -> None:
    """Count the gross of a credit note; a note that takes the last of the net takes the last of the gross, rounded tax included.

    The tax of each note is rounded by itself: what many small ones have too much by that is not more than was asked for.
    Notes at other tax rates than those of the invoice count as they are.

    :raises CreditExceedsInvoice: it is more than is left.
    """
    notes = [*_notes(billed, original), note]
    net = sum((one.net_total for one in notes), Decimal(0))
    credited = original.credited_total + note.gross_total
    is_last = net == original.net_total and _is_taxed_alike(original, notes)
    is_rounding = of_inspection or sum(map(_unrounded, notes)) <= _unrounded(original)
    if net > original.net_total or (credited > original.gross_total and not is_last and not is_rounding):
        left = original.gross_total - original.credited_total
        raise CreditExceedsInvoice(f"{left:f} {original.currency} are left to credit.")
    original.credited_total = original.gross_total if is_last else min(credited, original.gross_total)


def _is_taxed_alike(original: Invoice, notes: Sequence[Invoice]) -> bool:
    """Tell whether notes of all of an invoice have its tax, but for rounding.

    The allowance of a note for goods that came back may stand in another group than that of the invoice: there the groups
    are those of the invoice.
    """
    if sum(map(_unrounded, notes)) == _unrounded(original):
        return True
    known = _groups(original)
    return any(one.return_id for one in notes) and all(_groups(one) <= known for one in notes)


def _groups(document: Invoice) -> set[tuple[str, Decimal]]:
    return {(one["tax_category"], Decimal(one["tax_rate"])) for one in document.taxes}


def _unrounded(document: Invoice) -> Fraction:
    """Return the gross of a document whose tax is not rounded."""
    taxes = (Fraction(one["net"]) * Fraction(one["tax_rate"]) / 100 for one in document.taxes)
    return Fraction(document.net_total) + sum(taxes, Fraction(0))


@needs_transaction
def issue_credit_note(  # noqa: PLR0913  # what it takes off, and who writes it
    order_tenant_id: UUID,
    invoice_id: UUID,
    number: str,
    quantities: Mapping[UUID, int],
    *,
    by: str,
    issue_date: date,
    at: datetime,
    return_id: UUID | None = None,
    author_id: UUID | None = None,
) -> tuple[Invoice, list[InvoiceLine], Settled]:
    """Issue a credit note at the invoiced prices inside the transaction of the writer; the buyer stays bound.

    `quantities` are base units by the ids of the invoice's lines. The writer has locked what comes before invoices in the
    lock order, or nothing behind orders yet. It sends the statements of what is returned with its own, touches the documents
    named there and tells what is told there; the order's counters are among them, so it must save none of `invoiced`,
    `billing_status` or the order's end itself.

    :raises InvalidFields: there is no such invoice or line.
    :raises InvalidTransition: the invoice is rejected or withdrawn.
    :raises CreditExceedsInvoice: more would be credited than is left; names each line.
    :raises InvoiceNumberTaken: another document of the supplier has the number.
    """
    billed = billed_of(run(billed_calls(order_tenant_id, invoice_id, by="invoice")))
    original = billed.invoice(invoice_id) if billed else None
    if billed is None or original is None:
        raise InvalidFields(errors=[FieldError("invoice_id", "unknown_invoice", "There is no such invoice.")])
    key, supplier = uuid7(), original.supplier_tenant_id
    claim(supplier, author_id or supplier, order_tenant_id, number, key).require_free()
    by_id = {one.pk: one for one in billed.of[invoice_id]}
    data = _body(invoice_id, number, issue_date, [_as_asked(by_id[one], units) for one, units in quantities.items()])
    note, lines = draw_up(billed, data, key, at, return_id=return_id)
    work = Work(billed, at, of_inspection=return_id is not None)
    calls = place(work, note, lines, data, by=by)
    settled = settle(work)
    settled.calls[:0] = calls
    return note, lines, settled


def _body(invoice_id: UUID, number: str, issue_date: date, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a credit note in the form of a body."""
    return {
        "invoice_number": number, "type": InvoiceType.CREDIT_NOTE.value, "issue_date": issue_date, "due_date": None,
        "delivery_ids": [], "charges": [], "allowances": [], "discount": None, "original_invoice_id": invoice_id,
        "file_ids": [], "stated_totals": None, "lines": [*lines],
    }  # fmt: skip


def _as_asked(line: InvoiceLine, units: int) -> dict[str, Any]:
    return {
        "order_line_id": line.order_line_id, "delivery_line_id": line.delivery_line_id, "quantity": units,
        "unit": Unit.BASE.value, "unit_price": line.unit_price, "price_base_quantity": line.price_base_quantity,
        "allowance": Decimal(0), "tax_category": line.tax_category, "tax_rate": line.tax_rate,
    }  # fmt: skip
