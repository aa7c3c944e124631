"""What a buyer has taken of offers in a shortage: known by orders, which stand above this room and register who tells it."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from core.pipeline import Call, Rows

from .candidates import Good


class Taken(NamedTuple):
    """What a buyer has taken of an offer within its period, in base units."""

    offer_id: UUID
    base_quantity: int


class Asking(NamedTuple):
    """Whose orders are asked for: the buyer's with one supplier; `is_sent` leaves out what the supplier does not know of yet."""

    buyer_id: UUID
    supplier_id: UUID
    is_sent: bool


# The days within which what is taken of each offer counts; the statement is bound to the buyer and gives rows of `Taken`.
Question = Callable[[Asking, Mapping[UUID, int], datetime], Call]
_asked: list[Question] = []


def ask(question: Question) -> None:
    """Register the statement that reads what a buyer has taken; the last registration holds."""
    _asked[:] = [question]


def taken_calls(buyer_id: UUID, goods: Sequence[Good], at: datetime, *, is_sent: bool) -> list[Call]:
    """Return the statements, bound to the buyer, that read what it has taken of the goods that are short; `taken_of` reads them."""
    short: dict[UUID, dict[UUID, int]] = defaultdict(dict)
    for one in (good.row for good in goods):
        if one.offer_id and one.limit_days:
            short[one.supplier_id][one.offer_id] = one.limit_days
    asking = ((Asking(buyer_id, supplier_id, is_sent), days) for supplier_id, days in short.items())
    return [question(whose, days, at) for question in _asked for whose, days in asking]


def taken_of(found: Sequence[Rows]) -> dict[UUID, int]:
    """Return what `taken_calls` have read, by offer."""
    return {one.offer_id: one.base_quantity for rows in found for one in rows.of(Taken)}
