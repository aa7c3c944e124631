"""Goods of a supplier that come to a buyer's places by a delivery, and go back where their receipt is reversed.

Products and lots are read bound to the supplier, whether the buyer still sees them or not; its lots are held until the
receipt is written, so that a recall waits for it or is seen. Source: contract, supply-order.md 4 and supply-shelf.md
"Whose stock".
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.conditions import TENANT
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call, Rows, Statement
from ledger.public import Occurrence
from organizations.public import reach
from suppliers.catalog.states import LOT_TRACKING, SERIAL_TRACKING
from suppliers.inventory.events import StockAdjusted
from suppliers.inventory.items.offered import HELD, Offered, Origin, delivered_calls, is_same, item_of
from suppliers.inventory.levels import changed
from suppliers.inventory.refusals import LotRecalled
from suppliers.inventory.states import LotStatus, MovementType, ReasonCode

from .finding import ITEM_COLUMNS, joined_goods
from .goods import Goods, Place, Product, check_storage
from .serials import Units, lock_serials_call, moved_serials
from .shelving import Shelves, Spot, check_lots, open_shelves
from .writing import moved_of

CAUSE: Final = ReasonCode.RECEIPT.value
QUARANTINE: Final = "quarantine"
_WITHIN: Final = reach("id", below=True)


class Landing(NamedTuple):
    """An active location of the buyer in the actor's reach, and what it is as a stock place.

    `is_named` says that the request names it; the others are places of quarantine beside the one where goods are received.
    """

    location_id: UUID
    is_named: bool
    tracks: bool
    sellable: bool
    min_c: Decimal | None
    max_c: Decimal | None


_LANDINGS = Statement.of(
    "SELECT l.id AS location_id, l.id = ANY($2::uuid[]) AS is_named, coalesce(s.tracks_stock, false) AS tracks,"
    " coalesce(s.sellable, true) AS sellable, s.min_c, s.max_c FROM organizations_location l"
    " LEFT JOIN suppliers_stockplace s ON s.tenant_id = l.tenant_id AND s.location_id = l.id AND s.tenant_id = $1"
    " WHERE l.tenant_id = $1 AND l.status = 'active' AND (l.id = ANY($2::uuid[]) OR l.type = 'quarantine'"
    " AND s.tracks_stock AND NOT s.sellable AND (l.parent_id = $3 OR l.parent_id = (SELECT h.parent_id"
    " FROM organizations_location h WHERE h.tenant_id = $1 AND h.id = $3)))"
    f" AND {_WITHIN.over('l').sql.replace(TENANT, '$1')} ORDER BY l.id",
    row=Landing,
)


class Held(NamedTuple):
    """A product that the buyer holds already, as `Product` has it, and what of its snapshot is renewed."""

    id: UUID
    owner_id: UUID
    supplier_sku: str
    category: str
    tracking: str
    expiry_required: bool
    min_c: Decimal | None
    max_c: Decimal | None
    item: Any

    def product(self) -> Product:
        """Return the product alone."""
        return Product(*self[:-1])


_HELD = Statement.of(
    f"SELECT {ITEM_COLUMNS}, {HELD} AS item FROM suppliers_stockitem i"
    " WHERE i.tenant_id = $1 AND i.own_product_id IS NULL AND i.id = ANY($2::uuid[])",
    row=Held,
)


class Packed(NamedTuple):
    """A product that has a packaging with a GTIN."""

    product_id: UUID
    gtin: str


# In whatever state: goods were packed before their packaging was replaced.
_PACKED = Statement.of(
    "SELECT DISTINCT k.product_id, k.gtin FROM suppliers_packaging k"
    " WHERE k.tenant_id = $1 AND k.product_id = ANY($2::uuid[]) AND k.gtin = ANY($3::text[])",
    row=Packed,
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """Goods of one line of a receipt that come to one place, in base units; `line` is its number in the body."""

    line: int
    product_id: UUID
    location_id: UUID
    quantity: int
    lot_number: str = ""
    expiry: date | None = None
    serials: Sequence[str] = ()
    is_set_apart: bool = False


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was found of the goods of a delivery, and where they may lie; `packed` are products with GTINs that were asked for."""

    goods: Goods
    landings: Mapping[UUID, Landing]
    quarantine: Landing | None
    packed: frozenset[tuple[UUID, str]] = frozenset()

    def place(self, location_id: UUID) -> Landing | None:
        """Return a place that the request names; None where there is none in the actor's reach."""
        found = self.landings.get(location_id)
        return found if found and found.is_named else None

    def product(self, product_id: UUID | None) -> Product | None:
        """Return a product; None for goods in words, and for what nobody knows any more."""
        return None if product_id is None else self.goods.products.get(product_id)


def landings_call(actor: Actor, places: Collection[UUID], home: UUID) -> Call:
    """Return the statement that reads the places that a receipt names, and those of quarantine near `home`, as `Landing`."""
    return Call(_LANDINGS, [str(actor.tenant_id), array_literal(places), str(home)])


def delivered_goods_calls(
    actor: Actor,
    supplier_id: UUID,
    products: Collection[UUID],
    lots: Collection[str],
    places: Collection[UUID],
    home: UUID,
    gtins: Collection[str] = (),
) -> list[Call]:
    """Return the statements that read what is delivered and where it may lie; `home` is where it is received.

    They bind the supplier, and the buyer again. `gtins` are what was scanned. See `delivered_goods`.
    """
    own = str(actor.tenant_id)
    return [
        landings_call(actor, places, home),
        Call(_HELD, [own, array_literal(products)]),
        bind_call(supplier_id),
        *delivered_calls(supplier_id, products, lots),
        *([Call(_PACKED, [str(supplier_id), array_literal(products), array_literal(gtins)])] if gtins else []),
        bind_call(actor.tenant_id),
    ]


def delivered_goods(found: Sequence[Rows]) -> Delivered:
    """Return what the statements of `delivered_goods_calls` have read."""
    landings = found[0].of(Landing)
    places = {one.location_id: Place(one.location_id, one.sellable, one.min_c, one.max_c) for one in landings}
    held = {one.id: one for one in found[1].of(Held)}
    items = [item_of(one) for one in found[3].of(Offered)]
    origins = {(one.product_id, one.lot_number): one for one in found[4].of(Origin)}
    known = {key: one.product() for key, one in held.items()}
    goods = joined_goods(Goods(known, {}, {}, places), items, origins)
    goods = replace(goods, items=[one for one in items if not _is_held(one, held.get(UUID(one["id"])))])
    apart = next((one for one in landings if not one.is_named), None)
    packed = frozenset((one.product_id, one.gtin) for rows in found[5:-1] for one in rows.of(Packed))
    return Delivered(goods, {one.location_id: one for one in landings}, apart, packed)


def _is_held(item: Mapping[str, Any], held: Held | None) -> bool:
    """Tell whether the buyer holds a product as it is now, so that its item need not be written."""
    return held is not None and is_same(item, held.item)


def refuse_recalled(delivered: Delivered, lines: Sequence[tuple[int, UUID, str]]) -> None:
    """Refuse goods of lots that their supplier has recalled; `lines` have number, product and lot.

    :raises LotRecalled: names each line.
    """
    errors = [
        FieldError(f"lines.{number}.lot_number", LotRecalled.code, "The lot is recalled: reject its goods.")
        for number, product, lot in lines
        if (origin := delivered.goods.origins.get((product, lot))) and origin.status == LotStatus.RECALLED
    ]
    if errors:
        raise LotRecalled(errors=errors)


@dataclass(slots=True)
class Landed:
    """Goods that have come to their places, in memory: what is to be written, and what to be told."""

    shelves: Shelves
    calls: list[Call]
    facts: list[Occurrence]
    kept: dict[int, list[dict[str, Any]]]
    counts: list[Call]


@needs_transaction
def land(
    actor: Actor,
    delivered: Delivered,
    arrivals: Sequence[Arrival],
    receipt_id: UUID,
    at: datetime,
    ahead: Sequence[Call] = (),
) -> Landed:
    """Put goods on their places; the buyer is bound. `ahead` are statements that go before the locks of the places.

    :raises InvalidFields: a lot, an expiry date or serial numbers are missing.
    :raises LotConflict, LotRecalled, StorageMismatch, WrongSerial: as named, by line.
    """
    _check(delivered, arrivals)
    spots = [_spot(delivered, one) for one in arrivals]
    numbered = [
        (one, spot) for one, spot in zip(arrivals, spots, strict=True) if spot.product.tracking in SERIAL_TRACKING
    ]
    named = [(one.product_id, number) for one, _ in numbered for number in one.serials]
    behind = [lock_serials_call(actor.tenant_id, named)] if named else []
    shelves = open_shelves(actor, spots, at, delivered.goods.items, behind, ahead)
    suited = [
        (one.line, spot.product, one.location_id)
        for one, spot in zip(arrivals, spots, strict=True)
        if not one.is_set_apart
    ]
    check_storage(delivered.goods, suited)
    check_lots(shelves, spots, range(len(spots)), [one.line for one in arrivals])
    kept, facts = _moved(shelves, arrivals, spots)
    units = [Units(one.line, spot.product, one.serials, target=shelves.spots[spot.key]) for one, spot in numbered]
    serials = moved_serials(actor.tenant_id, units, shelves.behind[0], at) if named else []
    moved, news = changed(actor.tenant_id, shelves.levels.values(), at, by="buyer")
    written = [*moved, *serials, *shelves.movement_calls(actor, at, reference_of(receipt_id))]
    return Landed(shelves, written, [*facts, *news], kept, shelves.count_calls(actor, at))


def _moved(
    shelves: Shelves, arrivals: Sequence[Arrival], spots: Sequence[Spot]
) -> tuple[dict[int, list[dict[str, Any]]], list[Occurrence]]:
    """Raise the levels; return what each line keeps of its movements, and what is told of them."""
    kept, facts = dict[int, list[dict[str, Any]]](), list[Occurrence]()
    for one, spot in zip(arrivals, spots, strict=True):
        key = str(uuid7())
        level = shelves.move(spot, one.quantity, id=key, type=MovementType.RECEIPT.value, reason_code=CAUSE)
        serials = [*one.serials] if spot.product.tracking in SERIAL_TRACKING else []
        movement = {"level_id": str(level.row.id), "movement_id": key, "quantity": one.quantity, "serials": serials}
        kept.setdefault(one.line, []).append(movement)
        facts.append(Occurrence(StockAdjusted(**moved_of(spot, level, one.quantity, CAUSE, "buyer")), level.row.id))
    return kept, facts


def reference_of(receipt_id: UUID) -> dict[str, str]:
    """Return what the movements of a receipt belong to."""
    return {"reference_type": "receipt", "reference_id": str(receipt_id), "reference_text": ""}


def _spot(delivered: Delivered, one: Arrival) -> Spot:
    product = delivered.goods.products[one.product_id]
    lot = one.lot_number if product.tracking in LOT_TRACKING else ""
    origin = delivered.goods.origins.get((product.id, lot)) if lot else None
    return Spot(product, one.location_id, lot, one.expiry if lot else None, None, origin)


def _check(delivered: Delivered, arrivals: Sequence[Arrival]) -> None:
    """Require what the product's tracking needs.

    :raises InvalidFields: names each line.
    """
    errors = []
    for one in arrivals:
        tracking = delivered.goods.products[one.product_id].tracking
        if tracking in LOT_TRACKING and not one.lot_number:
            errors.append(FieldError(f"lines.{one.line}.lot_number", "required", "The product has lots: name one."))
        if tracking in SERIAL_TRACKING and len(one.serials) != one.quantity:
            message = f"{one.quantity} units have as many serial numbers: name those that are accepted."
            errors.append(FieldError(f"lines.{one.line}.serial_numbers", "count_mismatch", message))
    if errors:
        raise InvalidFields(errors=list(dict.fromkeys(errors)))
