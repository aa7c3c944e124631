"""The states of invoices, and the choices of their fields. Source: contract, supply-invoice.md 2."""

from typing import Final

from django.db.models import TextChoices


class InvoiceStatus(TextChoices):
    """What has become of an invoice; a credit note stays issued."""

    ISSUED = "issued", "Issued"
    MATCHED = "matched", "Matches what was ordered and received"
    MISMATCHED = "mismatched", "Differs from what was ordered or received"
    APPROVED = "approved", "Released for payment"
    DISPUTED = "disputed", "Under query"
    PARTIALLY_PAID = "partially_paid", "A part is paid"
    PAID = "paid", "Paid"
    REJECTED = "rejected", "Rejected"
    CANCELLED = "cancelled", "Withdrawn by the supplier"


class InvoiceType(TextChoices):
    """What kind of document it is."""

    INVOICE = "invoice", "Invoice of what was shipped"
    CREDIT_NOTE = "credit_note", "Credit note of an invoice"
    PREPAYMENT = "prepayment", "Invoice of what is ordered, before it is shipped"


class MatchStatus(TextChoices):
    """The result of holding an invoice against its order and what was received."""

    MATCHED = "matched", "Every line is right"
    MISMATCHED = "mismatched", "A line differs"


class MatchResult(TextChoices):
    """The result of a line."""

    OK = "ok", "As ordered and received"
    NOT_RECEIVED = "not_received", "Nothing is accepted yet"
    QUANTITY_OVER = "quantity_over", "More than was received"
    PRICE_OVER = "price_over", "Dearer than ordered"
    NOT_ORDERED = "not_ordered", "Not ordered, or cancelled"
    TAX_DIFFERS = "tax_differs", "Another tax than ordered"


class DisputeReason(TextChoices):
    """Why a buyer puts an invoice under query."""

    QUANTITY = "quantity", "The quantity is wrong"
    PRICE = "price", "A price is wrong"
    TAX = "tax", "A tax is wrong"
    NOT_RECEIVED = "not_received", "The goods did not come"
    DAMAGED = "damaged", "The goods came damaged"
    WRONG_ITEM = "wrong_item", "Other goods came"
    DUPLICATE = "duplicate", "It was invoiced before"
    TERMS = "terms", "The terms are others than agreed"
    OTHER = "other", "Another reason"


LIVE: Final = [one for one in InvoiceStatus.values if one not in ("rejected", "cancelled")]
OPEN: Final = (InvoiceStatus.ISSUED.value, InvoiceStatus.MATCHED.value, InvoiceStatus.MISMATCHED.value)
PAYABLE: Final = (InvoiceStatus.APPROVED.value, InvoiceStatus.PARTIALLY_PAID.value)
RELEASED: Final = (*PAYABLE, InvoiceStatus.PAID.value)
TERMINAL: Final = (InvoiceStatus.REJECTED.value, InvoiceStatus.CANCELLED.value)
WAITING: Final = (InvoiceStatus.MISMATCHED.value, InvoiceStatus.DISPUTED.value)  # for somebody to settle them
