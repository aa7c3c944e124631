"""The arithmetic of receipts, in base units: what lines of deliveries and orders count, and what follows from it.

`accepted + rejected + short` of a line is what was dealt with. Source: contract, supply-order.md 4 and supply.md 6.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

_BASIS_POINTS = 10_000


class Count(NamedTuple):
    """What a receipt says of a line."""

    accepted: int = 0
    rejected: int = 0
    short: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.accepted + self.rejected + self.short

    def reversed(self) -> "Count":
        """The same, taken back."""
        return Count(-self.accepted, -self.rejected, -self.short)


class Shipped(Protocol):
    """A line of a delivery as far as it is counted."""

    base_quantity: int
    accepted: int
    rejected: int
    short: int
    tolerance: int


class Ordered(Protocol):
    """A line of an order as far as it is counted."""

    received: int
    rejected: int
    short: int
    over_received: int


def dealt_with(line: Shipped) -> int:
    """Return what was accepted, rejected or missed of a line so far."""
    return line.accepted + line.rejected + line.short


def most(base_quantity: int, tolerance_bp: int) -> int:
    """Return how much may be received of a shipped quantity, by the policy's basis points."""
    return base_quantity + base_quantity * tolerance_bp // _BASIS_POINTS


def admits(line: Shipped, count: Count, tolerance_bp: int) -> bool:
    """Tell whether a line takes a further count."""
    return dealt_with(line) + count.total <= most(line.base_quantity, tolerance_bp)


def add(line: Shipped, ordered: Ordered, count: Count) -> None:
    """Count a receipt, or with negative numbers a reversal, in a line of the delivery and in that of its order.

    What goes beyond the shipped quantity is kept as `tolerance` and `over_received`.
    """
    line.accepted += count.accepted
    line.rejected += count.rejected
    line.short += count.short
    over = max(dealt_with(line) - line.base_quantity, 0)
    ordered.received += count.accepted
    ordered.rejected += count.rejected
    ordered.short += count.short
    ordered.over_received += over - line.tolerance
    line.tolerance = over


def is_complete(lines: Iterable[Shipped]) -> bool:
    """Tell whether all that was shipped is dealt with."""
    return all(dealt_with(one) >= one.base_quantity for one in lines)
