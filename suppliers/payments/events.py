"""Event types of payments, each told to both parties. Source: contract, supply.md 8, 3.4 and 10.

`by` says which side acted, `status` and `was` are the state now and before. Amounts, and what the bank or the buyer says
why, stand in the figures, which no webhook tells.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from ledger.public import EventType, register


@dataclass(frozen=True, kw_only=True)
class PaymentEvent(EventType):
    """What became of a payment; `invoice_ids` are those that it pays.

    `allocations` are `{invoice_id, amount, days_from_due}`: the days from the day on which the invoice was due to the value
    date, less than none where it is paid before.
    """

    resource: ClassVar[str] = "payment"
    href: ClassVar[str] = "/v1/procurement/payments/{id}"

    supplier_id: str
    buyer_id: str
    payment_number: str = field(metadata={"example": "PM-000023"})
    status: str = field(metadata={"example": "succeeded"})
    was: str | None = field(metadata={"example": "pending"})
    by: str = field(metadata={"example": "buyer"})
    method: str = field(metadata={"example": "bank_transfer"})
    invoice_ids: list[str]
    reason: str = ""
    currency: str = ""
    amount: str = ""
    allocations: list[dict[str, Any]] = field(default_factory=list)

    figures: ClassVar[tuple[str, ...]] = ("reason", "currency", "amount", "allocations")


@register
@dataclass(frozen=True, kw_only=True)
class PaymentCreated(PaymentEvent):
    """A payment was made; its amounts are held on its invoices."""

    type: ClassVar[str] = "payment.created"


@register
@dataclass(frozen=True, kw_only=True)
class PaymentProcessing(PaymentEvent):
    """The payment was sent to the bank."""

    type: ClassVar[str] = "payment.processing"


@register
@dataclass(frozen=True, kw_only=True)
class PaymentSucceeded(PaymentEvent):
    """The payment is made."""

    type: ClassVar[str] = "payment.succeeded"


@register
@dataclass(frozen=True, kw_only=True)
class PaymentFailed(PaymentEvent):
    """The bank has not paid; the invoices are due as before."""

    type: ClassVar[str] = "payment.failed"


@register
@dataclass(frozen=True, kw_only=True)
class PaymentCancelled(PaymentEvent):
    """The buyer has cancelled the payment before it was sent."""

    type: ClassVar[str] = "payment.cancelled"


@register
@dataclass(frozen=True, kw_only=True)
class PaymentReversed(PaymentEvent):
    """A payment that was made was taken back; the invoices are due again."""

    type: ClassVar[str] = "payment.reversed"


EVENTS: Final[dict[str, type[PaymentEvent]]] = {
    one.type: one
    for one in (
        PaymentCreated, PaymentProcessing, PaymentSucceeded, PaymentFailed, PaymentCancelled, PaymentReversed,
    )
}  # fmt: skip
