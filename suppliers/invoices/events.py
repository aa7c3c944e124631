"""Event types of invoices and credit notes, each told to both parties. Source: contract, supply.md 8, 3.4 and 10.

`by` says which side acted: `buyer`, `supplier` or `system`; `status` and `was` are the state behind the event and before it.
Amounts and free texts stand in the figures, which no webhook tells; what differs from the order in the buyer's alone.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from ledger.public import EventType, register


@dataclass(frozen=True, kw_only=True)
class InvoiceEvent(EventType):
    """What became of an invoice."""

    resource: ClassVar[str] = "invoice"
    href: ClassVar[str] = "/v1/procurement/invoices/{id}"

    supplier_id: str
    buyer_id: str
    purchase_order_id: str
    invoice_number: str = field(metadata={"example": "INV-2026-0042"})
    order_number: str = field(metadata={"example": "SO-000042"})
    po_number: str = field(metadata={"example": "PO-000017"})
    document_type: str = field(metadata={"example": "invoice"})
    original_invoice_id: str | None = field(default=None, metadata={"example": None})
    status: str = field(metadata={"example": "matched"})
    was: str | None = field(metadata={"example": "issued"})
    by: str = field(metadata={"example": "supplier"})
    reason_code: str | None = field(default=None, metadata={"example": None})
    reason: str = ""
    currency: str = ""
    net: str = ""
    tax: str | None = None
    gross: str = ""
    lines: list[dict[str, Any]] = field(default_factory=list)
    variance: str | None = None

    figures: ClassVar[tuple[str, ...]] = ("reason", "currency", "net", "tax", "gross", "lines", "variance")


@register
@dataclass(frozen=True, kw_only=True)
class InvoiceIssued(InvoiceEvent):
    """The supplier has issued an invoice, or the buyer has recorded one of a managed supplier."""

    type: ClassVar[str] = "invoice.issued"


@register
@dataclass(frozen=True, kw_only=True)
class InvoiceMatched(InvoiceEvent):
    """Every line of the invoice is as ordered and received."""

    type: ClassVar[str] = "invoice.matched"


@register
@dataclass(frozen=True, kw_only=True)
class InvoiceMismatched(InvoiceEvent):
    """A line of the invoice differs from what was ordered or received."""

    type: ClassVar[str] = "invoice.mismatched"


@register
@dataclass(frozen=True, kw_only=True)
class InvoiceApproved(InvoiceEvent):
    """The invoice is released for payment."""

    type: ClassVar[str] = "invoice.approved"


@register
@dataclass(frozen=True, kw_only=True)
class InvoiceDisputed(InvoiceEvent):
    """The buyer has put the invoice under query; `reason_code` says why."""

    type: ClassVar[str] = "invoice.disputed"


@register
@dataclass(frozen=True, kw_only=True)
class InvoiceDisputeResolved(InvoiceEvent):
    """The dispute is over: by a credit note, or because the buyer has withdrawn it."""

    type: ClassVar[str] = "invoice.dispute_resolved"


@register
@dataclass(frozen=True, kw_only=True)
class InvoiceRejected(InvoiceEvent):
    """The buyer has refused the invoice for good."""

    type: ClassVar[str] = "invoice.rejected"


@register
@dataclass(frozen=True, kw_only=True)
class InvoiceCancelled(InvoiceEvent):
    """The supplier has withdrawn the invoice."""

    type: ClassVar[str] = "invoice.cancelled"


@register
@dataclass(frozen=True, kw_only=True)
class InvoicePaid(InvoiceEvent):
    """Nothing of the invoice is left to pay."""

    type: ClassVar[str] = "invoice.paid"


@register
@dataclass(frozen=True, kw_only=True)
class CreditNoteIssued(InvoiceEvent):
    """The supplier has taken back a part of an invoice or all of it."""

    type: ClassVar[str] = "credit_note.issued"
    resource: ClassVar[str] = "credit_note"


EVENTS: Final[dict[str, type[InvoiceEvent]]] = {
    one.type: one
    for one in (
        InvoiceIssued, InvoiceMatched, InvoiceMismatched, InvoiceApproved, InvoiceDisputed, InvoiceDisputeResolved,
        InvoiceRejected, InvoiceCancelled, InvoicePaid, CreditNoteIssued,
    )
}  # fmt: skip
