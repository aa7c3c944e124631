"""Event types of budgets, told to their buyer alone. Source: contract, supply.md 8."""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger.public import EventType, register


@register
@dataclass(frozen=True)
class BudgetUpdated(EventType):
    """A budget was put: under a new code, or in place of the one before."""

    type: ClassVar[str] = "budget.updated"
    resource: ClassVar[str] = "budget"

    code: str = field(metadata={"example": "wards-2026"})
    active: bool


@register
@dataclass(frozen=True)
class BudgetThresholdReached(EventType):
    """What is committed and spent of a budget has reached its threshold; told again only after it was below meanwhile."""

    type: ClassVar[str] = "budget.threshold_reached"
    resource: ClassVar[str] = "budget"

    code: str = field(metadata={"example": "wards-2026"})
    threshold_percent: int
