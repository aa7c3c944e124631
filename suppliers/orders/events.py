"""Event types of orders: `purchase_order` for the buyer, `order` for the supplier. Source: contract, supply.md 8.

`by` says which side acted: `buyer`, `supplier` or `system`; `status` and `was` are the state now and before as the audience
reads it. Amounts, and the reason that somebody has given, stand in the figures, which no webhook tells.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from ledger.public import EventType, register


@dataclass(frozen=True, kw_only=True)
class OrderEvent(EventType):
    """What became of an order."""

    supplier_id: str
    buyer_id: str
    po_number: str = field(metadata={"example": "PO-000017"})
    order_number: str | None = field(metadata={"example": "SO-000042"})
    revision: int
    status: str = field(metadata={"example": "sent"})
    was: str | None = field(metadata={"example": "draft"})
    by: str = field(metadata={"example": "buyer"})
    reason: str = ""
    currency: str = ""
    net: str = ""
    list_net: str | None = None
    delivery_location_id: str = ""
    sent_at: str | None = None
    accepted_at: str | None = None
    lines: list[dict[str, Any]] = field(default_factory=list)

    figures: ClassVar[tuple[str, ...]] = (
        "reason", "currency", "net", "list_net", "delivery_location_id", "sent_at", "accepted_at", "lines",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PurchaseOrderEvent(OrderEvent):
    """What became of an order, for its buyer."""

    resource: ClassVar[str] = "purchase_order"
    href: ClassVar[str] = "/v1/purchase-orders/{id}"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderCreated(PurchaseOrderEvent):
    """A draft was created."""

    type: ClassVar[str] = "purchase_order.created"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderUpdated(PurchaseOrderEvent):
    """A draft was changed; its revision is a new one."""

    type: ClassVar[str] = "purchase_order.updated"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderSubmitted(PurchaseOrderEvent):
    """A draft was submitted: it has taken its limits, and is sent or waits for approvals."""

    type: ClassVar[str] = "purchase_order.submitted"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderApproved(PurchaseOrderEvent):
    """An approver has approved the present revision; the last one leads on."""

    type: ClassVar[str] = "purchase_order.approved"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderApprovalRejected(PurchaseOrderEvent):
    """An approver has refused the present revision."""

    type: ClassVar[str] = "purchase_order.approval_rejected"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderApprovalOverdue(PurchaseOrderEvent):
    """Nobody has decided a step of approval in time."""

    type: ClassVar[str] = "purchase_order.approval_overdue"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderPriceDiffers(PurchaseOrderEvent):
    """The supplier has proposed or invoiced another price than the one that holds; `price_check` of the line says which."""

    type: ClassVar[str] = "purchase_order.price_differs"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderSent(PurchaseOrderEvent):
    """The supplier has the order."""

    type: ClassVar[str] = "purchase_order.sent"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderAccepted(PurchaseOrderEvent):
    """The order is accepted: by its supplier, or by having been sent to a managed one."""

    type: ClassVar[str] = "purchase_order.accepted"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderCancelled(PurchaseOrderEvent):
    """The order was cancelled; what it had taken is given back."""

    type: ClassVar[str] = "purchase_order.cancelled"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderChangeProposed(PurchaseOrderEvent):
    """A change of the order is proposed, by its supplier or by the buyer itself."""

    type: ClassVar[str] = "purchase_order.change_proposed"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderRejected(PurchaseOrderEvent):
    """The supplier has rejected the order; what it had taken is given back."""

    type: ClassVar[str] = "purchase_order.rejected"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderChangeDeclined(PurchaseOrderEvent):
    """The buyer's change was declined by the supplier, or withdrawn; the order is as it was before."""

    type: ClassVar[str] = "purchase_order.change_declined"


@register
@dataclass(frozen=True, kw_only=True)
class PurchaseOrderClosed(PurchaseOrderEvent):
    """Nothing more is to come of the order: the buyer has closed it, or all is received and invoiced."""

    type: ClassVar[str] = "purchase_order.closed"


@dataclass(frozen=True, kw_only=True)
class ReceivedOrderEvent(OrderEvent):
    """What became of an order, for its supplier."""

    resource: ClassVar[str] = "order"
    href: ClassVar[str] = "/v1/orders/{id}"


@register
@dataclass(frozen=True, kw_only=True)
class OrderPlaced(ReceivedOrderEvent):
    """A buyer has sent an order."""

    type: ClassVar[str] = "order.placed"


@register
@dataclass(frozen=True, kw_only=True)
class OrderAccepted(ReceivedOrderEvent):
    """The supplier has accepted an order, and allocated stock to it; what is backordered comes later."""

    type: ClassVar[str] = "order.accepted"


@register
@dataclass(frozen=True, kw_only=True)
class OrderChangeProposed(ReceivedOrderEvent):
    """A change of an order is proposed, by its buyer or by the supplier itself."""

    type: ClassVar[str] = "order.change_proposed"


@register
@dataclass(frozen=True, kw_only=True)
class OrderChangeDeclined(ReceivedOrderEvent):
    """The buyer's change was declined or withdrawn; the order is as it was before."""

    type: ClassVar[str] = "order.change_declined"


@register
@dataclass(frozen=True, kw_only=True)
class OrderCancelled(ReceivedOrderEvent):
    """The buyer has cancelled an order."""

    type: ClassVar[str] = "order.cancelled"


@register
@dataclass(frozen=True, kw_only=True)
class OrderRejected(ReceivedOrderEvent):
    """The supplier has rejected an order."""

    type: ClassVar[str] = "order.rejected"


@register
@dataclass(frozen=True, kw_only=True)
class OrderClosed(ReceivedOrderEvent):
    """Nothing more is to be shipped of an order."""

    type: ClassVar[str] = "order.closed"


EVENTS: Final[dict[str, type[OrderEvent]]] = {
    one.type: one
    for one in (
        PurchaseOrderCreated, PurchaseOrderUpdated, PurchaseOrderSubmitted, PurchaseOrderApproved,
        PurchaseOrderApprovalRejected, PurchaseOrderApprovalOverdue, PurchaseOrderPriceDiffers, PurchaseOrderSent,
        PurchaseOrderAccepted,
        PurchaseOrderRejected, PurchaseOrderCancelled, PurchaseOrderClosed, OrderPlaced, OrderAccepted, OrderRejected,
        PurchaseOrderChangeProposed, PurchaseOrderChangeDeclined, OrderChangeProposed, OrderChangeDeclined,
        OrderCancelled, OrderClosed,
    )
}  # fmt: skip
