"""What a shipment uses up of the reservations of its order. Source: contract, supply-shelf.md 7 "States".

A reservation of which all has left is consumed. One of which a part has left holds the rest; the part has no row of its own.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from core.pipeline import Call
from ledger.public import Occurrence
from suppliers.inventory.events import ReservationConsumed
from suppliers.inventory.models import Reservation
from suppliers.inventory.reservations import changes

from .stock import Stock


@dataclass(slots=True)
class Consumed:
    """What is written of reservations, which of them that touches, and what is told."""

    calls: list[Call] = field(default_factory=list)
    rows: list[Reservation] = field(default_factory=list)
    told: dict[UUID, list[Occurrence]] = field(default_factory=dict)


def consume(supplier_id: UUID, stock: Stock, at: datetime, *, by: str) -> Consumed:
    """Return what becomes of the reservations of an order, by what is left of what they hold."""
    left: dict[UUID, int] = defaultdict(int)
    before: dict[UUID, int] = defaultdict(int)
    for one in stock.held:
        left[one.reservation_id] += stock.left[one.id]
        before[one.reservation_id] += one.base_quantity
    used = [row for key, row in sorted(stock.reservations.items()) if before[key] != left[key]]
    ended = [row for row in used if not left[row.id]]
    smaller = [row for row in used if left[row.id]]
    for row in ended:
        row.consume()
    calls = [*changes.ending_calls(ended, at), *changes.shrinking_calls(smaller, stock.held, stock.left, at)]
    return Consumed(calls, used, changes.told_of(ReservationConsumed, ended, by))
