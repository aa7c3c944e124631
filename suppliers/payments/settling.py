"""What a payment does to the invoices that it names, and through them to their orders; all rows are locked.

Amounts are held from the creation of a payment on, and given back or paid by what becomes of it. The credit that an offset
uses is taken from the invoices that have it. Source: contract, supply-invoice.md 2 and 3; supply.md 6 invariant 8.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from enum import Enum, auto
from typing import Final, NamedTuple
from uuid import UUID

from core.model_rows import save_all_call
from core.pipeline import Call
from ledger.public import Occurrence
from organizations.public import ReceivedKind
from suppliers.inventory.reservations.changes import joined
from suppliers.invoices import balances
from suppliers.invoices.models import INVOICES, Invoice
from suppliers.invoices.telling import told as told_of_invoice
from suppliers.orders.models import ORDERS

from .billing import rebilled
from .finding import OwnPayment

_BOTH: Final = ("version", "shared_version")
_SAVED: Final = ("status", "held_total", "paid_total", "offset_total", "paid_at")


class Effect(Enum):
    """What a payment does to its invoices."""

    NONE = auto()
    HOLD = auto()
    PAY = auto()
    PAY_AT_ONCE = auto()  # what was never held
    RELEASE = auto()
    REVERSE = auto()


class Settled(NamedTuple):
    """The statements that write invoices and orders, bound to the buyer; the documents that they touch, and what is told."""

    calls: list[Call]
    touched: list[tuple[ReceivedKind, UUID]]
    told: Mapping[UUID, Sequence[Occurrence]]


Move = Callable[[Invoice, Decimal, datetime], None]
# By effect: what happens to an invoice that is paid, and to one whose credit is used.
_OF_ALLOCATION: Final[dict[Effect, Move]] = {
    Effect.HOLD: lambda invoice, amount, _: balances.hold(invoice, amount),
    Effect.RELEASE: lambda invoice, amount, _: balances.release(invoice, amount),
    Effect.PAY: balances.pay,
    Effect.PAY_AT_ONCE: lambda invoice, amount, at: balances.pay(invoice, amount, at, is_held=False),
    Effect.REVERSE: balances.reverse,
}
_OF_SOURCE: Final[dict[Effect, Move]] = {
    Effect.PAY_AT_ONCE: balances.use_credit,
    Effect.REVERSE: balances.return_credit,
}


def settle(target: OwnPayment, effect: Effect, at: datetime) -> Settled:
    """Move what a payment moves, in memory, and return what is to be written and told of it.

    :raises ExceedsBalance: more would be held or used than is left.
    """
    if effect is Effect.NONE:
        return Settled([], [], {})
    books = target.books
    before = {key: str(one.status) for key, one in books.invoices.items()}
    for one in target.allocations:
        _OF_ALLOCATION[effect](books.invoices[one.invoice_id], one.amount, at)
    for source in target.sources:
        _OF_SOURCE[effect](books.invoices[source.invoice_id], source.amount, at)
    invoices = [books.invoices[key] for key in sorted(books.invoices)]
    calls = [save_all_call(invoices, *_SAVED, at=at, versions=_BOTH)]
    touched: list[tuple[ReceivedKind, UUID]] = [(INVOICES, one.id) for one in invoices]
    orders = rebilled(books.orders, books.bills, invoices) if effect not in (Effect.HOLD, Effect.RELEASE) else []
    calls += [save_all_call(orders, "billing_status", at=at, versions=_BOTH)] if orders else []
    touched += [(ORDERS, one.id) for one in orders]
    return Settled(calls, touched, _told(target, invoices, before))


def _told(
    target: OwnPayment, invoices: Sequence[Invoice], before: Mapping[UUID, str]
) -> Mapping[UUID, Sequence[Occurrence]]:
    """Return what is told of the invoices that are paid now."""
    paid = [one for one in invoices if one.status == "paid" and before[one.id] != "paid"]
    is_managed = target.books.parties.is_managed
    return joined(
        *(
            told_of_invoice(one, ["invoice.paid"], was=before[one.id], by="system", is_managed=is_managed)
            for one in paid
        )
    )
