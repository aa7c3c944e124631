"""Goods that a buyer sends back to their supplier, taken from its places. Source: contract, supply-invoice.md 4.

What lies set apart leaves first, then what lies where it was delivered. Goods that never came to stock leave none.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import FieldError
from core.ids import uuid7
from core.pipeline import Call, run
from ledger.public import Occurrence
from suppliers.inventory.events import StockAdjusted
from suppliers.inventory.levels import Level, changed, levels_of_products, read_levels
from suppliers.inventory.queries import WITHIN
from suppliers.inventory.refusals import InsufficientStock, WrongSerial
from suppliers.inventory.states import MovementType, ReasonCode, SerialStatus

from .delivered import Landed
from .finding import HELD_ITEMS
from .goods import Product
from .serials import Named, SerialRow, lock_serials_call, serials_of
from .shelving import Shelves, Spot
from .taken_back import LEAVE
from .writing import moved_of

CAUSE = ReasonCode.RETURN.value


class Going(NamedTuple):
    """Goods of one line that leave, in base units; `line` is its place in the document.

    `lots` are the numbers under which the buyer holds them, "" for none. At least `least` of them must be there: so many came
    to stock. `serials` are the units, where they have numbers.
    """

    line: int
    product_id: UUID
    lots: frozenset[str]
    quantity: int
    least: int
    serials: Sequence[str]


def reference_of(return_id: UUID, number: str) -> dict[str, str]:
    """Return what the movements of a return belong to."""
    return {"reference_type": "return", "reference_id": str(return_id), "reference_text": number}


@needs_transaction
def send_back(
    actor: Actor, going: Sequence[Going], home: UUID, reference: Mapping[str, Any], at: datetime
) -> Landed | None:
    """Take goods from the buyer's places; the buyer is bound, and `home` is where they were delivered. None: nothing is kept.

    :raises InsufficientStock: less of a line is there than had come to stock; names each line.
    :raises WrongSerial: a unit that had come to stock is not there; names each line.
    """
    if not going:
        return None
    own, products = actor.tenant_id, sorted({one.product_id for one in going})
    named = [(one.product_id, number) for one in going for number in one.serials]
    held, _, levels, promised, *serials = run(
        [
            Call(HELD_ITEMS, [str(own), array_literal(products), "{}"]),
            *levels_of_products(own, products, at),
            *([lock_serials_call(own, named)] if named else []),
        ]
    )
    goods = {one.id: one for one in held.of(Product)}
    found = read_levels(levels, promised)
    units = {key: row for rows in serials for key, row in serials_of(rows).items()}
    here = {key: one for key, one in found.items() if WITHIN.holds(actor, one.row.location_id)}
    taken = _taken(going, here, units, home)
    shelves, kept, facts = Shelves(found, {}, {}), dict[int, list[dict[str, Any]]](), list[Occurrence]()
    for one, level, quantity, numbers in taken:
        spot = Spot(goods[one.product_id], level.row.location_id, level.row.lot_number or "")
        shelves.spots[spot.key] = level
        key = str(uuid7())
        shelves.move(spot, -quantity, id=key, type=MovementType.SHIPMENT.value, reason_code=CAUSE)
        movement = {"level_id": str(level.row.id), "movement_id": key, "quantity": -quantity, "serials": numbers}
        kept.setdefault(one.line, []).append(movement)
        facts.append(Occurrence(StockAdjusted(**moved_of(spot, level, -quantity, CAUSE, "buyer")), level.row.id))
    leaving = sorted(units[one.product_id, number].id for one, _, _, numbers in taken for number in numbers)
    left = [Call(LEAVE, [str(own), array_literal(leaving), at.isoformat()])] if leaving else []
    moved, news = changed(own, found.values(), at, by="buyer")
    calls = [*moved, *left, *shelves.movement_calls(actor, at, reference)]
    return Landed(shelves, calls, [*facts, *news], kept, shelves.count_calls(actor, at))


Taken = tuple[Going, Level, int, list[str]]


def _taken(
    going: Sequence[Going], levels: Mapping[UUID, Level], units: Mapping[Named, SerialRow], home: UUID
) -> list[Taken]:
    """Return from which levels the goods leave.

    :raises InsufficientStock, WrongSerial: as `send_back`.
    """
    free = {key: one.free for key, one in levels.items()}
    found, short, wrong = list[Taken](), list[FieldError](), list[FieldError]()
    for one in going:
        if one.serials:
            taken, faults = _units(one, levels, units)
            found += taken
            wrong += faults
        else:
            taken = [*_picked(one, levels, free, home)]
            found += taken
            there = sum(quantity for _, _, quantity, _ in taken)
            if there < one.least:
                message = f"{there} of {one.least} base units are there."
                short.append(FieldError(f"lines.{one.line}.quantity", InsufficientStock.code, message))
    if wrong:
        raise WrongSerial(errors=wrong)
    if short:
        raise InsufficientStock(errors=short)
    return found


def _picked(one: Going, levels: Mapping[UUID, Level], free: dict[UUID, int], home: UUID) -> Iterator[Taken]:
    """Yield what leaves each level: what is set apart at first, then what lies where it was delivered."""
    fitting = [
        level
        for level in levels.values()
        if level.row.product_id == one.product_id and (level.row.lot_number or "") in one.lots
    ]
    rest = one.quantity
    for level in sorted(fitting, key=lambda it: (it.row.is_open, it.row.location_id != home, it.row.id)):
        here = min(rest, free[level.row.id])
        if here > 0:
            free[level.row.id] -= here
            rest -= here
            yield one, level, here, []


def _units(
    one: Going, levels: Mapping[UUID, Level], units: Mapping[Named, SerialRow]
) -> tuple[list[Taken], list[FieldError]]:
    """Return the levels that units leave, and what is wrong with those that should be there."""
    by_level: dict[UUID, list[str]] = {}
    missing = []
    for number in one.serials:
        row = units.get((one.product_id, number))
        if row and row.level_id and row.level_id in levels and row.status == SerialStatus.IN_STOCK:
            by_level.setdefault(row.level_id, []).append(number)
        elif row or one.least:
            missing.append(number)
    faults = [
        FieldError(f"lines.{one.line}.serial_numbers", WrongSerial.code, f"{number} is not there.")
        for number in missing
    ]
    return [(one, levels[key], len(numbers), numbers) for key, numbers in sorted(by_level.items())], faults
