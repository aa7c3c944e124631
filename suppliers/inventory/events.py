"""Event types of stock and reservations. Source: contract, supply.md 8.

`by` says which side acted: `supplier`, `buyer` or `system`.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger.public import EventType, register


@dataclass(frozen=True)
class StockEvent(EventType):
    """What became of a level; quantities are in base units."""

    resource: ClassVar[str] = "stock_level"
    href: ClassVar[str] = "/v1/inventory/levels/{id}"

    level_id: str
    product_id: str
    location_id: str
    on_hand: int
    reserved: int
    sellable: int
    by: str = field(metadata={"example": "supplier"})


@register
@dataclass(frozen=True)
class StockLevelChanged(StockEvent):
    """A level has changed; told once a second, the last time with the last quantities."""

    type: ClassVar[str] = "stock.level_changed"


@register
@dataclass(frozen=True)
class StockLow(StockEvent):
    """What nobody holds of a level has fallen below its threshold."""

    type: ClassVar[str] = "stock.low"


@register
@dataclass(frozen=True)
class StockDepleted(StockEvent):
    """Nothing of a level is left that nobody holds."""

    type: ClassVar[str] = "stock.depleted"


@register
@dataclass(frozen=True)
class StockReplenished(StockEvent):
    """What nobody holds of a level has come back to its threshold."""

    type: ClassVar[str] = "stock.replenished"


@dataclass(frozen=True)
class _Movement(EventType):
    """Stock of one level was moved; `figures` keeps what statistics need."""

    resource: ClassVar[str] = "stock_level"
    href: ClassVar[str] = "/v1/inventory/levels/{id}"
    figures: ClassVar[tuple[str, ...]] = ("category", "lot_id", "cause")

    level_id: str
    product_id: str
    location_id: str
    base_quantity: int
    on_hand: int
    by: str = field(metadata={"example": "supplier"})
    category: str = ""
    lot_id: str | None = None
    cause: str = ""


@register
@dataclass(frozen=True)
class StockAdjusted(_Movement):
    """Somebody received, counted, corrected or wrote off stock; `base_quantity` is signed."""

    type: ClassVar[str] = "stock.adjusted"


@register
@dataclass(frozen=True)
class StockTransferred(_Movement):
    """Stock has gone from a level (negative `base_quantity`) or come to it."""

    type: ClassVar[str] = "stock.transferred"


@dataclass(frozen=True)
class LotEvent(EventType):
    """What became of a lot."""

    resource: ClassVar[str] = "lot"

    product_id: str
    lot_number: str
    status: str = field(metadata={"example": "released"})
    expiry_date: str | None
    by: str = field(metadata={"example": "supplier"})


@register
@dataclass(frozen=True)
class LotUpdated(LotEvent):
    """The expiry date of a lot was corrected."""

    type: ClassVar[str] = "lot.updated"


@register
@dataclass(frozen=True)
class LotQuarantined(LotEvent):
    """A lot may not be sold for now; what was reserved of it is broken."""

    type: ClassVar[str] = "lot.quarantined"


@register
@dataclass(frozen=True)
class LotReleased(LotEvent):
    """A lot may be sold again."""

    type: ClassVar[str] = "lot.released"


@register
@dataclass(frozen=True)
class LotExpiring(LotEvent):
    """A lot in stock comes to its last day of use: told once 90, 30 and 7 days before it, or as the tenant has settled."""

    type: ClassVar[str] = "lot.expiring"

    days_left: int


@register
@dataclass(frozen=True)
class LotExpired(LotEvent):
    """The last day of use of a lot in stock is over."""

    type: ClassVar[str] = "lot.expired"


@register
@dataclass(frozen=True)
class LotRecalled(LotEvent):
    """A lot is recalled; the supplier is told, and each buyer who received or reserved some.

    A buyer is told the id of its notice, how many base units were delivered to it, and how many of these its stock still
    holds; the latter is null where none of its places tracks stock.
    """

    type: ClassVar[str] = "lot.recalled"

    supplier_id: str
    recall_id: str
    recall_class: str = field(metadata={"example": "II"})
    notice_id: str | None = None
    received: int | None = None
    still_held: int | None = None


@register
@dataclass(frozen=True)
class LotRecallAnswered(EventType):
    """A buyer has answered a recall; quantities are in base units."""

    type: ClassVar[str] = "lot.recall_answered"
    resource: ClassVar[str] = "lot"

    product_id: str
    lot_number: str
    recall_id: str
    notice_id: str
    buyer_id: str
    quantity_found: int | None
    quantity_disposed: int | None
    closed: bool
    by: str = field(metadata={"example": "buyer"})


@dataclass(frozen=True)
class ReservationEvent(EventType):
    """What became of a reservation; the buyer and the supplier are told."""

    resource: ClassVar[str] = "reservation"

    supplier_id: str
    buyer_id: str
    product_id: str
    base_quantity: int
    kind: str = field(metadata={"example": "soft"})
    status: str = field(metadata={"example": "active"})
    expires_at: str | None
    by: str = field(metadata={"example": "buyer"})


@register
@dataclass(frozen=True)
class ReservationCreated(ReservationEvent):
    """Stock was promised to a buyer."""

    type: ClassVar[str] = "reservation.created"


@register
@dataclass(frozen=True)
class ReservationExtended(ReservationEvent):
    """A reservation lasts longer."""

    type: ClassVar[str] = "reservation.extended"


@register
@dataclass(frozen=True)
class ReservationConsumed(ReservationEvent):
    """All of what was reserved has left with shipments of its order."""

    type: ClassVar[str] = "reservation.consumed"


@register
@dataclass(frozen=True)
class ReservationReleased(ReservationEvent):
    """The buyer needs the stock no longer."""

    type: ClassVar[str] = "reservation.released"


@register
@dataclass(frozen=True)
class ReservationExpired(ReservationEvent):
    """The time of a reservation is over, and its stock is free again."""

    type: ClassVar[str] = "reservation.expired"


@register
@dataclass(frozen=True)
class ReservationBroken(ReservationEvent):
    """The promised goods are not there, or may not be sold any more."""

    type: ClassVar[str] = "reservation.broken"
