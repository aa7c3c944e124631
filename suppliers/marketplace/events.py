"""Event types of offers, told to their supplier. Source: contract, supply.md 8."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

from ledger.public import EventType, register

if TYPE_CHECKING:
    from .models import Offer


@dataclass(frozen=True)
class OfferEvent(EventType):
    """What became of an offer; `figures` keeps what statistics need."""

    resource: ClassVar[str] = "offer"
    href: ClassVar[str] = "/v1/marketplace/offers/{id}"
    figures: ClassVar[tuple[str, ...]] = ("category",)

    product_id: str
    packaging_id: str
    status: str = field(metadata={"example": "published"})
    category: str = ""

    @classmethod
    def of(cls, offer: "Offer") -> Self:
        """Return the event of an offer as it stands."""
        return cls(
            product_id=str(offer.product_id),
            packaging_id=str(offer.packaging_id),
            status=offer.status,
            category=offer.product.category,
        )


@register
@dataclass(frozen=True)
class OfferCreated(OfferEvent):
    """An offer was drafted."""

    type: ClassVar[str] = "offer.created"


@register
@dataclass(frozen=True)
class OfferUpdated(OfferEvent):
    """An offer was changed or archived."""

    type: ClassVar[str] = "offer.updated"


@register
@dataclass(frozen=True)
class OfferPublished(OfferEvent):
    """The audience of an offer sees it."""

    type: ClassVar[str] = "offer.published"


@register
@dataclass(frozen=True)
class OfferUnpublished(OfferEvent):
    """An offer was hidden for a while; open orders go on."""

    type: ClassVar[str] = "offer.unpublished"


@register
@dataclass(frozen=True)
class OfferVisibilityChanged(OfferEvent):
    """Others may see an offer, or are told of its stock in another way."""

    type: ClassVar[str] = "offer.visibility_changed"


@register
@dataclass(frozen=True)
class OfferAllocated(OfferEvent):
    """What one buyer may take of an offer during a shortage was set, changed or ended; without a limit all are null."""

    type: ClassVar[str] = "offer.allocated"

    quantity: int | None = None
    period_days: int | None = None
    until: str | None = field(default=None, metadata={"example": "2026-12-31"})

    @classmethod
    def of(cls, offer: "Offer") -> Self:
        """Return the event of an offer as it stands, with its limit."""
        until = offer.limit_until
        return replace(
            super().of(offer),
            quantity=offer.limit_quantity,
            period_days=offer.limit_period_days,
            until=until.isoformat() if until else None,
        )


@register
@dataclass(frozen=True)
class OfferExpired(OfferEvent):
    """The validity of a published or paused offer is over."""

    type: ClassVar[str] = "offer.expired"
