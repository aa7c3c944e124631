"""The states of payments, and the choices of their fields. Source: contract, supply-invoice.md 3."""

from typing import Final

from django.db.models import TextChoices


class PaymentStatus(TextChoices):
    """What has become of a payment."""

    PENDING = "pending", "Not sent to the bank yet"
    PROCESSING = "processing", "Sent to the bank"
    SUCCEEDED = "succeeded", "Paid"
    FAILED = "failed", "The bank has not paid"
    CANCELLED = "cancelled", "Cancelled before it was sent"
    REVERSED = "reversed", "Paid, and taken back"


class PaymentMethod(TextChoices):
    """How it is paid."""

    BANK_TRANSFER = "bank_transfer", "Bank transfer"
    CARD = "card", "Card"
    DIRECT_DEBIT = "direct_debit", "Direct debit"
    CHECK = "check", "Check"
    OFFSET = "offset", "Credit of other invoices"


UNDER_WAY: Final = (PaymentStatus.PENDING.value, PaymentStatus.PROCESSING.value)
FINAL: Final = (PaymentStatus.FAILED.value, PaymentStatus.CANCELLED.value, PaymentStatus.REVERSED.value)
OF_OFFSET: Final = (PaymentStatus.SUCCEEDED.value, PaymentStatus.REVERSED.value)
