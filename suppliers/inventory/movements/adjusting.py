"""Adjustments: up to 200 lines that receive, count, correct or write off stock, all or nothing.

Source: contract, supply-shelf.md "Adjustment line".
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from core.actor import Actor
from core.arrays import in_document
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call, Statement
from ledger.public import Occurrence
from suppliers.catalog import availability
from suppliers.inventory.events import StockAdjusted
from suppliers.inventory.items.offered import Owner
from suppliers.inventory.levels import Level, changed
from suppliers.inventory.refusals import StaleQuantity
from suppliers.inventory.reservations import changes
from suppliers.inventory.reservations.breaking import free_levels
from suppliers.inventory.reservations.order_books import hold_orders
from suppliers.inventory.states import TYPE_OF_REASON, Mode, MovementType, OnReserved, ReasonCode

from .finding import find_goods, with_offered
from .goods import Goods, Product, check_lines, check_storage
from .serials import Units, move_serials
from .shelving import Key, Shelves, Spot, check_lots, open_shelves
from .writing import check_on_hand, finish, moved_of, refuse_reserved, side_of

_SETTLE = Statement.of(
    "UPDATE suppliers_stocklevel v SET low_stock_threshold = coalesce(g.threshold, v.low_stock_threshold),"
    " last_counted_at = CASE WHEN g.counted THEN $3 ELSE v.last_counted_at END, version = v.version + 1, updated_at = $3"
    " FROM json_to_recordset($2) AS g (id uuid, threshold bigint, counted boolean)"
    f" WHERE v.tenant_id = $1 AND {in_document('v.id', '$2')} AND v.id = g.id RETURNING v.id::text"
)


@dataclass(frozen=True, slots=True)
class Adjusted:
    """What an adjustment has done: its id, and each line with its level and what was moved."""

    id: UUID
    lines: Sequence[tuple[Spot, Level, int]]


@needs_transaction
def adjust(actor: Actor, data: Mapping[str, Any], at: datetime, *, owners: Sequence[Owner] | None = None) -> Adjusted:
    """Adjust stock, all lines or none; `owners` is what the market told of products that a buyer holds nothing of yet.

    :raises OwnersUnknown: such products are there, and the market was not asked.
    :raises InvalidFields: a product, lot or place is unknown, or a level is set twice.
    :raises LotConflict, LotRecalled, StorageMismatch: as named.
    :raises WrongSerial: a unit is not where its line says.
    :raises StaleQuantity: a counted level holds another quantity than was expected.
    :raises InsufficientStock: less is on hand than a line takes.
    :raises StockReserved: less would be left than is reserved, and the line does not break reservations.
    :raises Busy: somebody else has an order whose stock breaks.
    """
    lines = data["lines"]
    goods = find_goods(actor, lines, {line["location_id"] for line in lines})
    goods = with_offered(actor, goods, lines, at, owners)
    products = check_lines(goods, lines, lambda line: [("location_id", line["location_id"])])
    spots = [_spot(goods, line, product) for line, product in zip(lines, products, strict=True)]
    _check_once(lines, spots)
    if any(line["on_reserved"] == OnReserved.BREAK for line in lines):
        hold_orders(actor.tenant_id, products={spot.product.id for spot in spots})
    shelves = open_shelves(actor, spots, at, goods.items)
    moved = _deltas(shelves, lines, spots)
    arriving = {number for number, quantity in enumerate(moved) if quantity > 0}
    check_storage(goods, [(number, spots[number].product, spots[number].location_id) for number in sorted(arriving)])
    check_lots(shelves, spots, arriving)
    check_on_hand(shelves, spots, moved)
    # What comes stands before what goes, so that no balance in between is below nothing.
    for line, spot, quantity in sorted(zip(lines, spots, moved, strict=True), key=lambda one: one[2] < 0):
        if quantity:
            reason = line["reason_code"]
            kind = TYPE_OF_REASON.get(reason, MovementType.ADJUSTMENT.value)
            shelves.move(spot, quantity, type=kind, reason_code=reason, note=line["note"] or data["note"] or "")
    adjusted = Adjusted(
        uuid7(), [(spot, shelves.spots[spot.key], delta) for spot, delta in zip(spots, moved, strict=True)]
    )
    _write(actor, data, adjusted, shelves, at)
    return adjusted


def _units(data: Mapping[str, Any], adjusted: Adjusted) -> list[Units]:
    """Return the units that the lines name by their serial numbers."""
    found = []
    for number, (line, (spot, level, moved)) in enumerate(zip(data["lines"], adjusted.lines, strict=True)):
        is_count, leaves = line["mode"] == Mode.SET, line["mode"] == Mode.DELTA and moved < 0
        ends = {"source": level} if leaves else {"target": level}
        found.append(Units(number, spot.product, line["serial_numbers"], is_count=is_count, **ends))
    return found


def _spot(goods: Goods, line: Mapping[str, Any], product: Product) -> Spot:
    lot = line["lot_number"] or ""
    origin = goods.origins.get((product.id, lot))
    return Spot(product, line["location_id"], lot, line["expiry_date"], line["manufacture_date"], origin)


def _check_once(lines: Sequence[Mapping[str, Any]], spots: Sequence[Spot]) -> None:
    """Refuse to set a level that another line changes, too; changes of one level are summed.

    :raises InvalidFields: names each such line.
    """
    numbers: dict[Key, list[int]] = defaultdict(list)
    for number, spot in enumerate(spots):
        numbers[spot.key].append(number)
    errors = [
        FieldError(f"lines.{number}", "duplicate", "Another line changes the same level.")
        for of_level in numbers.values()
        if len(of_level) > 1 and any(lines[number]["mode"] == Mode.SET for number in of_level)
        for number in of_level[1:]
    ]
    if errors:
        raise InvalidFields(errors=errors)


def _deltas(shelves: Shelves, lines: Sequence[Mapping[str, Any]], spots: Sequence[Spot]) -> list[int]:
    """Return by how much each line changes its level.

    :raises StaleQuantity: a count expected another quantity.
    """
    found, errors = [], []
    for number, (line, spot) in enumerate(zip(lines, spots, strict=True)):
        level = shelves.spots[spot.key]
        if line["mode"] != Mode.SET:
            found.append(line["quantity"])
            continue
        found.append(line["quantity"] - level.on_hand)
        if level.on_hand != line["expected_quantity"]:
            message = f"{level.on_hand} is on hand."
            errors.append(FieldError(f"lines.{number}.expected_quantity", StaleQuantity.code, message))
    if errors:
        raise StaleQuantity(errors=errors)
    return found


def _write(actor: Actor, data: Mapping[str, Any], adjusted: Adjusted, shelves: Shelves, at: datetime) -> None:
    tenant_id, lines = actor.tenant_id, data["lines"]
    serials = move_serials(tenant_id, _units(data, adjusted), at)
    may_break = {
        adjusted.lines[number][1].row.id for number, line in enumerate(lines) if line["on_reserved"] == OnReserved.BREAK
    }
    freed = free_levels(tenant_id, shelves.levels, at, may_break, reason=ReasonCode.COUNT.value)
    refuse_reserved([(f"lines.{number}.quantity", level) for number, (_, level, _) in enumerate(adjusted.lines)])
    _take_thresholds(lines, adjusted)
    moved, news = changed(tenant_id, shelves.levels.values(), at, by=side_of(actor))
    reference = {
        "reference_type": "adjustment",
        "reference_id": str(adjusted.id),
        "reference_text": data["reference"] or "",
    }
    calls = [
        *moved,
        *_settled(tenant_id, lines, adjusted, at),
        *serials,
        *freed.calls,
        *shelves.movement_calls(actor, at, reference),
    ]
    own = {spot.product.id for spot, _, _ in adjusted.lines if spot.product.owner_id == tenant_id}
    calls += availability.refresh_calls(tenant_id, own, at)
    facts = [
        _fact(actor, spot, level, quantity, line["reason_code"])
        for line, (spot, level, quantity) in zip(lines, adjusted.lines, strict=True)
        if quantity
    ]
    told = changes.joined({tenant_id: [*facts, *news]}, freed.told)
    finish(actor, calls, told, freed, at, shelves.count_calls(actor, at))


def _take_thresholds(lines: Sequence[Mapping[str, Any]], adjusted: Adjusted) -> None:
    """Let levels be told of by the thresholds that come with their lines."""
    for line, (_, level, _) in zip(lines, adjusted.lines, strict=True):
        if line["low_stock_threshold"] is not None:
            level.row = level.row._replace(low_stock_threshold=line["low_stock_threshold"])


def _settled(tenant_id: UUID, lines: Sequence[Mapping[str, Any]], adjusted: Adjusted, at: datetime) -> list[Call]:
    """Return the statement that keeps thresholds and times of counts."""
    rows = {
        str(level.row.id): {
            "id": str(level.row.id),
            "threshold": line["low_stock_threshold"],
            "counted": line["mode"] == Mode.SET,
        }
        for line, (_, level, _) in zip(lines, adjusted.lines, strict=True)
        if line["mode"] == Mode.SET or line["low_stock_threshold"] is not None
    }
    return [Call(_SETTLE, [str(tenant_id), orjson.dumps([*rows.values()]), at.isoformat()])] if rows else []


def _fact(actor: Actor, spot: Spot, level: Level, quantity: int, cause: str) -> Occurrence:
    return Occurrence(StockAdjusted(**moved_of(spot, level, quantity, cause, side_of(actor))), level.row.id)
