"""Refusals of invoices."""

from core.errors import Conflict, Forbidden


class InvoiceNumberTaken(Conflict):
    """Another invoice or credit note of the supplier has the number."""

    code = "invoice_number_taken"
    title = "The supplier has another invoice with this number."


class OverInvoiced(Conflict):
    """More would be invoiced than was shipped, or of services and prepayments than was ordered; `errors` names each line."""

    code = "over_invoiced"
    title = "More would be invoiced than was shipped or ordered."


class CreditExceedsInvoice(Conflict):
    """More would be credited than is left of the invoice, or of a line of it; `errors` names each line."""

    code = "credit_exceeds_invoice"
    title = "More would be credited than was invoiced."


class InvoiceNotApproved(Conflict):
    """The invoice is not released for payment; `errors` names each."""

    code = "invoice_not_approved"
    title = "The invoice is not released for payment."


class ExceedsBalance(Conflict):
    """More would be paid or offset than is left; `errors` names each invoice."""

    code = "exceeds_balance"
    title = "More would be paid than is due."


class InvoicesBlocked(Conflict):
    """The buyer's relationship to the supplier stops the approval of invoices."""

    code = "relationship_blocked"
    title = "The relationship to the supplier stops the approval of invoices."


class SeparationOfDuties(Forbidden):
    """Whoever has recorded an invoice does not approve it."""

    code = "separation_of_duties"
    title = "Another person must do this."
