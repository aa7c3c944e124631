"""What a shipment uses up of the reservations of its order. Source: contract, supply-shelf.md 7 "States".

A reservation of which all has left is consumed. One of which a part has left holds the rest; the part has no row of its own.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from core.arrays import array_literal, in_document
from core.model_rows import save_all_call
from core.pipeline import Call, Statement
from ledger.public import Occurrence
from suppliers.inventory.events import ReservationConsumed
from suppliers.inventory.models import Reservation
from suppliers.inventory.reservations import changes

from .stock import Stock

_SHRINK = Statement.of(
    "UPDATE suppliers_allocation a SET base_quantity = g.base_quantity, version = a.version + 1, updated_at = $3"
    " FROM json_to_recordset($2) AS g (id uuid, base_quantity bigint)"
    f" WHERE a.tenant_id = $1 AND {in_document('a.id', '$2')} AND a.id = g.id RETURNING a.id::text"
)
_DROP = Statement.of(
    "DELETE FROM suppliers_allocation WHERE tenant_id = $1 AND id = ANY($2::uuid[]) RETURNING id::text"
)


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
    for row in smaller:
        row.base_quantity = left[row.id]
    calls = [*changes.ending_calls(ended, at), *_shrinking(supplier_id, stock, smaller, at)]
    return Consumed(calls, used, changes.told_of(ReservationConsumed, ended, by))


def _shrinking(supplier_id: UUID, stock: Stock, rows: Sequence[Reservation], at: datetime) -> list[Call]:
    """Return the statements that save reservations that hold less, with their allocations."""
    if not rows:
        return []
    keys = {row.id for row in rows}
    moved = [one for one in stock.held if one.reservation_id in keys and stock.left[one.id] != one.base_quantity]
    kept: list[dict[str, Any]] = [
        {"id": str(one.id), "base_quantity": stock.left[one.id]} for one in moved if stock.left[one.id]
    ]
    gone = [one.id for one in moved if not stock.left[one.id]]
    own = str(supplier_id)
    return [
        save_all_call(rows, "base_quantity", at=at),
        *([Call(_SHRINK, [own, orjson.dumps(kept), at.isoformat()])] if kept else []),
        *([Call(_DROP, [own, array_literal(gone)])] if gone else []),
    ]
