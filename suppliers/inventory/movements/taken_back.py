"""Goods that a receipt had brought, taken from their places again, where the receipt is reversed.

Source: contract, supply-order.md 4 "Reversing".
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.ids import uuid7
from core.pipeline import Call, Statement, run
from ledger.public import Occurrence
from suppliers.inventory.events import StockAdjusted
from suppliers.inventory.levels import Level, changed, levels_of_products, read_levels
from suppliers.inventory.states import MovementType

from .delivered import CAUSE, Landed, reference_of
from .finding import HELD_ITEMS
from .goods import Product
from .serials import SerialRow, lock_serials_call
from .shelving import Shelves, Spot
from .writing import moved_of

LEAVE = Statement.of(
    "UPDATE suppliers_serial s SET level_id = NULL, lot_id = NULL, status = 'returned', version = s.version + 1,"
    " updated_at = $3 WHERE s.tenant_id = $1 AND s.id = ANY($2::uuid[]) RETURNING s.id::text"
)
# Of the supplier's own units: whether their buyer has them, or they are only shipped.
_TURN = Statement.of(
    "UPDATE suppliers_serial s SET status = $3, version = s.version + 1, updated_at = $5 WHERE s.tenant_id = $1 AND s.id IN"
    " (SELECT t.id FROM suppliers_serial t JOIN json_to_recordset($2) AS g (product_id uuid, serial_number text)"
    " ON g.product_id = t.product_id AND g.serial_number = t.serial_number WHERE t.tenant_id = $1 AND t.status = $4"
    " ORDER BY t.id FOR UPDATE OF t) RETURNING s.id::text"
)


class Gone(Exception):
    """Some of the goods are not there any more, or are promised; nothing was changed. `lines` are the numbers of their lines."""

    def __init__(self, lines: Sequence[int]) -> None:
        super().__init__("goods are gone")
        self.lines = lines


class Kept(NamedTuple):
    """What a line of a receipt has kept of one of its movements."""

    line: int
    product_id: UUID
    level_id: UUID
    movement_id: UUID
    quantity: int
    serials: Sequence[str]


def kept_of(line: int, product_id: UUID, stock: Sequence[Mapping[str, Any]]) -> list[Kept]:
    """Read what a line of a receipt has kept of its movements."""
    return [
        Kept(line, product_id, UUID(one["level_id"]), UUID(one["movement_id"]), one["quantity"], one["serials"])
        for one in stock
    ]


@needs_transaction
def take_back(actor: Actor, kept: Sequence[Kept], receipt_id: UUID, at: datetime) -> Landed:
    """Take goods from their places again; the buyer is bound. `receipt_id` is the receipt that reverses.

    :raises Gone: less is there than the receipt had brought, or it is promised.
    """
    own, products = actor.tenant_id, sorted({one.product_id for one in kept})
    named = [(one.product_id, number) for one in kept for number in one.serials]
    held, _, levels, promised, *serials = run(
        [
            Call(HELD_ITEMS, [str(own), array_literal(products), "{}"]),
            *levels_of_products(own, products, at),
            *([lock_serials_call(own, named)] if named else []),
        ]
    )
    goods = {one.id: one for one in held.of(Product)}
    found = read_levels(levels, promised)
    units = {(row.product_id, row.serial_number): row for rows in serials for row in rows.of(SerialRow)}
    _check(kept, found, units)
    shelves = Shelves(found, {}, {})
    back, facts = dict[int, list[dict[str, Any]]](), list[Occurrence]()
    for one in kept:
        level = found[one.level_id]
        spot = Spot(goods[one.product_id], level.row.location_id, level.row.lot_number or "")
        shelves.spots[spot.key] = level
        key, of = str(uuid7()), str(one.movement_id)
        shelves.move(spot, -one.quantity, id=key, type=MovementType.RECEIPT.value, reason_code=CAUSE, reversal_of=of)
        movement = {
            "level_id": str(one.level_id),
            "movement_id": key,
            "quantity": -one.quantity,
            "serials": [*one.serials],
        }
        back.setdefault(one.line, []).append(movement)
        facts.append(Occurrence(StockAdjusted(**moved_of(spot, level, -one.quantity, CAUSE, "buyer")), level.row.id))
    leaving = array_literal(sorted(units[name].id for name in named))
    left = [Call(LEAVE, [str(own), leaving, at.isoformat()])] if named else []
    moved, news = changed(own, found.values(), at, by="buyer")
    calls = [*moved, *left, *shelves.movement_calls(actor, at, reference_of(receipt_id))]
    return Landed(shelves, calls, [*facts, *news], back, shelves.count_calls(actor, at))


def _check(kept: Sequence[Kept], levels: Mapping[UUID, Level], units: Mapping[tuple[UUID, str], SerialRow]) -> None:
    """Require that all of it is still there.

    :raises Gone: it is not.
    """
    sums: dict[UUID, int] = defaultdict(int)
    for one in kept:
        sums[one.level_id] += one.quantity
    empty = {key for key, quantity in sums.items() if key not in levels or levels[key].free < quantity}
    lines = [
        one.line
        for one in kept
        if one.level_id in empty
        or not all(_is_there(one, units.get((one.product_id, number))) for number in one.serials)
    ]
    if lines:
        raise Gone([*dict.fromkeys(lines)])


def _is_there(kept: Kept, unit: SerialRow | None) -> bool:
    """Tell whether a unit is still where the receipt has put it."""
    return unit is not None and unit.level_id == kept.level_id and unit.status == "in_stock"


def units_call(supplier_id: UUID, named: Sequence[tuple[UUID, str]], at: datetime, *, received: bool) -> Call:
    """Return the statement, bound to the supplier, that turns its shipped units into received ones, or back."""
    numbers = [{"product_id": str(product), "serial_number": number} for product, number in named]
    turned = ("received", "shipped") if received else ("shipped", "received")
    return Call(_TURN, [str(supplier_id), orjson.dumps(numbers), *turned, at.isoformat()])
