"""Serial numbers of units: each moves with its unit, so that a level has as many as it holds.

The caller has locked the levels; serials are locked behind them, in the order of their ids. Source: contract,
supply-shelf.md "Serial" and supply.md section 5.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from core import rows
from core.arrays import array_literal, in_document
from core.errors import FieldError
from core.ids import uuid7
from core.pipeline import Call, Rows, Statement, run
from suppliers.catalog.states import SERIAL_TRACKING
from suppliers.inventory.levels import Level
from suppliers.inventory.refusals import WrongSerial
from suppliers.inventory.serial_models import Serial
from suppliers.inventory.states import SerialStatus

from .goods import Product

_AWAY = (SerialStatus.SHIPPED.value, SerialStatus.RETURNED.value, SerialStatus.DISPOSED.value)
Named = tuple[UUID, str]  # product, serial number


class SerialRow(NamedTuple):
    """A serial number of the tenant."""

    id: UUID
    product_id: UUID
    serial_number: str
    level_id: UUID | None
    status: str


_LOCK = Statement.of(
    "SELECT s.id, s.product_id, s.serial_number, s.level_id, s.status FROM suppliers_serial s WHERE s.tenant_id = $1"
    " AND (s.level_id = ANY($3::uuid[]) AND s.status = 'in_stock' OR EXISTS (SELECT 1 FROM"
    " json_to_recordset($2) AS g (product_id uuid, serial_number text)"
    " WHERE g.product_id = s.product_id AND g.serial_number = s.serial_number)) ORDER BY s.id FOR UPDATE",
    row=SerialRow,
)
_MOVE = Statement.of(
    "UPDATE suppliers_serial s SET level_id = g.level_id, lot_id = g.lot_id, status = g.status, version = s.version + 1,"
    " updated_at = $3 FROM json_to_recordset($2) AS g (id uuid, level_id uuid, lot_id uuid, status text)"
    f" WHERE s.tenant_id = $1 AND {in_document('s.id', '$2')} AND s.id = g.id RETURNING s.id::text"
)


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one line: their serial numbers, and the levels that they leave and come to.

    With `is_count` the numbers are all that lies at `target`; what else was there is gone.
    """

    line: int
    product: Product
    numbers: Sequence[str]
    source: Level | None = None
    target: Level | None = None
    is_count: bool = False


@dataclass(slots=True)
class Moves:
    """What becomes of serials, in memory."""

    tenant_id: UUID
    at: datetime
    known: dict[Named, SerialRow]
    made: list[dict[str, Any]] = field(default_factory=list)
    moved: list[dict[str, Any]] = field(default_factory=list)

    def arrive(self, units: Units, number: str) -> bool:
        """Put a unit at the target; tell whether it could be."""
        assert units.target is not None
        row, level = self.known.get((units.product.id, number)), units.target.row
        place = {"level_id": str(level.id), "lot_id": str(level.lot_id) if level.lot_id else None}
        place |= {"status": SerialStatus.IN_STOCK.value}
        if row is None:
            same = {"id": str(uuid7()), "tenant_id": str(self.tenant_id), "product_id": str(units.product.id)}
            times = {"created_at": self.at.isoformat(), "updated_at": self.at.isoformat(), "version": 1}
            self.made.append({**same, **times, "serial_number": number, **place})
            return True
        if row.status not in _AWAY and row.level_id != (units.source.row.id if units.source else None):
            return False
        self.moved.append({"id": str(row.id), **place})
        return True

    def leave(self, units: Units, number: str) -> bool:
        """Take a unit from the source; tell whether it was there."""
        assert units.source is not None
        row = self.known.get((units.product.id, number))
        if row is None or row.level_id != units.source.row.id or row.status != SerialStatus.IN_STOCK:
            return False
        if units.target is not None:
            return self.arrive(units, number)
        self.moved.append({"id": str(row.id), "level_id": None, "lot_id": None, "status": SerialStatus.DISPOSED.value})
        return True

    def count(self, units: Units, number: str) -> bool:
        """Keep a unit that was counted where it is, or put it there."""
        assert units.target is not None
        row = self.known.get((units.product.id, number))
        is_there = row is not None and row.level_id == units.target.row.id and row.status == SerialStatus.IN_STOCK
        return is_there or self.arrive(units, number)

    def lose(self, units: Units) -> None:
        """Take away what was not counted."""
        assert units.target is not None
        counted = set(units.numbers)
        for row in self.known.values():
            if row.level_id == units.target.row.id and row.serial_number not in counted:
                gone = {"level_id": None, "lot_id": None, "status": SerialStatus.DISPOSED.value}
                self.moved.append({"id": str(row.id), **gone})

    def calls(self) -> list[Call]:
        """Return the statements that write all of it."""
        found = [rows.insert_all(Serial, self.made)] if self.made else []
        if self.moved:
            found.append(Call(_MOVE, [str(self.tenant_id), orjson.dumps(self.moved), self.at.isoformat()]))
        return found


def serials_of(found: Rows) -> dict[Named, SerialRow]:
    """Return the serials that `lock_serials_call` has locked, by product and number."""
    return {(row.product_id, row.serial_number): row for row in found.of(SerialRow)}


def ship_calls(tenant_id: UUID, units: Sequence[tuple[SerialRow, Level]], at: datetime) -> list[Call]:
    """Return the statement that lets units leave the levels where they lie."""
    moved = [
        {
            "id": str(row.id),
            "level_id": None,
            "lot_id": str(level.row.lot_id) if level.row.lot_id else None,
            "status": SerialStatus.SHIPPED.value,
        }
        for row, level in units
    ]
    return [Call(_MOVE, [str(tenant_id), orjson.dumps(moved), at.isoformat()])] if moved else []


def move_serials(tenant_id: UUID, lines: Sequence[Units], at: datetime) -> list[Call]:
    """Lock the serials of some lines, and return the statements that move them.

    :raises WrongSerial: a number is not where its line takes it from, or is in stock already; `errors` names each line.
    """
    wanted = [one for one in lines if one.product.tracking in SERIAL_TRACKING]
    if not wanted:
        return []
    named = [(one.product.id, number) for one in wanted for number in one.numbers]
    counted = [one.target.row.id for one in wanted if one.is_count and one.target]
    (found,) = run([lock_serials_call(tenant_id, named, counted)])
    return moved_serials(tenant_id, wanted, found, at)


def lock_serials_call(tenant_id: UUID, named: Iterable[Named], counted: Sequence[UUID] = ()) -> Call:
    """Return the statement that locks serials by their numbers, and all that lie at levels that are counted."""
    numbers = [{"product_id": str(product), "serial_number": number} for product, number in named]
    return Call(_LOCK, [str(tenant_id), orjson.dumps(numbers), array_literal(counted)])


def moved_serials(tenant_id: UUID, wanted: Sequence[Units], found: Rows, at: datetime) -> list[Call]:
    """As `move_serials`, of serials that `lock_serials_call` has locked.

    :raises WrongSerial: as `move_serials`.
    """
    moves = Moves(tenant_id, at, serials_of(found))
    errors = [error for one in wanted for error in _move(moves, one)]
    if errors:
        raise WrongSerial(errors=errors)
    return moves.calls()


def _move(moves: Moves, units: Units) -> list[FieldError]:
    step = moves.count if units.is_count else moves.leave if units.source else moves.arrive
    wrong = [number for number in units.numbers if not step(units, number)]
    if units.is_count:
        moves.lose(units)
    message = "The serial number is not there, or not to be put there."
    return [
        FieldError(f"lines.{units.line}.serial_numbers", WrongSerial.code, f"{number}: {message}") for number in wrong
    ]
