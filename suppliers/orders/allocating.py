"""Stock for the lines of an order: what the order holds already first, then by FEFO, as hard reservations of its supplier.

Whoever allocates has locked the order, and sends `stock_calls` behind that lock. Quantities are in base units. A service, or
what an offer makes to order, needs no stock. Source: contract, supply-order.md 2 "The supplier's answer"; supply-shelf.md 4.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import FieldError
from core.pipeline import Call, Rows, Statement
from core.rows import insert_all
from ledger.public import Occurrence
from suppliers.catalog import availability
from suppliers.inventory import fefo
from suppliers.inventory.fefo import Demand, Take
from suppliers.inventory.levels import Level, changed, levels_of_products, read_levels
from suppliers.inventory.models import Reservation
from suppliers.inventory.refusals import InsufficientStock
from suppliers.inventory.reservations import changes
from suppliers.inventory.reservations.holding import allocate_call
from suppliers.inventory.reservations.reclaiming import take_lapsed
from suppliers.inventory.states import ReservationKind, Unit
from suppliers.marketplace.display import shown
from suppliers.marketplace.states import StockDisplay, StockPolicy

from .models import PurchaseOrder, PurchaseOrderLine
from .progress import counted

_COLUMNS: Final = ", ".join(f'"{one.column}"' for one in Reservation._meta.concrete_fields)
_OF_LINES = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_reservation WHERE tenant_id = $1 AND purchase_order_line_id = ANY($2::uuid[])"
    " AND status = 'active' ORDER BY id FOR UPDATE"
)


class _Goods(NamedTuple):
    """A product as its stock is asked for; `days` is how long it must last."""

    id: UUID
    is_service: bool
    days: int | None


_GOODS = Statement.of(
    "SELECT p.id, p.kind = 'service' AS is_service, p.min_remaining_shelf_life_days AS days FROM suppliers_product p"
    " WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])",
    row=_Goods,
)


class _Terms(NamedTuple):
    """How an offer promises stock, and tells of it; `days` is how long its goods must last."""

    id: UUID
    stock_policy: str
    stock_display: str
    cap: int | None
    days: int | None


_OFFERS = Statement.of(
    "SELECT o.id, o.stock_policy, o.stock_display, o.cap, o.min_remaining_shelf_life_days AS days FROM suppliers_offer o"
    " WHERE o.tenant_id = $1 AND o.id = ANY($2::uuid[])",
    row=_Terms,
)


@dataclass(slots=True)
class Stock:
    """The locked levels of the products of some lines, what each line holds, the products, and the offers."""

    levels: dict[UUID, Level]
    held: dict[UUID, int]
    goods: dict[UUID, _Goods]
    offers: dict[UUID, _Terms]

    def needs_none(self, line: PurchaseOrderLine) -> bool:
        """Tell whether the goods of a line are not kept in stock."""
        offer = self.offers.get(line.offer_id) if line.offer_id else None
        is_made = offer is not None and offer.stock_policy == StockPolicy.MADE_TO_ORDER
        return line.product_id is None or self.goods[line.product_id].is_service or is_made

    def days_of(self, row: PurchaseOrder, line: PurchaseOrderLine) -> int:
        """Return how many days the goods of a line must last."""
        offer = self.offers.get(line.offer_id) if line.offer_id else None
        product = self.goods[line.product_id] if line.product_id else None
        return fefo.least_days(
            row.min_remaining_shelf_life_days,
            line.agreed_days,
            offer.days if offer else None,
            product.days if product else None,
        )

    def of(self, line: PurchaseOrderLine) -> int:
        """Return what a line holds."""
        return self.of_id(line.id)

    def of_id(self, line_id: UUID) -> int:
        """Return what the line with an id holds."""
        return self.held.get(line_id, 0)

    def told(self, line: PurchaseOrderLine) -> str:
        """Write what there is for a line as its offer tells buyers, in packs."""
        offer = self.offers.get(line.offer_id) if line.offer_id else None
        display, cap = (offer.stock_display, offer.cap) if offer else (StockDisplay.HIDDEN, None)
        return shown(self.of(line) // line.units_per_pack, display=display, cap=cap)


@dataclass(slots=True)
class Allocated:
    """What was allocated: what is written in the supplier's rows, which reservations that touches, and what is told."""

    calls: list[Call] = field(default_factory=list)
    rows: list[Reservation] = field(default_factory=list)
    told: dict[UUID, list[Occurrence]] = field(default_factory=dict)


def lines_held_call(supplier_id: UUID, lines: Iterable[UUID]) -> Call:
    """Return the statement that locks what lines hold, levels being locked before; bound to the supplier."""
    return Call(_OF_LINES, [str(supplier_id), array_literal(lines)])


def stock_calls(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], at: datetime) -> list[Call]:
    """Return the statements that lock and read the stock for some lines, bound to the supplier; `stock_of` reads their rows."""
    own, products = row.supplier_tenant_id, sorted({one.product_id for one in lines if one.product_id})
    offers = sorted({one.offer_id for one in lines if one.offer_id})
    return [
        *levels_of_products(own, products, at),
        lines_held_call(own, [one.id for one in lines]),
        Call(_GOODS, [str(own), array_literal(products)]),
        Call(_OFFERS, [str(own), array_literal(offers)]),
    ]


def stock_of(found: Sequence[Rows]) -> Stock:
    """Return what `stock_calls` has read."""
    _, levels, promised, held, goods, offers = found
    of_lines: dict[UUID, int] = defaultdict(int)
    for one in changes.reservations_of(held):
        assert one.purchase_order_line_id is not None
        of_lines[one.purchase_order_line_id] += one.base_quantity
    known, terms = {one.id: one for one in goods.of(_Goods)}, {one.id: one for one in offers.of(_Terms)}
    return Stock(read_levels(levels, promised), of_lines, known, terms)


def missing(lines: Sequence[PurchaseOrderLine], stock: Stock) -> dict[UUID, int]:
    """Return by the ids of lines what they do not hold yet of the stock that they need."""
    return {one.id: counted(one) - stock.of(one) for one in lines if not stock.needs_none(one)}


def refuse_short(
    lines: Sequence[PurchaseOrderLine],
    stock: Stock,
    *,
    needed: Mapping[UUID, int] | None = None,
    as_told: bool = False,
) -> None:
    """Require that the lines hold all that they need: by their ids, or all that is not cancelled; `as_told`: a buyer reads it.

    :raises InsufficientStock: names each line with what there is for it.
    """
    errors = []
    for number, line in enumerate(lines):
        wanted = counted(line) if needed is None else needed[line.id]
        if stock.needs_none(line) or stock.of(line) >= wanted:
            continue
        message = f"Available: {stock.told(line) if as_told else stock.of(line)}."
        more = {} if as_told else {"available": stock.of(line)}
        errors.append(FieldError(f"lines.{number}", InsufficientStock.code, message, more))
    if errors:
        raise InsufficientStock(errors=errors)


class Wish(NamedTuple):
    """So many base units for a line of an order."""

    row: PurchaseOrder
    line: PurchaseOrderLine
    base_quantity: int


@needs_transaction
def allocate(
    row: PurchaseOrder,
    lines: Sequence[PurchaseOrderLine],
    stock: Stock,
    wanted: Mapping[UUID, int],
    at: datetime,
    *,
    by: str,
) -> Allocated:
    """Allocate of `wanted`, by the ids of an order's lines, what is free; see `allocate_all`."""
    wishes = [Wish(row, line, wanted[line.id]) for line in lines if wanted.get(line.id, 0) > 0]
    return allocate_all(row.supplier_tenant_id, wishes, stock, at, by=by)


@needs_transaction
def allocate_all(supplier_id: UUID, wishes: Sequence[Wish], stock: Stock, at: datetime, *, by: str) -> Allocated:
    """Allocate what is free to one line after the other; `stock` follows.

    Where that is too little, reservations whose time is over are ended, and it is looked again.
    """
    before = {key: level.reserved for key, level in stock.levels.items()}
    takes = _taken(wishes, stock, at)
    lapsed: list[Reservation] = []
    if any(sum(one.base_quantity for one in taken) < wish.base_quantity for wish, taken in takes):
        for key, level in stock.levels.items():
            level.reserved = before[key]
        products = sorted({wish.line.product_id for wish in wishes if wish.line.product_id})
        lapsed = take_lapsed(supplier_id, products, stock.levels, at)
        takes = _taken(wishes, stock, at)
    ended, told = changes.expire(lapsed, at)
    made = [
        (_reservation(wish, taken, stock.days_of(wish.row, wish.line), at), taken) for wish, taken in takes if taken
    ]
    for one, _ in made:
        assert one.purchase_order_line_id is not None
        stock.held[one.purchase_order_line_id] = stock.of_id(one.purchase_order_line_id) + one.base_quantity
    moved, news = changed(supplier_id, stock.levels.values(), at, by=by)
    calls = [*ended, *moved, *_inserts(made, at)]
    calls += availability.refresh_calls(supplier_id, _products([*lapsed, *(one for one, _ in made)]), at)
    return Allocated(calls, [*(one for one, _ in made), *lapsed], changes.joined({supplier_id: news}, told))


def _taken(wishes: Sequence[Wish], stock: Stock, at: datetime) -> list[tuple[Wish, list[Take]]]:
    found = []
    for wish in wishes:
        row, line = wish.row, wish.line
        assert line.product_id is not None
        demand = Demand(line.product_id, wish.base_quantity, _needed(row, line, at), stock.days_of(row, line))
        found.append((wish, fefo.take_some(stock.levels.values(), demand, at)))
    return found


def _needed(row: PurchaseOrder, line: PurchaseOrderLine, at: datetime) -> date | None:
    """Return the day for which the goods of a line are asked; None, which is today, where it is past or not said."""
    asked = line.requested_date or row.requested_delivery_date
    return asked if asked is not None and asked > at.date() else None


def _products(made: Iterable[Reservation]) -> Collection[UUID]:
    return {one.product_id for one in made}


def _reservation(wish: Wish, taken: Sequence[Take], days: int, at: datetime) -> Reservation:
    row, line = wish.row, wish.line
    places, quantity = {one.level.row.location_id for one in taken}, sum(one.base_quantity for one in taken)
    assert line.product_id is not None
    assert line.packaging_id is not None
    is_whole = line.unit == Unit.PACK and quantity % line.units_per_pack == 0
    return Reservation(
        tenant_id=row.supplier_tenant_id,
        group_id=row.id,
        line_no=line.line_no,
        buyer_tenant_id=row.tenant_id,
        product_id=line.product_id,
        packaging_id=line.packaging_id,
        location_id=places.pop() if len(places) == 1 else None,
        offer_id=line.offer_id,
        unit=(Unit.PACK if is_whole else Unit.BASE).value,
        units_per_pack=line.units_per_pack,
        base_quantity=quantity,
        needed_date=_needed(row, line, at),
        remaining_days=days,
        kind=ReservationKind.HARD.value,
        purchase_order_line_id=line.id,
        created_at=at,
        updated_at=at,
    )


def _inserts(made: Sequence[tuple[Reservation, Sequence[Take]]], at: datetime) -> list[Call]:
    if not made:
        return []
    names = [one.attname for one in Reservation._meta.concrete_fields]
    values: list[dict[str, Any]] = [{name: getattr(row, name) for name in names} for row, _ in made]
    return [insert_all(Reservation, values), allocate_call([row for row, _ in made], [taken for _, taken in made], at)]
