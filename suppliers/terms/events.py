"""Event types of terms, told to their supplier. Source: contract, supply.md 8."""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger.public import EventType, register


@dataclass(frozen=True)
class PriceListEvent(EventType):
    """What became of a price list."""

    resource: ClassVar[str] = "price_list"
    href: ClassVar[str] = "/v1/price-lists/{code}"

    code: str = field(metadata={"example": "hospitals-2026"})
    status: str = field(metadata={"example": "active"})


@register
@dataclass(frozen=True)
class PriceListCreated(PriceListEvent):
    """A price list was put under a new code."""

    type: ClassVar[str] = "price_list.created"


@register
@dataclass(frozen=True)
class PriceListUpdated(PriceListEvent):
    """A price list was changed: its terms or its entries."""

    type: ClassVar[str] = "price_list.updated"


@register
@dataclass(frozen=True)
class PricingRuleUpdated(EventType):
    """A pricing rule was put: under a new code, or in place of the one before."""

    type: ClassVar[str] = "pricing_rule.updated"
    resource: ClassVar[str] = "pricing_rule"

    code: str = field(metadata={"example": "spring-gloves"})
    status: str = field(metadata={"example": "active"})
