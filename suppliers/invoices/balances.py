"""The balances of released invoices, for whoever pays: arithmetic in memory under the lock of the order.

`balance_due = gross - credited - paid + offset`. The database holds the same by its CHECKs. Use: read `Billed` of each order
concerned (`billed.billed_calls`), move the balances here through one `Work` per order, call `settling.settle` for each, and send
its statements. Source: contract, supply-invoice.md 2 and 3.
"""

from decimal import Decimal

from .course import PAY, REVERSE, Who, require
from .models import Invoice
from .refusals import ExceedsBalance, InvoiceNotApproved
from .settling import Work
from .states import PAYABLE


def require_payable(invoice: Invoice) -> None:
    """Require that an invoice is released for payment and not paid.

    :raises InvoiceNotApproved: it is not.
    """
    if invoice.is_credit_note or str(invoice.status) not in PAYABLE:
        raise InvoiceNotApproved


def payable(invoice: Invoice) -> Decimal:
    """Return how much a new payment may hold: what of the balance is not held. Credit that has paid another invoice is due again."""
    left: Decimal = invoice.balance_due - invoice.held_total
    return left


def hold(invoice: Invoice, amount: Decimal) -> None:
    """Hold an amount for a payment under way.

    :raises InvoiceNotApproved: the invoice is not released.
    :raises ExceedsBalance: it is more than is left.
    """
    require_payable(invoice)
    if amount > payable(invoice):
        raise ExceedsBalance
    invoice.held_total += amount


def release(invoice: Invoice, amount: Decimal) -> None:
    """Give back what a payment has held that will not come."""
    invoice.held_total -= amount


def pay(work: Work, invoice: Invoice, amount: Decimal, *, by: str, held: bool = True) -> None:
    """Count what was paid, out of what was held; the invoice becomes paid where nothing is left.

    :raises ExceedsBalance: without `held`, it is more than is left.
    """
    if held:
        invoice.held_total -= amount
    elif amount > payable(invoice):
        raise ExceedsBalance
    if str(invoice.status) in PAYABLE:  # a credit may have paid it off meanwhile
        require(str(invoice.status), PAY, Who.SYSTEM)
    invoice.paid_total += amount
    work.pay_off(invoice, by=by)


def reverse(work: Work, invoice: Invoice, amount: Decimal, *, by: str) -> None:
    """Take back what was paid; the balance opens again.

    :raises InvalidTransition: nothing of the invoice was paid.
    """
    require(str(invoice.status), REVERSE, Who.SYSTEM)
    invoice.paid_total -= amount
    work.pay_off(invoice, by=by)


def use_credit(work: Work, source: Invoice, amount: Decimal, *, by: str) -> None:
    """Use credit of an invoice to pay others.

    :raises ExceedsBalance: it is more than the invoice has.
    """
    if amount > source.credit_available:
        raise ExceedsBalance
    source.offset_total += amount
    work.pay_off(source, by=by)


def give_credit_back(work: Work, source: Invoice, amount: Decimal, *, by: str) -> None:
    """Give back credit that a payment which was reversed had used."""
    source.offset_total -= amount
    work.pay_off(source, by=by)
