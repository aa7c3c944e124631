"""Which documents the addresses of orders, deliveries and invoices answer beside JSON. Source: contract, supply-invoice.md 5."""

from typing import Final
from uuid import UUID

from django.http import HttpResponse

from api.further_media import Media
from api.views import ApiViewSet
from suppliers.exchange import epcis, shapes
from suppliers.exchange.ubl.billing import bill, credit_note, invoice
from suppliers.exchange.ubl.despatch import despatch_advice
from suppliers.exchange.ubl.orders import order, order_response
from suppliers.exchange.ubl.responses import invoice_response

from .answering import answer

XML, LD_JSON = "application/xml", "application/ld+json"
ORDER_MEDIA: Final = (
    Media(
        XML,
        "UBL 2.1: the order, or what its supplier has answered, by Peppol BIS Ordering 3.",
        ("order", "order_response"),
    ),
)
DELIVERY_MEDIA: Final = (
    Media(XML, "UBL 2.1: the despatch advice, by Peppol BIS Despatch Advice 3.", ("despatch_advice",)),
    Media(LD_JSON, "EPCIS 2.0: what left, what came in, and which package stands in which.", ()),
)
INVOICE_MEDIA: Final = (
    Media(
        XML,
        "UBL 2.1: the invoice or credit note, as its type says, by Peppol BIS Billing 3 (EN 16931), or how far its buyer is with "
        "it, by Peppol BIS Invoice Response 3.",
        ("invoice", "credit_note", "invoice_response"),
        has_usual=False,
    ),
)
_OF_ORDERS: Final = {(XML, "order"): order, (XML, "order_response"): order_response}
_OF_DELIVERIES: Final = {(XML, "despatch_advice"): despatch_advice, (LD_JSON, ""): epcis.document}
_OF_INVOICES: Final = {
    (XML, ""): bill, (XML, "invoice"): invoice, (XML, "credit_note"): credit_note,
    (XML, "invoice_response"): invoice_response,
}  # fmt: skip


def own_order(view: ApiViewSet, key: UUID) -> HttpResponse:
    """Answer an order of the buyer as the document that the request prefers.

    :raises NotFound, InvalidTransition, DocumentIncomplete: as `answer`.
    """
    return answer(view, key, shapes.own_order(), _OF_ORDERS, noun="order")


def received_order(view: ApiViewSet, key: UUID) -> HttpResponse:
    """Answer an order that a supplier has received as the document that the request prefers.

    :raises NotFound, InvalidTransition, DocumentIncomplete: as `answer`.
    """
    return answer(view, key, shapes.received_order(), _OF_ORDERS, noun="order")


def delivery(view: ApiViewSet, key: UUID) -> HttpResponse:
    """Answer a delivery, for either party, as the document that the request prefers.

    :raises NotFound, InvalidTransition, DocumentIncomplete: as `answer`.
    """
    return answer(view, key, shapes.delivery(), _OF_DELIVERIES, noun="delivery")


def invoiced(view: ApiViewSet, key: UUID) -> HttpResponse:
    """Answer an invoice or credit note, for either party, as the document that the request prefers.

    :raises NotFound, InvalidFields, InvalidTransition, DocumentIncomplete: as `answer`.
    """
    return answer(view, key, shapes.invoice(), _OF_INVOICES, noun="invoice")
