"""Event types of price agreements, told to both parties. Source: contract, supply.md 8.

`by` says which side acted: `supplier`, `buyer` or `system`. All versions of an agreement have its id.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger.public import EventType, register


@dataclass(frozen=True)
class PriceAgreementEvent(EventType):
    """What became of a version of an agreement; `reason` is told by its timeline alone."""

    resource: ClassVar[str] = "price_agreement"
    href: ClassVar[str] = "/v1/price-agreements/{id}"
    figures: ClassVar[tuple[str, ...]] = ("reason",)

    supplier_id: str
    buyer_id: str
    agreement_number: str | None = field(metadata={"example": "PA-000042"})
    revision: int
    status: str = field(metadata={"example": "active"})
    by: str = field(metadata={"example": "supplier"})
    reason: str = ""


@register
@dataclass(frozen=True)
class PriceAgreementCreated(PriceAgreementEvent):
    """A draft was created; only its author is told."""

    type: ClassVar[str] = "price_agreement.created"


@register
@dataclass(frozen=True)
class PriceAgreementUpdated(PriceAgreementEvent):
    """A draft was changed, or one of the next version was begun; only its author is told."""

    type: ClassVar[str] = "price_agreement.updated"


@register
@dataclass(frozen=True)
class PriceAgreementProposed(PriceAgreementEvent):
    """A version was sent to the other party."""

    type: ClassVar[str] = "price_agreement.proposed"


@register
@dataclass(frozen=True)
class PriceAgreementActivated(PriceAgreementEvent):
    """A version was accepted, and holds from its `valid_from` on."""

    type: ClassVar[str] = "price_agreement.activated"


@register
@dataclass(frozen=True)
class PriceAgreementSuperseded(PriceAgreementEvent):
    """A version has ended, because the next one was accepted."""

    type: ClassVar[str] = "price_agreement.superseded"


@register
@dataclass(frozen=True)
class PriceAgreementDeclined(PriceAgreementEvent):
    """A version was declined by the party that it was proposed to."""

    type: ClassVar[str] = "price_agreement.declined"


@register
@dataclass(frozen=True)
class PriceAgreementSuspended(PriceAgreementEvent):
    """The agreed prices rest until the agreement is resumed."""

    type: ClassVar[str] = "price_agreement.suspended"


@register
@dataclass(frozen=True)
class PriceAgreementResumed(PriceAgreementEvent):
    """A suspended agreement holds again."""

    type: ClassVar[str] = "price_agreement.resumed"


@register
@dataclass(frozen=True)
class PriceAgreementTerminated(PriceAgreementEvent):
    """Notice was given: the agreement holds until the day before `terminates_on`. Its end itself is not told again."""

    type: ClassVar[str] = "price_agreement.terminated"

    terminates_on: str = field(default="", metadata={"example": "2026-09-30"})


@register
@dataclass(frozen=True)
class PriceAgreementExpiring(PriceAgreementEvent):
    """The agreement ends within 30 days, on `valid_to`; told once."""

    type: ClassVar[str] = "price_agreement.expiring"

    valid_to: str = field(default="", metadata={"example": "2027-01-01"})


@register
@dataclass(frozen=True)
class PriceAgreementExpired(PriceAgreementEvent):
    """The validity of an agreement is over."""

    type: ClassVar[str] = "price_agreement.expired"
