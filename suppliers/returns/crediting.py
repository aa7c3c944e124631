"""What a buyer is credited for goods that came back: as much of them as is invoiced, at the invoiced prices.

A credit note takes off one invoice. Goods of several invoices make several notes, whose numbers follow the first. Goods of which
nothing is invoiced get none; the line is billable by so much less. Source: contract, supply-invoice.md 4; decision 114.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple
from uuid import UUID

from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.money import minor_units
from core.pipeline import run
from ledger.public import Occurrence
from organizations.public import ReceivedKind
from suppliers.inventory.reservations.changes import joined
from suppliers.invoices.billed import Billed
from suppliers.invoices.crediting import issue_credit_note
from suppliers.invoices.models import InvoiceLine
from suppliers.invoices.rematching import read_billed, rematch

from .finding import Returned
from .models import ReturnLine
from .telling import SUPPLIER

_NUMBER = 60  # letters of a number that others follow


class Share(NamedTuple):
    """So many base units of a line of the return that a line of an invoice has billed."""

    line: ReturnLine
    invoice_line_id: UUID
    units: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What is billed of the order, None for nothing, and what of the goods is credited, by invoice."""

    billed: Billed | None
    shares: Mapping[UUID, Sequence[Share]]


@dataclass(slots=True)
class Credited:
    """The documents that were touched by credits, and what is told of them."""

    touched: list[tuple[ReceivedKind, UUID]] = field(default_factory=list)
    told: Mapping[UUID, Sequence[Occurrence]] = field(default_factory=dict)


@needs_transaction
def plan(target: Returned, kept: Mapping[UUID, int], *, credits_goods: bool) -> Plan:
    """Lock the invoices of the order, and share the goods that were kept, by the ids of their lines, among these.

    The buyer is bound.
    """
    billed = read_billed(target.order, {one.id: one for one in target.order_lines})
    shares: dict[UUID, list[Share]] = {}
    if billed is not None and credits_goods:
        left = {one.pk: one.base_quantity - one.credited for lines in billed.of.values() for one in lines}
        for line in target.lines:
            for invoice_id, share in _shared(billed, line, kept.get(line.id, 0), left):
                shares.setdefault(invoice_id, []).append(share)
    return Plan(billed, shares)


def _shared(billed: Billed, line: ReturnLine, units: int, left: dict[UUID, int]) -> Iterator[tuple[UUID, Share]]:
    """Yield which lines of invoices have billed goods: those that name their delivery first, the oldest first."""
    known = [
        (invoice.pk, one)
        for invoice in billed.live()
        for one in billed.of[invoice.pk]
        if one.order_line_id == line.order_line_id and one.delivery_line_id in (None, line.delivery_line_id)
    ]
    for invoice_id, one in sorted(known, key=lambda it: it[1].delivery_line_id is None):
        here = min(units, left[one.pk])
        if here > 0:
            left[one.pk] -= here
            units -= here
            yield invoice_id, Share(line, one.pk, here)


def require_number(found: Plan, number: str) -> None:
    """Require the number of the credit note where goods are credited.

    :raises InvalidFields: it is missing.
    """
    if found.shares and not number:
        message = "Goods are credited: name the credit note."
        raise InvalidFields(errors=[FieldError("credit_note_number", "required", message)])


@needs_transaction
def credit(target: Returned, found: Plan, number: str, today: date, at: datetime) -> Credited:
    """Issue the credit notes, and match the invoices of the order again; the buyer is bound, and stays so.

    What the lines of the order count as returned is written before. The lines of the return say in memory what they are
    credited, and the return names the first note.

    :raises InvoiceNumberTaken, CreditExceedsInvoice, InvalidTransition: as `issue_credit_note`.
    """
    row, made = target.row, Credited()
    for place, (invoice_id, shares) in enumerate(found.shares.items()):
        units: dict[UUID, int] = {}
        for one in shares:
            units[one.invoice_line_id] = units.get(one.invoice_line_id, 0) + one.units
        named = number if not place else f"{number[:_NUMBER]}-{place + 1}"
        note, lines, settled = issue_credit_note(
            row.tenant_id, invoice_id, named, units, by=SUPPLIER, issue_date=today, at=at, return_id=row.pk,
            author_id=row.supplier_tenant_id,
        )  # fmt: skip
        run([bind_call(row.tenant_id), *settled.calls])
        row.credit_note_id = row.credit_note_id or note.pk
        _give(shares, dict(zip(units, lines, strict=True)), row.currency)
        _join(made, settled.touched, settled.told)
    if not found.shares and found.billed is not None:
        again = rematch(found.billed, at)
        if again.calls:
            run([bind_call(row.tenant_id), *again.calls])
        _join(made, again.touched, again.told)
    return made


def _join(
    made: Credited, touched: Sequence[tuple[ReceivedKind, UUID]], told: Mapping[UUID, Sequence[Occurrence]]
) -> None:
    made.touched = [*dict.fromkeys([*made.touched, *touched])]
    made.told = joined(made.told, told)


def _give(shares: Sequence[Share], noted: Mapping[UUID, InvoiceLine], currency: str) -> None:
    """Say in the lines of the return what they are credited; of a note's line that several share, each has its part."""
    unit = Decimal(1).scaleb(-minor_units(currency))
    left = {key: (one.base_quantity, one.net) for key, one in noted.items()}
    for one in shares:
        units, net = left[one.invoice_line_id]
        part = net if units == one.units else (net * one.units / units).quantize(unit, rounding=ROUND_HALF_UP)
        left[one.invoice_line_id] = (units - one.units, net - part)
        one.line.credited += one.units
        one.line.credited_amount = (one.line.credited_amount or Decimal(0)) + part
