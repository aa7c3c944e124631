"""The levels of goods at places: made where there are none, locked with all levels of their products, and moved.

Lock order: lots, levels, products, reservations (decision 86). Source: contract, supply.md section 5.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from core import rows
from core.actor import Actor
from core.arrays import array_literal, in_document
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call, Rows, Statement, run
from suppliers.inventory.items.offered import Origin, hold_calls
from suppliers.inventory.levels import Level, levels_of_products, read_levels
from suppliers.inventory.models import StockMovement
from suppliers.inventory.refusals import LotConflict, LotRecalled
from suppliers.inventory.states import LotStatus

from .counters import count_call
from .goods import Product

# NO KEY: who refers to the row, as a new reservation to its product, must not wait for whoever waits for the levels.
_TOUCH = Statement.of(
    "UPDATE suppliers_product p SET stock_moved_at = $3 WHERE p.tenant_id = $1 AND p.stock_moved_at IS NULL"
    " AND p.id IN (SELECT q.id FROM suppliers_product q WHERE q.tenant_id = $1 AND q.id = ANY($2::uuid[])"
    " AND q.stock_moved_at IS NULL ORDER BY q.id FOR NO KEY UPDATE)"
    " RETURNING p.id::text"
)
_MAKE_LOTS = Statement.of(
    "INSERT INTO suppliers_lot (id, tenant_id, created_at, updated_at, version, product_id, lot_number, expiry_date,"
    " manufacture_date, status, status_reason, origin_tenant_id, origin_lot_id)"
    " SELECT g.id, $1, $3, $3, 1, g.product_id, g.lot_number, g.expiry_date, g.manufacture_date, 'released', '',"
    " g.origin_tenant_id, g.origin_lot_id"
    " FROM json_to_recordset($2) AS g (id uuid, product_id uuid, lot_number text, expiry_date date, manufacture_date date,"
    " origin_tenant_id uuid, origin_lot_id uuid)"
    " ORDER BY g.product_id, g.lot_number ON CONFLICT DO NOTHING RETURNING id::text"
)


# What came before the supplier had the lot itself.
_TRACE_LOTS = Statement.of(
    "UPDATE suppliers_lot l SET origin_tenant_id = g.origin_tenant_id, origin_lot_id = g.origin_lot_id, version = l.version + 1,"
    " updated_at = $3 FROM json_to_recordset($2) AS g (product_id uuid, lot_number text, origin_tenant_id uuid, origin_lot_id uuid)"
    f" WHERE l.tenant_id = $1 AND {in_document('l.product_id', '$2', 'product_id')} AND l.product_id = g.product_id"
    " AND l.lot_number = g.lot_number AND l.origin_lot_id IS NULL AND g.origin_lot_id IS NOT NULL RETURNING l.id::text"
)


class LotRow(NamedTuple):
    """A lot of the tenant; dates in ISO form."""

    id: UUID
    product_id: UUID
    lot_number: str
    expiry_date: str | None
    status: str
    version: int


LOT_COLUMNS: Final = "l.id, l.product_id, l.lot_number, l.expiry_date::text, l.status, l.version"
_LOTS = Statement.of(
    f"SELECT {LOT_COLUMNS} FROM suppliers_lot l"
    " JOIN json_to_recordset($2) AS g (product_id uuid, lot_number text)"
    " ON l.product_id = g.product_id AND l.lot_number = g.lot_number"
    f" WHERE l.tenant_id = $1 AND {in_document('l.product_id', '$2', 'product_id')} ORDER BY l.id FOR NO KEY UPDATE OF l",
    row=LotRow,
)
_MAKE_LEVELS = Statement.of(
    "INSERT INTO suppliers_stocklevel (id, tenant_id, created_at, updated_at, version, product_id, location_id, lot_id,"
    " on_hand, reserved)"
    " SELECT g.id, $1, $3, $3, 1, g.product_id, g.location_id,"
    " (SELECT l.id FROM suppliers_lot l WHERE l.tenant_id = $1 AND l.product_id = g.product_id AND l.lot_number = g.lot_number),"
    " 0, 0 FROM json_to_recordset($2) AS g (id uuid, product_id uuid, location_id uuid, lot_number text)"
    " ORDER BY g.product_id, g.location_id, g.lot_number ON CONFLICT DO NOTHING RETURNING id::text"
)

Key = tuple[UUID, UUID, str]  # product, location, lot number or ""


@dataclass(frozen=True, slots=True)
class Spot:
    """Goods at a place: what one line, or one end of it, concerns.

    `expiry` and `made` are for a lot that is new; `origin` is the supplier's lot from which a buyer's comes.
    """

    product: Product
    location_id: UUID
    lot_number: str = ""
    expiry: date | None = None
    made: date | None = None
    origin: Origin | None = None

    @property
    def key(self) -> Key:
        """What tells two spots apart."""
        return (self.product.id, self.location_id, self.lot_number)


@dataclass(slots=True)
class Shelves:
    """Locked levels and lots, and the movements that were made on them so far.

    `ahead` and `behind` are the rows of the statements that were sent before the locks and behind them.
    """

    levels: dict[UUID, Level]
    lots: dict[tuple[UUID, str], LotRow]
    spots: dict[Key, Level]
    movements: list[dict[str, Any]] = field(default_factory=list)
    behind: Sequence[Rows] = ()
    ahead: Sequence[Rows] = ()

    def move(self, spot: Spot, quantity: int, **more: Any) -> Level:
        """Change what is on hand, and keep the movement."""
        level = self.spots[spot.key]
        level.on_hand += quantity
        self.movements.append(
            {
                "level_id": str(level.row.id),
                "product_id": str(spot.product.id),
                "location_id": str(spot.location_id),
                "lot_id": str(level.row.lot_id) if level.row.lot_id else None,
                "lot_number": spot.lot_number,
                "quantity": quantity,
                "balance_after": level.on_hand,
                **more,
            }
        )
        return level

    def movement_calls(self, actor: Actor, at: datetime, reference: Mapping[str, Any]) -> list[Call]:
        """Return the statement that writes the movements."""
        if not self.movements:
            return []
        same = {
            "tenant_id": str(actor.tenant_id),
            "created_at": at.isoformat(),
            "actor_id": str(actor.subject_id),
            "actor_kind": actor.subject.kind.value,
            "reason_code": "",
            "note": "",
            **reference,
        }
        return [rows.insert_all(StockMovement, [{"id": str(uuid7()), **same, **one} for one in self.movements])]

    def count_calls(self, actor: Actor, at: datetime) -> list[Call]:
        """Return the statement that counts the movements; it comes last, behind the copies."""
        return [count_call(actor.tenant_id, at, len(self.movements))] if self.movements else []


def _lots(spots: Sequence[Spot]) -> list[dict[str, Any]]:
    """Return the columns of the lots of spots, each with its expiry date from whichever spot says it."""
    telling = sorted((one for one in spots if one.lot_number), key=lambda one: one.expiry is not None)
    return [_lot(spot) for spot in {(one.product.id, one.lot_number): one for one in telling}.values()]


def open_shelves(
    actor: Actor,
    spots: Sequence[Spot],
    at: datetime,
    items: Sequence[Mapping[str, Any]] = (),
    behind: Sequence[Call] = (),
    ahead: Sequence[Call] = (),
) -> Shelves:
    """Make the lots and levels of spots that are not there, and lock them with all levels of their products.

    A new lot takes its expiry date from whichever line says it, else from its origin. `items` are the columns of products
    of others that the tenant comes to hold, or whose snapshot is renewed. `ahead` and `behind` are statements that lock what
    the lock order puts before products and behind levels.
    """
    tenant_id, products = actor.tenant_id, sorted({spot.product.id for spot in spots})
    own = sorted({spot.product.id for spot in spots if spot.product.owner_id == tenant_id})
    levels = [_level(spot) for spot in {one.key: one for one in spots}.values()]
    tenant, moment = str(tenant_id), at.isoformat()
    touched = [Call(_TOUCH, [tenant, array_literal(own), moment])] if own else []
    rows_found = run(
        [
            *ahead,
            *hold_calls(tenant_id, own, [one for one in items if UUID(one["id"]) in products], at),
            *_lots_calls(tenant, spots, moment),
            Call(_MAKE_LEVELS, [tenant, orjson.dumps(levels), moment]),
            *levels_of_products(tenant_id, products, at),
            *touched,
            *behind,
        ]
    )
    last = len(rows_found) - len(behind)
    found, _, _, levels_found, promised = rows_found[last - len(touched) - 5 : last - len(touched)]
    known = {(one.product_id, one.lot_number): one for one in found.of(LotRow)}
    held = read_levels(levels_found, promised)
    places = {(one.row.product_id, one.row.location_id, one.row.lot_number or ""): one for one in held.values()}
    spotted = {spot.key: places[spot.key] for spot in spots if spot.key in places}
    return Shelves(held, known, spotted, behind=rows_found[last:], ahead=rows_found[: len(ahead)])


def _lots_calls(tenant: str, spots: Sequence[Spot], moment: str) -> list[Call]:
    """Return the statements that make lots, trace those of others to their origin, and read all, which comes last."""
    lots = orjson.dumps(_lots(spots))
    traced = [Call(_TRACE_LOTS, [tenant, lots, moment])] if any(spot.origin for spot in spots) else []
    return [Call(_MAKE_LOTS, [tenant, lots, moment]), *traced, Call(_LOTS, [tenant, lots])]


def _lot(spot: Spot) -> dict[str, Any]:
    origin = spot.origin
    return {
        "id": str(uuid7()),
        "product_id": str(spot.product.id),
        "lot_number": spot.lot_number,
        "expiry_date": spot.expiry.isoformat() if spot.expiry else origin and origin.expiry_date,
        "manufacture_date": spot.made.isoformat() if spot.made else origin and origin.manufacture_date,
        "origin_tenant_id": str(origin.supplier_id) if origin else None,
        "origin_lot_id": str(origin.id) if origin else None,
    }


def _level(spot: Spot) -> dict[str, Any]:
    return {
        "id": str(uuid7()),
        "product_id": str(spot.product.id),
        "location_id": str(spot.location_id),
        "lot_number": spot.lot_number or None,
    }


def check_lots(
    shelves: Shelves, spots: Sequence[Spot], arriving: Collection[int], numbers: Sequence[int] | None = None
) -> None:
    """Hold lots to what lines say of them; `arriving` are the places in `spots` of those that a recalled lot refuses.

    `numbers` are the numbers of the lines that the spots are of, where a line has several.

    :raises LotConflict: a lot has another expiry date than a line says.
    :raises LotRecalled: a line adds to a recalled lot, or to one whose origin is recalled.
    :raises InvalidFields: a lot has no expiry date, and its product needs one.
    """
    lines = range(len(spots)) if numbers is None else numbers
    found = [(f"lines.{lines[place]}", place in arriving, spot) for place, spot in enumerate(spots)]
    lots = [(*one, lot) for one in found if (lot := shelves.lots.get((one[2].product.id, one[2].lot_number)))]
    if errors := [
        FieldError(f"{line}.expiry_date", "required", "A new lot needs its expiry date.")
        for line, _, spot, lot in lots
        if spot.product.expiry_required and lot.expiry_date is None
    ]:
        raise InvalidFields(errors=errors)
    if errors := [
        FieldError(f"{line}.expiry_date", LotConflict.code, f"The lot expires on {lot.expiry_date}.")
        for line, _, spot, lot in lots
        if spot.expiry and lot.expiry_date != spot.expiry.isoformat()
    ]:
        raise LotConflict(errors=errors)
    if errors := [
        FieldError(f"{line}.lot_number", LotRecalled.code, "The lot is recalled.")
        for line, arrives, spot, lot in lots
        if arrives and LotStatus.RECALLED in (lot.status, spot.origin and spot.origin.status)
    ]:
        raise LotRecalled(errors=errors)
