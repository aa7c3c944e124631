"""Event types of returns, each told to both parties. Source: contract, supply.md 3.4, 8 and 10.

`by` says which side acted: `buyer`, `supplier` or `system`; `status` and `was` are the state now and before. Free texts and
amounts stand in the figures, which no webhook tells.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from ledger.public import EventType, register


@dataclass(frozen=True, kw_only=True)
class ReturnEvent(EventType):
    """What became of a return; `lines` are its lines with base units."""

    resource: ClassVar[str] = "return"
    href: ClassVar[str] = "/v1/procurement/returns/{id}"

    supplier_id: str
    buyer_id: str
    purchase_order_id: str
    delivery_id: str
    return_number: str = field(metadata={"example": "RT-000004"})
    return_type: str = field(metadata={"example": "return"})
    resolution: str = field(metadata={"example": "credit"})
    status: str = field(metadata={"example": "requested"})
    was: str | None = field(metadata={"example": None})
    by: str = field(metadata={"example": "buyer"})
    lines: list[dict[str, Any]] = field(default_factory=list)
    credit_note_id: str | None = field(default=None, metadata={"example": None})
    replacement_order_id: str | None = field(default=None, metadata={"example": None})
    reason: str = ""
    currency: str = ""
    credited: list[dict[str, Any]] = field(default_factory=list)
    delivery_location_id: str = ""

    figures: ClassVar[tuple[str, ...]] = ("reason", "currency", "credited", "delivery_location_id")


@register
@dataclass(frozen=True, kw_only=True)
class ReturnRequested(ReturnEvent):
    """The buyer wants to send goods back."""

    type: ClassVar[str] = "return.requested"


@register
@dataclass(frozen=True, kw_only=True)
class ReturnAuthorized(ReturnEvent):
    """The supplier takes the goods back; a recall is authorized by itself."""

    type: ClassVar[str] = "return.authorized"


@register
@dataclass(frozen=True, kw_only=True)
class ReturnDeclined(ReturnEvent):
    """The supplier does not take the goods back."""

    type: ClassVar[str] = "return.declined"


@register
@dataclass(frozen=True, kw_only=True)
class ReturnShipped(ReturnEvent):
    """The buyer has handed the goods over; they have left its stock."""

    type: ClassVar[str] = "return.shipped"


@register
@dataclass(frozen=True, kw_only=True)
class ReturnReceived(ReturnEvent):
    """The goods have come back to the supplier, who has set them apart."""

    type: ClassVar[str] = "return.received"


@register
@dataclass(frozen=True, kw_only=True)
class ReturnInspected(ReturnEvent):
    """The supplier has looked at the goods, or has decided about what lay in quarantine; lines carry their dispositions."""

    type: ClassVar[str] = "return.inspected"


@register
@dataclass(frozen=True, kw_only=True)
class ReturnCompleted(ReturnEvent):
    """All goods are inspected, and what the buyer gets for them is settled."""

    type: ClassVar[str] = "return.completed"


@register
@dataclass(frozen=True, kw_only=True)
class ReturnCancelled(ReturnEvent):
    """The buyer has withdrawn the return before it was shipped."""

    type: ClassVar[str] = "return.cancelled"


EVENTS: Final[dict[str, type[ReturnEvent]]] = {
    one.type: one
    for one in (
        ReturnRequested, ReturnAuthorized, ReturnDeclined, ReturnShipped, ReturnReceived, ReturnInspected, ReturnCompleted,
        ReturnCancelled,
    )
}  # fmt: skip
