"""What a payment does to the invoices that it names, and through them to their orders; all rows are locked.

Amounts are held from the creation of a payment on, and given back or paid by what becomes of it. The credit that an offset
uses is taken from the invoices that have it. Source: contract, supply-invoice.md 2 and 3; supply.md 6 invariant 8.
"""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from enum import Enum, auto
from typing import Final

from suppliers.inventory.reservations.changes import joined
from suppliers.invoices import balances
from suppliers.invoices.models import Invoice
from suppliers.invoices.settling import Settled, Work
from suppliers.invoices.settling import settle as settle_order

from .finding import OwnPayment

_SYSTEM: Final = "system"


class Effect(Enum):
    """What a payment does to its invoices."""

    NONE = auto()
    HOLD = auto()
    PAY = auto()
    PAY_AT_ONCE = auto()  # what was never held
    RELEASE = auto()
    REVERSE = auto()


Move = Callable[[Work, Invoice, Decimal], None]


def _pay(work: Work, invoice: Invoice, amount: Decimal) -> None:
    balances.pay(work, invoice, amount, by=_SYSTEM)


def _pay_at_once(work: Work, invoice: Invoice, amount: Decimal) -> None:
    balances.pay(work, invoice, amount, by=_SYSTEM, held=False)


def _reverse(work: Work, invoice: Invoice, amount: Decimal) -> None:
    balances.reverse(work, invoice, amount, by=_SYSTEM)


def _use_credit(work: Work, invoice: Invoice, amount: Decimal) -> None:
    balances.use_credit(work, invoice, amount, by=_SYSTEM)


def _give_credit_back(work: Work, invoice: Invoice, amount: Decimal) -> None:
    balances.give_credit_back(work, invoice, amount, by=_SYSTEM)


# By effect: what happens to an invoice that is paid, and to one whose credit is used.
_OF_ALLOCATION: Final[dict[Effect, Move]] = {
    Effect.HOLD: lambda _, invoice, amount: balances.hold(invoice, amount),
    Effect.RELEASE: lambda _, invoice, amount: balances.release(invoice, amount),
    Effect.PAY: _pay,
    Effect.PAY_AT_ONCE: _pay_at_once,
    Effect.REVERSE: _reverse,
}
_OF_SOURCE: Final[dict[Effect, Move]] = {Effect.PAY_AT_ONCE: _use_credit, Effect.REVERSE: _give_credit_back}


def settle(target: OwnPayment, effect: Effect, at: datetime) -> Settled:
    """Move what a payment moves, in memory, and return what is to be saved, touched and told of it, order by order.

    :raises InvoiceNotApproved, ExceedsBalance: more would be held or used than is left.
    """
    made = Settled()
    if effect is Effect.NONE:
        return made
    works = {key: Work(billed, at) for key, billed in sorted(target.books.billed.items())}
    for one in target.allocations:
        invoice = target.invoice(one)
        _OF_ALLOCATION[effect](works[invoice.order_id], invoice, one.amount)
    for source in target.sources:
        invoice = target.invoice(source)
        _OF_SOURCE[effect](works[invoice.order_id], invoice, source.amount)
    for work in works.values():
        of_order = settle_order(work)
        made.calls += of_order.calls
        made.touched += of_order.touched
        made.told = joined(made.told, of_order.told)
    return made
