"""HTTP of orders, deliveries and invoices with the documents for other systems that they answer beside JSON."""

from dataclasses import replace
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse

from api.operations import Operation
from core.errors import InvalidFields, InvalidTransition
from suppliers.deliveries.views import DeliveryViewSet
from suppliers.invoices.views import InvoiceViewSet
from suppliers.orders.views import ReceivedOrderViewSet

from .http.documents import DELIVERY_MEDIA, INVOICE_MEDIA, ORDER_MEDIA, delivery, invoiced, received_order
from .refusals import DocumentIncomplete

_REFUSALS = (InvalidFields, InvalidTransition, DocumentIncomplete)


def _with(operations: dict[str, Operation], media: Any) -> dict[str, Operation]:
    """Return the operations of a viewset, of which the one that reads one object answers further media types."""
    read = operations["retrieve"]
    return operations | {"retrieve": replace(read, media=media, errors=(*read.errors, *_REFUSALS))}


class ExchangedOrderViewSet(ReceivedOrderViewSet):
    """The orders that a supplier has received, also as UBL."""

    operations: ClassVar[dict[str, Operation]] = _with(ReceivedOrderViewSet.declared, ORDER_MEDIA)

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one order, or the document about it that the caller prefers."""
        if self.media:
            return received_order(self, kwargs[self.lookup_url_kwarg])
        return super().retrieve(request, *args, **kwargs)


class ExchangedDeliveryViewSet(DeliveryViewSet):
    """Deliveries of the tenant, also as UBL and EPCIS."""

    operations: ClassVar[dict[str, Operation]] = _with(DeliveryViewSet.declared, DELIVERY_MEDIA)

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one delivery, or the document about it that the caller prefers."""
        if self.media:
            return delivery(self, kwargs[self.lookup_url_kwarg])
        return super().retrieve(request, *args, **kwargs)


class ExchangedInvoiceViewSet(InvoiceViewSet):
    """Invoices and credit notes of the tenant, also as UBL."""

    operations: ClassVar[dict[str, Operation]] = _with(InvoiceViewSet.declared, INVOICE_MEDIA)

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one invoice, or the document about it that the caller prefers."""
        if self.media:
            return invoiced(self, kwargs[self.lookup_url_kwarg])
        return super().retrieve(request, *args, **kwargs)
