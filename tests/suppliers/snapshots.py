"""Everything that a buyer and a supplier keep of trade, to hold that what was refused has changed nothing on either side."""

from typing import Any

from core.db import tenant_context
from ledger.public import Event
from suppliers.deliveries.models import Delivery, DeliveryLine, ReceivedDelivery
from suppliers.files.models import FileBinding
from suppliers.inventory.models import StockLevel
from suppliers.invoices.models import Invoice, InvoiceLine, ReceivedInvoice
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine, ReceivedOrder
from suppliers.orders.number_models import DocumentNumber
from suppliers.payments.models import CreditSource, Payment, PaymentAllocation, ReceivedPayment
from suppliers.returns.models import ReceivedReturn, Return, ReturnLine, ReturnPrivate

TABLES: tuple[Any, ...] = (
    PurchaseOrder, PurchaseOrderLine, ReceivedOrder, Delivery, DeliveryLine, ReceivedDelivery, Return, ReturnLine,
    ReceivedReturn, ReturnPrivate, Invoice, InvoiceLine, ReceivedInvoice, Payment, PaymentAllocation, CreditSource,
    ReceivedPayment, StockLevel, DocumentNumber, FileBinding,
)  # fmt: skip


def everything(*sides: Any) -> list[Any]:
    """Return all rows of trade of some tenants, versions included, and the ids of all their facts."""
    found: list[Any] = []
    for side in sides:
        with tenant_context(side.id):
            for model in TABLES:
                rows = model.objects.filter(tenant_id=side.id).values()
                found.append((model.__name__, sorted((dict(row) for row in rows), key=str)))
            found.append(sorted(Event.objects.filter(tenant_id=side.id).values_list("id", flat=True)))
    return found


def told(side: Any, *resources: str) -> list[str]:
    """Return the types of the facts of a tenant about kinds of resources, in their order."""
    with tenant_context(side.id):
        facts = Event.objects.filter(tenant_id=side.id, resource_type__in=resources).order_by("occurred_at", "id")
        return list(facts.values_list("type", flat=True))
