"""Event types of deliveries, each told to both parties. Source: contract, supply.md 8 and 3.4.

`by` says which side acted: `buyer` or `supplier`; `status` and `was` are the state now and before. Free texts stand in the
figures, which no webhook tells. All of them are built by `telling`.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from ledger.public import EventType, register


@dataclass(frozen=True, kw_only=True)
class DeliveryEvent(EventType):
    """What became of a delivery; `lines` are those concerned, with base units.

    `promised` are the same lines with the dates that the order promised, and what this event has counted of each.
    """

    resource: ClassVar[str] = "delivery"
    href: ClassVar[str] = "/v1/procurement/deliveries/{id}"

    supplier_id: str
    buyer_id: str
    purchase_order_id: str
    delivery_number: str | None = field(metadata={"example": "DN-000023"})
    order_number: str = field(metadata={"example": "SO-000042"})
    po_number: str | None = field(metadata={"example": "PO-000017"})
    status: str = field(metadata={"example": "in_transit"})
    was: str | None = field(metadata={"example": None})
    by: str = field(metadata={"example": "supplier"})
    exception: str | None = field(default=None, metadata={"example": None})
    lines: list[dict[str, Any]] = field(default_factory=list)
    reason: str = ""
    shipped_at: str | None = None
    delivered_at: str | None = None
    delivery_location_id: str = ""
    promised: list[dict[str, Any]] = field(default_factory=list)

    figures: ClassVar[tuple[str, ...]] = ("reason", "shipped_at", "delivered_at", "delivery_location_id", "promised")


@register
@dataclass(frozen=True, kw_only=True)
class DeliveryShipped(DeliveryEvent):
    """A shipment has left the supplier: it is a delivery now."""

    type: ClassVar[str] = "delivery.shipped"


@register
@dataclass(frozen=True, kw_only=True)
class DeliveryUpdated(DeliveryEvent):
    """The supplier has changed what is known of the way: tracking, expected time, temperatures."""

    type: ClassVar[str] = "delivery.updated"


@register
@dataclass(frozen=True, kw_only=True)
class DeliveryDelivered(DeliveryEvent):
    """The carrier has handed the delivery over."""

    type: ClassVar[str] = "delivery.delivered"


@register
@dataclass(frozen=True, kw_only=True)
class DeliveryLost(DeliveryEvent):
    """The delivery is lost; what was not received counts as short."""

    type: ClassVar[str] = "delivery.lost"


@register
@dataclass(frozen=True, kw_only=True)
class DeliveryExceptionReported(DeliveryEvent):
    """A side has reported what went wrong; `exception` is its type, `lines` those concerned."""

    type: ClassVar[str] = "delivery.exception_reported"


@register
@dataclass(frozen=True, kw_only=True)
class DeliveryCancelled(DeliveryEvent):
    """A shipment in preparation was cancelled; told to the supplier alone."""

    type: ClassVar[str] = "delivery.cancelled"
    href: ClassVar[str] = "/v1/orders/{purchase_order_id}"


@dataclass(frozen=True, kw_only=True)
class ReceiptEvent(DeliveryEvent):
    """What was received of a delivery; `lines` are those of the receipt, with base units of this receipt alone."""

    receipt_id: str
    reverses: str | None = field(metadata={"example": None})


@register
@dataclass(frozen=True, kw_only=True)
class DeliveryReceived(ReceiptEvent):
    """The buyer has received a part of the delivery or all of it, or has reversed a receipt."""

    type: ClassVar[str] = "delivery.received"


@register
@dataclass(frozen=True, kw_only=True)
class DeliveryCompleted(ReceiptEvent):
    """All that was shipped is accepted, rejected or short."""

    type: ClassVar[str] = "delivery.completed"


EVENTS: Final[dict[str, type[DeliveryEvent]]] = {
    one.type: one
    for one in (
        DeliveryShipped, DeliveryUpdated, DeliveryDelivered, DeliveryLost, DeliveryExceptionReported, DeliveryCancelled,
        DeliveryReceived, DeliveryCompleted,
    )
}  # fmt: skip
