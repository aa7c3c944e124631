"""Refusals of payments. Source: contract, supply-invoice.md 3."""

from core.errors import Conflict, InvalidTransition, Unprocessable


class PaymentFinal(InvalidTransition):
    """The payment has failed, or was cancelled or reversed: nothing becomes of it any more."""

    code = "payment_final"
    title = "The payment is at its end."
    extensions = {"from": "failed", "action": "succeeded", "allowed": []}


class SupplierPaymentBlocked(Conflict):
    """The buyer's relationship to the supplier stops payments."""

    code = "supplier_payment_blocked"
    title = "The relationship to the supplier stops payments."


class PaymentCurrencyMismatch(Unprocessable):
    """Invoices are in another currency than the payment, and nothing is converted; `errors` names each."""

    code = "currency_mismatch"
    title = "The currencies differ."
