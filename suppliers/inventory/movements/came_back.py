"""Goods that come back to their supplier: set apart where they arrive, and moved on once they were inspected.

The supplier is the actor, and bound. Source: contract, supply-invoice.md 4.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows, Statement
from ledger.public import Occurrence
from suppliers.catalog import availability
from suppliers.catalog.states import LOT_TRACKING, SERIAL_TRACKING
from suppliers.inventory.events import StockAdjusted
from suppliers.inventory.levels import changed
from suppliers.inventory.refusals import InsufficientStock, LotRecalled
from suppliers.inventory.states import MovementType, ReasonCode

from .delivered import Landing
from .goods import Goods, Place, Product, check_storage
from .serials import Units, lock_serials_call, moved_serials
from .shelving import Shelves, Spot, open_shelves
from .writing import moved_of

CAUSE = ReasonCode.RETURN.value
_BY = "supplier"
_PRODUCTS = Statement.of(
    "SELECT p.id, p.tenant_id AS owner_id, p.supplier_sku, p.category, p.tracking, p.expiry_required,"
    " p.storage_min_c AS min_c, p.storage_max_c AS max_c FROM suppliers_product p"
    " WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[]) AND p.kind <> 'service'",
    row=Product,
)


class Coming(NamedTuple):
    """Goods of one line that have come back, in base units."""

    line: int
    product_id: UUID
    quantity: int
    lot_number: str
    expiry: date | None
    serials: Sequence[str]


class Onward(NamedTuple):
    """Goods of one line that leave the place where they were set apart; to another one, or for good with no `target`.

    `type` and `reason` are those of the movement.
    """

    line: int
    product_id: UUID
    quantity: int
    lot_number: str
    serials: Sequence[str]
    target: UUID | None
    type: str
    reason: str


@dataclass(slots=True)
class Moved:
    """What is to be written of stock that has moved, in memory, what is told of it, and the counters that come last."""

    calls: list[Call] = field(default_factory=list)
    facts: list[Occurrence] = field(default_factory=list)
    counts: list[Call] = field(default_factory=list)


def own_products_call(tenant_id: UUID, products: Collection[UUID]) -> Call:
    """Return the statement that reads products of a tenant, archived ones too; `own_products` reads its rows."""
    return Call(_PRODUCTS, [str(tenant_id), array_literal(products)])


def own_products(found: Rows) -> dict[UUID, Product]:
    """Return the products that `own_products_call` has read."""
    return {one.id: one for one in found.of(Product)}


def place_of(landings: Sequence[Landing], name: str) -> Landing | None:
    """Return where goods are set apart: the place that is named, else one of quarantine near it. None: it keeps no stock.

    :raises InvalidFields: there is no such place in reach, or it is one for sale and has none of quarantine.
    """
    named = next((one for one in landings if one.is_named), None)
    if named is None:
        raise InvalidFields(errors=[FieldError(name, "unknown_location", "There is no such location.")])
    if not named.tracks:
        return None
    if not named.sellable:
        return named
    apart = next((one for one in landings if not one.is_named), None)
    if apart is None:
        message = "The place is for sale, and there is none of quarantine beside or below it."
        raise InvalidFields(errors=[FieldError(name, "no_quarantine", message)])
    return apart


@needs_transaction
def put_apart(
    actor: Actor,
    products: Mapping[UUID, Product],
    coming: Sequence[Coming],
    location_id: UUID,
    reference: Mapping[str, Any],
    at: datetime,
) -> Moved:
    """Put goods that have come back to a place where they are set apart.

    :raises WrongSerial: a unit is in stock already; names each line.
    """
    lines = [one for one in coming if one.product_id in products and one.quantity]
    if not lines:
        return Moved()
    spots = [_spot(products, one.product_id, location_id, one.lot_number, one.expiry) for one in lines]
    named = [(one, spot) for one, spot in zip(lines, spots, strict=True) if _numbered(spot.product, one.serials)]
    numbers = [(one.product_id, number) for one, _ in named for number in one.serials]
    shelves = open_shelves(actor, spots, at, behind=[lock_serials_call(actor.tenant_id, numbers)] if numbers else [])
    facts = []
    for one, spot in zip(lines, spots, strict=True):
        level = shelves.move(spot, one.quantity, type=MovementType.RETURN_IN.value, reason_code=CAUSE)
        facts.append(Occurrence(StockAdjusted(**moved_of(spot, level, one.quantity, CAUSE, _BY)), level.row.id))
    units = [Units(one.line, spot.product, one.serials, target=shelves.spots[spot.key]) for one, spot in named]
    serials = moved_serials(actor.tenant_id, units, shelves.behind[0], at) if numbers else []
    return _done(actor, shelves, serials, facts, reference, at)


@needs_transaction
def move_on(
    actor: Actor,
    products: Mapping[UUID, Product],
    places: Mapping[UUID, Place],
    onward: Sequence[Onward],
    location_id: UUID,
    reference: Mapping[str, Any],
    at: datetime,
) -> Moved:
    """Move goods on from the place where they were set apart.

    :raises InsufficientStock: less is there by now; names each line.
    :raises StorageMismatch, LotRecalled, WrongSerial: as named, by line.
    """
    lines = [one for one in onward if one.product_id in products and one.quantity]
    if not lines:
        return Moved()
    sources = [_spot(products, one.product_id, location_id, one.lot_number) for one in lines]
    targets = [_spot(products, one.product_id, one.target, one.lot_number) if one.target else None for one in lines]
    numbers = [(one.product_id, number) for one in lines for number in one.serials]
    spots = [*sources, *(one for one in targets if one)]
    behind = [lock_serials_call(actor.tenant_id, numbers)] if numbers else []
    shelves = open_shelves(actor, spots, at, behind=behind)
    _check(Goods({}, {}, {}, places), shelves, lines, sources, targets)
    facts, units = list[Occurrence](), list[Units]()
    for one, source, target in zip(lines, sources, targets, strict=True):
        for spot, quantity in ((source, -one.quantity), *([(target, one.quantity)] if target else [])):
            kind = MovementType.TRANSFER_IN.value if quantity > 0 else one.type
            level = shelves.move(spot, quantity, type=kind, reason_code=one.reason)
            facts.append(Occurrence(StockAdjusted(**moved_of(spot, level, quantity, CAUSE, _BY)), level.row.id))
        if _numbered(source.product, one.serials):
            at_end = shelves.spots[target.key] if target else None
            units.append(Units(one.line, source.product, one.serials, shelves.spots[source.key], at_end))
    serials = moved_serials(actor.tenant_id, units, shelves.behind[0], at) if numbers else []
    return _done(actor, shelves, serials, facts, reference, at)


def _check(
    goods: Goods, shelves: Shelves, lines: Sequence[Onward], sources: Sequence[Spot], targets: Sequence[Spot | None]
) -> None:
    """Require that the goods are there, and that they may lie where they go.

    :raises InsufficientStock, StorageMismatch, LotRecalled: as `move_on`.
    """
    left: dict[Any, int] = {}
    short, recalled = list[FieldError](), list[FieldError]()
    for one, source, target in zip(lines, sources, targets, strict=True):
        level = shelves.spots[source.key]
        rest = left.setdefault(source.key, level.free) - one.quantity
        left[source.key] = rest
        if rest < 0:
            message = "Less lies in quarantine."
            short.append(FieldError(f"lines.{one.line}.quantity", InsufficientStock.code, message))
        if target and level.row.is_recalled:
            recalled.append(FieldError(f"lines.{one.line}", LotRecalled.code, "The lot is recalled."))
    if short:
        raise InsufficientStock(errors=short)
    if recalled:
        raise LotRecalled(errors=recalled)
    arriving = [(one.line, spot.product, spot.location_id) for one, spot in zip(lines, targets, strict=True) if spot]
    check_storage(goods, arriving)


def _spot(
    products: Mapping[UUID, Product], product_id: UUID, location_id: UUID, lot: str, expiry: date | None = None
) -> Spot:
    product = products[product_id]
    return Spot(product, location_id, lot if product.tracking in LOT_TRACKING else "", expiry)


def _numbered(product: Product, serials: Sequence[str]) -> bool:
    return bool(serials) and product.tracking in SERIAL_TRACKING


def _done(
    actor: Actor,
    shelves: Shelves,
    serials: Sequence[Call],
    facts: Sequence[Occurrence],
    reference: Mapping[str, Any],
    at: datetime,
) -> Moved:
    own = actor.tenant_id
    moved, news = changed(own, shelves.levels.values(), at, by=_BY)
    products = sorted({UUID(one["product_id"]) for one in shelves.movements})
    calls = [
        *moved, *serials, *shelves.movement_calls(actor, at, reference),
        *availability.refresh_calls(own, products, at),
    ]  # fmt: skip
    return Moved(calls, [*facts, *news], shelves.count_calls(actor, at))
