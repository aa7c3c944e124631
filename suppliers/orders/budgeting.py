"""What is asked of the buyer's budgets: they belong to procurement, which stands above this room and registers the answers.

The budget is locked before the order (contract, supply.md 5), and whoever ends an order gives back what it has committed.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from core.pipeline import Call, Rows
from ledger.public import Occurrence

from .models import PurchaseOrder


class Budgets(NamedTuple):
    """`giving_back` (order, gross that still counts, instant) returns the statements, bound to the buyer, that lock the order's

    budget and give back what it has committed; none where the order has none. `committing` does so where the order commits
    more. `given_back` reads the rows of both, refuses where the budget has less, and returns what the buyer is told.
    """

    giving_back: Callable[[PurchaseOrder, Decimal, datetime], list[Call]]
    committing: Callable[[PurchaseOrder, Decimal, datetime], list[Call]]
    given_back: Callable[[Sequence[Rows]], Sequence[Occurrence]]


_asked: list[Budgets] = []


def ask(budgets: Budgets) -> None:
    """Register what answers for budgets; the last registration holds."""
    _asked[:] = [budgets]


def budgets() -> Budgets:
    """Return what answers for budgets."""
    return _asked[0]
