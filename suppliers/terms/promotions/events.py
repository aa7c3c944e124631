"""Event types of promotions, told to their supplier. Source: contract, supply.md 8.

`by` is the platform where the course of a promotion is told, which orders of buyers move.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger.public import EventType, register


@dataclass(frozen=True)
class PromotionEvent(EventType):
    """What became of a promotion; `state` is the one that it has now."""

    resource: ClassVar[str] = "promotion"

    code: str = field(metadata={"example": "autumn-gloves"})
    state: str = field(metadata={"example": "running"})


@register
@dataclass(frozen=True)
class PromotionUpdated(PromotionEvent):
    """A promotion was put: under a new code, or in place of the one before."""

    type: ClassVar[str] = "promotion.updated"


@register
@dataclass(frozen=True)
class PromotionStarted(PromotionEvent):
    """A promotion runs: its window has begun, or what an order gave back makes room again."""

    type: ClassVar[str] = "promotion.started"

    by: str = field(default="system", metadata={"example": "system"})


@register
@dataclass(frozen=True)
class PromotionEnded(PromotionEvent):
    """A promotion runs no more: its window is over, a limit is used up, or its supplier has taken it out."""

    type: ClassVar[str] = "promotion.ended"

    by: str = field(default="system", metadata={"example": "system"})
