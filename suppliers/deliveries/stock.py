"""What a shipment needs to know of its supplier: goods, places, levels with what the order holds of them, serial numbers.

All is read bound to the supplier, behind the lock of the order. Lock order: levels, serials, reservations (supply.md 5).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement
from core.trees import Tree
from suppliers.catalog.states import LOT_TRACKING, SERIAL_TRACKING
from suppliers.inventory.fefo import least_days
from suppliers.inventory.levels import Level, levels_of_products, read_levels
from suppliers.inventory.models import Allocation, Reservation
from suppliers.inventory.movements.serials import Named, SerialRow, lock_serials_call, serials_of
from suppliers.inventory.reservations import changes
from suppliers.orders.allocating import lines_held_call
from suppliers.orders.models import PurchaseOrderLine

SERVICE: Final = "service"
_COLD: Final = 8  # at most so many degrees: a cold chain
_DEEPEST: Final = 64


class Goods(NamedTuple):
    """A product as a shipment needs it; `gtins` are those of its packagings.

    `days` is how long it must last, `offers` by their ids how long as the offers of lines say that say it.
    """

    id: UUID
    kind: str
    tracking: str
    days: int
    is_cold: bool
    gtins: Any
    offers: Any

    @property
    def has_lots(self) -> bool:
        """Tell whether its stock is kept by lots."""
        return self.tracking in LOT_TRACKING

    @property
    def has_serials(self) -> bool:
        """Tell whether each unit has a number."""
        return self.tracking in SERIAL_TRACKING

    @property
    def is_service(self) -> bool:
        """Tell whether nothing of it lies in stock."""
        return self.kind == SERVICE

    def days_of(self, line: PurchaseOrderLine, asked: int | None) -> int:
        """Return how many days the goods of a line must last; `asked` is what its order says."""
        return least_days(asked, line.agreed_days, self.offers.get(str(line.offer_id)), self.days)


_GOODS = Statement.of(
    "SELECT p.id, p.kind, p.tracking, coalesce(p.min_remaining_shelf_life_days, 0) AS days,"
    f" coalesce(p.storage_max_c <= {_COLD}, false) AS is_cold,"
    " (SELECT coalesce(json_agg(k.gtin), '[]') FROM suppliers_packaging k"
    " WHERE k.tenant_id = $1 AND k.product_id = p.id AND k.gtin <> '') AS gtins,"
    " (SELECT coalesce(json_object_agg(o.id, o.min_remaining_shelf_life_days), '{}') FROM suppliers_offer o"
    " WHERE o.tenant_id = $1 AND o.product_id = p.id AND o.id = ANY($3::uuid[]) AND o.min_remaining_shelf_life_days IS NOT NULL)"
    " AS offers"
    " FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])",
    row=Goods,
)
_PLACES = Statement.of(
    "SELECT w.id::text FROM {} w".format(
        Tree("organizations_location", most=_DEEPEST, scope="n.tenant_id = $1").within("n.id = $2::uuid")
    )
)
_HELD_COLUMNS: Final = ", ".join(f'a."{one.column}"' for one in Allocation._meta.concrete_fields)
_HELD = Statement.of(
    f"SELECT {_HELD_COLUMNS} FROM suppliers_allocation a WHERE a.tenant_id = $1 AND a.status = 'active'"
    " AND a.reservation_id IN (SELECT r.id FROM suppliers_reservation r WHERE r.tenant_id = $1"
    " AND r.purchase_order_line_id = ANY($2::uuid[]) AND r.status = 'active')"
)


def goods_call(supplier_id: UUID, lines: Collection[PurchaseOrderLine]) -> Call:
    """Return the statement that reads the products of lines; `goods_of` reads its rows."""
    offers = {one.offer_id for one in lines if one.offer_id}
    return Call(_GOODS, [str(supplier_id), array_literal(products_of(lines)), array_literal(offers)])


def goods_of(found: Rows) -> dict[UUID, Goods]:
    """Return the products that `goods_call` has read, by their ids."""
    return {one.id: one for one in found.of(Goods)}


def products_of(lines: Iterable[PurchaseOrderLine]) -> list[UUID]:
    """Return the products of lines, each once, in the order of their ids."""
    return sorted({one.product_id for one in lines if one.product_id})


def places_call(supplier_id: UUID, location_id: UUID) -> Call:
    """Return the statement that reads the ids of a place and of those below it; none where it is no place of the supplier."""
    return Call(_PLACES, [str(supplier_id), str(location_id)])


def places_of(found: Rows) -> frozenset[UUID]:
    """Return the places that `places_call` has read."""
    return frozenset(UUID((found.value(number) or b"").decode()) for number in range(len(found)))


@dataclass(slots=True)
class Stock:
    """The locked levels of some products, what the order holds of them, and serial numbers.

    `left` is what of each allocation is not used yet. All are found by keys: an order has up to 500 lines, a product any
    number of lots.
    """

    levels: dict[UUID, Level]
    reservations: dict[UUID, Reservation]
    held: list[Allocation]
    serials: Mapping[Named, SerialRow]
    places: frozenset[UUID]
    left: dict[UUID, int] = field(init=False)
    _here: dict[UUID, list[Level]] = field(init=False)
    _lots: dict[tuple[UUID, str], list[Level]] = field(init=False)
    _sums: dict[UUID, int] = field(init=False)
    _at: dict[UUID, dict[UUID, Allocation]] = field(init=False)
    _for: dict[tuple[UUID, UUID | None], dict[UUID, Allocation]] = field(init=False)
    _mine: dict[tuple[UUID, UUID | None], list[Allocation]] = field(init=False)

    def __post_init__(self) -> None:
        self.left = {one.id: one.base_quantity for one in self.held}
        self._here, self._lots, self._sums, self._at, self._for, self._mine = {}, {}, {}, {}, {}, {}
        for level in self.levels.values():
            if level.row.location_id in self.places:
                self._here.setdefault(level.row.product_id, []).append(level)
                self._lots.setdefault((level.row.product_id, level.row.lot_number or ""), []).append(level)
        for one in sorted(self.held, key=lambda one: one.id):
            key, line = one.level_id, self.line_of(one)
            self._sums[key] = self._sums.get(key, 0) + one.base_quantity
            self._at.setdefault(key, {})[one.id] = one
            self._for.setdefault((self.levels[key].row.product_id, line), {})[one.id] = one
            self._mine.setdefault((key, line), []).append(one)

    def line_of(self, one: Allocation) -> UUID | None:
        """Return the line that an allocation is for."""
        return self.reservations[one.reservation_id].purchase_order_line_id

    def held_at(self, level_id: UUID) -> int:
        """Return how much the order still holds at a level, for whichever line."""
        return self._sums.get(level_id, 0)

    def mine(self, level_id: UUID, line_id: UUID) -> Sequence[Allocation]:
        """Return what is held at a level for a line."""
        return self._mine.get((level_id, line_id), ())

    def others(self, level_id: UUID, line_id: UUID) -> Iterator[Allocation]:
        """Yield what is still held at a level for other lines of the order."""
        return (one for one in self._at.get(level_id, {}).values() if self.line_of(one) != line_id)

    def held_for(self, product_id: UUID, line_id: UUID) -> Collection[Allocation]:
        """Return what is still held of a product for a line, wherever it lies."""
        return self._for.get((product_id, line_id), {}).values()

    def let_go(self, held: Iterable[Allocation], quantity: int) -> int:
        """Take so much off allocations and their levels, or all that they have; return how much it was."""
        rest, used_up = quantity, list[Allocation]()
        for one in held:
            used = min(rest, self.left[one.id])
            self.left[one.id] -= used
            self._sums[one.level_id] -= used
            self.levels[one.level_id].reserved -= used
            rest -= used
            if not self.left[one.id]:
                used_up.append(one)
            if not rest:
                break
        for one in used_up:
            self._at[one.level_id].pop(one.id, None)
            self._for[self.levels[one.level_id].row.product_id, self.line_of(one)].pop(one.id, None)
        return quantity - rest

    def here(self, product_id: UUID) -> Sequence[Level]:
        """Return the levels of a product at the places that the goods leave from."""
        return self._here.get(product_id, ())

    def lot_here(self, product_id: UUID, lot_number: str) -> Sequence[Level]:
        """Return the levels of a lot, or of goods without one, at the places that the goods leave from."""
        return self._lots.get((product_id, lot_number), ())

    def level_here(self, level_id: UUID | None) -> Level | None:
        """Return a level by its id; None where there is none at the places that the goods leave from."""
        level = self.levels.get(level_id) if level_id else None
        return level if level and level.row.location_id in self.places else None


def stock_calls(
    supplier_id: UUID, lines: Sequence[PurchaseOrderLine], numbers: Sequence[Named], at: datetime
) -> list[Call]:
    """Return the statements that lock and read the stock of lines of an order; `stock_of` reads their rows."""
    keys = [one.id for one in lines]
    return [
        *levels_of_products(supplier_id, products_of(lines), at),
        *([lock_serials_call(supplier_id, numbers)] if numbers else []),
        lines_held_call(supplier_id, keys),
        Call(_HELD, [str(supplier_id), array_literal(keys)]),
    ]


def stock_of(found: Sequence[Rows], places: frozenset[UUID]) -> Stock:
    """Return what `stock_calls` has read."""
    _, levels, promised, *numbered, reservations, held = found
    return Stock(
        read_levels(levels, promised),
        {one.id: one for one in changes.reservations_of(reservations)},
        changes.held_of(held),
        {key: row for one in numbered for key, row in serials_of(one).items()},
        places,
    )
