"""What of the lines of orders stands on approved invoices; the room of invoices, which stands above this one, says so.

Source: contract, supply-order.md 4 "Reversing".
"""

from collections.abc import Callable, Collection
from typing import NamedTuple
from uuid import UUID

from core.pipeline import Call, Rows


class Billed(NamedTuple):
    """A line of an order with the base units that approved invoices bill, less what was credited."""

    line_id: UUID
    base_quantity: int


Question = Callable[[UUID, Collection[UUID]], Call]
_asked: list[Question] = []


def ask(question: Question) -> None:
    """Register the statement for a buyer and lines of its orders, as rows of `Billed`; the last registration holds."""
    _asked[:] = [question]


def billed_calls(buyer_id: UUID, lines: Collection[UUID]) -> list[Call]:
    """Return the statement that reads what is billed of lines, bound to the buyer; none where nothing can be billed."""
    return [question(buyer_id, lines) for question in _asked if lines]


def billed_of(found: Collection[Rows]) -> dict[UUID, int]:
    """Return what `billed_calls` has read, by the ids of the lines."""
    return {one.line_id: one.base_quantity for rows in found for one in rows.of(Billed)}
