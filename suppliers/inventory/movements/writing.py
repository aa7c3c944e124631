"""What all that moves stock shares: the checks of quantities, and the last write."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.errors import FieldError
from core.pipeline import Call, run
from ledger import public as ledger
from ledger.public import Occurrence
from organizations import public as organizations
from suppliers.inventory.levels import Level
from suppliers.inventory.refusals import InsufficientStock, StockReserved
from suppliers.inventory.reservations import changes
from suppliers.inventory.reservations.breaking import Freed

from .shelving import Key, Shelves, Spot


def side_of(actor: Actor) -> str:
    """Return the side that acts on its stock: a tenant that only buys is the buyer."""
    return "buyer" if actor.tenant_kinds and "supplier" not in actor.tenant_kinds else "supplier"


def check_on_hand(shelves: Shelves, spots: Sequence[Spot], moved: Sequence[int]) -> None:
    """Refuse to take more than is there; `moved` is signed, and what concerns one level is summed.

    :raises InsufficientStock: names each line of a level that would fall below nothing.
    """
    sums: dict[Key, int] = defaultdict(int)
    for spot, quantity in zip(spots, moved, strict=True):
        sums[spot.key] += quantity
    errors = [
        FieldError(f"lines.{number}.quantity", InsufficientStock.code, f"{shelves.spots[spot.key].on_hand} is on hand.")
        for number, spot in enumerate(spots)
        if shelves.spots[spot.key].on_hand + sums[spot.key] < 0
    ]
    if errors:
        raise InsufficientStock(errors=errors)


def moved_of(spot: Spot, level: Level, quantity: int, cause: str, by: str) -> dict[str, Any]:
    """Return what the fact of a movement tells."""
    return {
        "level_id": str(level.row.id),
        "product_id": str(spot.product.id),
        "location_id": str(spot.location_id),
        "base_quantity": quantity,
        "on_hand": level.on_hand,
        "by": by,
        "category": spot.product.category,
        "lot_id": str(level.row.lot_id) if level.row.lot_id else None,
        "cause": cause,
    }


def refuse_reserved(lines: Sequence[tuple[str, Level]]) -> None:
    """Refuse what would leave less than is reserved.

    :raises StockReserved: names the field of each line.
    """
    errors = [
        FieldError(name, StockReserved.code, f"{level.reserved} of {level.row.on_hand} is reserved.")
        for name, level in lines
        if level.free < 0
    ]
    if errors:
        raise StockReserved(errors=errors)


def finish(
    actor: Actor,
    calls: Sequence[Call],
    told: Mapping[UUID, Sequence[Occurrence]],
    freed: Freed,
    at: datetime,
    counts: Sequence[Call],
) -> None:
    """Write all, with orders and the copies of reservations that have ended; the counters come last, before the facts.

    The supplier acts on its stock, so a buyer whose tenant is closed loses its reservation as any other does.
    """
    if freed.rows:
        parts = [organizations.Part(actor.tenant_id, changes.touched(freed.rows), calls), *freed.parts]
        organizations.write_together(actor, parts, None, counts=counts, told=told, at=at)
        return
    facts = told.get(actor.tenant_id, ())
    run([*calls, *counts, *ledger.statements_of_many(actor=actor, occurrences=[*facts], at=at)])
