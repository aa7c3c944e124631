"""What of a buyer names the supplier of its documents, and is moved when a managed supplier is merged.

A test holds every table that may name a supplier against these lists.
"""

from typing import Any, Final, NamedTuple

from django.db import models

from organizations.public import ReceivedKind
from suppliers.agreements.models import AGREEMENTS, AgreementDraft, PriceAgreement, PriceAgreementLine
from suppliers.deliveries.models import DELIVERIES, Delivery
from suppliers.deliveries.receipt_models import RECEIPTS
from suppliers.invoices.models import INVOICES, Invoice
from suppliers.orders.models import ORDERS, PurchaseOrder
from suppliers.payments.models import PAYMENTS, Payment
from suppliers.relationships.models import ApprovedSubstitute, BlockedProduct, ItemAlias
from suppliers.returns.models import RETURNS, Return

COLUMN: Final = "supplier_tenant_id"
# Locked in this order, each by id. Source: contract, supply.md 5.
LOCKED: Final[tuple[type[models.Model], ...]] = (
    AgreementDraft, PriceAgreement, PurchaseOrder, Delivery, Return, Invoice, Payment,
)  # fmt: skip
# Receipts are never changed, but for this: a function of the owner does it.
MOVED: Final[tuple[type[models.Model], ...]] = (*LOCKED, PriceAgreementLine)
NUMBERED: Final[tuple[type[models.Model], ...]] = (Delivery, Invoice, Return)  # with the number of their order
OF_RELATIONSHIP: Final[tuple[type[models.Model], ...]] = (BlockedProduct, ApprovedSubstitute, ItemAlias)


class Sort(NamedTuple):
    """A sort of documents with what staff call it, and the column that says when it was handed over."""

    kind: ReceivedKind
    name: str
    since: str

    @property
    def model(self) -> Any:
        """The table of the owner's rows."""
        return self.kind.document


SORTS: Final = (
    Sort(ORDERS, "orders", "sent_at"),
    Sort(DELIVERIES, "deliveries", "created_at"),
    Sort(RECEIPTS, "receipts", "created_at"),
    Sort(INVOICES, "invoices and credit notes", "issued_at"),
    Sort(PAYMENTS, "payments", "created_at"),
    Sort(RETURNS, "returns", "requested_at"),
    Sort(AGREEMENTS, "ended price agreements", "proposed_at"),
)
