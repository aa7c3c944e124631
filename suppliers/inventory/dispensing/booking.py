"""Dispensed lines taken from stock, and put back when the dispensation is reversed.

The relay calls `book_dispensing` behind the commit of each fact, at least once, whatever the order. A line is claimed by its
row before levels are locked, so that it is booked once, and not at all once it was reversed. Lock order: bookings, levels.
Source: contract, supply-shelf.md "Dispensing".
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from core import clock
from core.actor import Actor, Subject, SubjectKind
from core.arrays import array_literal
from core.db import needs_transaction, tenant_context
from core.ids import uuid7
from core.pipeline import Call, Statement, run
from core.watermark import begin_batch
from ledger.public import Event, Occurrence
from suppliers.catalog import availability
from suppliers.inventory.events import StockAdjusted
from suppliers.inventory.levels import Level, changed, levels_call, levels_of_products, read_levels
from suppliers.inventory.movements.goods import Product
from suppliers.inventory.movements.shelving import Shelves, Spot
from suppliers.inventory.movements.writing import finish, moved_of
from suppliers.inventory.reservations.breaking import NOTHING
from suppliers.inventory.states import BookingStatus, MovementType, UnbookedReason

from .matching import Found, Line, base_quantity, find_call, found_of, line_of, match

SUBSCRIBER: Final = "suppliers.book_dispensing"
DISPENSED: Final = ("prescription.dispensed", "prescription.partially_dispensed")
REVERSED: Final = "prescription.dispense_reversed"
_BY: Final = "system"
Listener = Callable[[UUID, UUID, datetime], None]
_listeners: list[Listener] = []


class Booking(NamedTuple):
    """A line that was taken from a level."""

    id: UUID
    level_id: UUID
    movement_id: UUID
    base_quantity: int


_TRACKS = Statement.of(
    "SELECT 1 FROM suppliers_stockplace s WHERE s.tenant_id = $1 AND s.location_id = $2 AND s.tracks_stock"
)
_CLAIM = Statement.of(
    "INSERT INTO suppliers_dispensebooking (id, tenant_id, created_at, updated_at, version, dispensation_id, location_id, system, code,"
    " lot_number, quantity, unit, status, reason) SELECT g.id, $1, $3, $3, 1, $4, $5, g.system, g.code, g.lot_number, g.quantity, g.unit,"
    " $6, g.reason FROM json_to_recordset($2) AS g (id uuid, system text, code text, lot_number text, quantity text, unit text,"
    " reason text) ORDER BY g.id ON CONFLICT DO NOTHING RETURNING id::text"
)
_SETTLE = Statement.of(
    "UPDATE suppliers_dispensebooking b SET status = g.status, reason = g.reason, level_id = g.level_id, movement_id = g.movement_id,"
    " base_quantity = g.base_quantity, version = b.version + 1, updated_at = $3 FROM json_to_recordset($2) AS g (id uuid, status text, reason text, level_id uuid,"
    " movement_id uuid, base_quantity bigint) WHERE b.tenant_id = $1 AND b.id = g.id RETURNING b.id::text"
)
_LOCK = Statement.of(
    "SELECT b.id::text FROM suppliers_dispensebooking b WHERE b.tenant_id = $1 AND b.dispensation_id = $2 ORDER BY b.id FOR UPDATE"
)
_BOOKED = Statement.of(
    "SELECT b.id, b.level_id, b.movement_id, b.base_quantity FROM suppliers_dispensebooking b"
    " WHERE b.tenant_id = $1 AND b.dispensation_id = $2 AND b.status = 'booked' ORDER BY b.id",
    row=Booking,
)
_IS_UNBOOKED = Statement.of(
    "SELECT 1 FROM suppliers_dispensebooking b WHERE b.tenant_id = $1 AND b.dispensation_id = $2 AND b.status = 'unbooked' LIMIT 1"
)
_REVERSE = Statement.of(
    "UPDATE suppliers_dispensebooking b SET status = 'reversed', version = b.version + 1, updated_at = $3"
    " WHERE b.tenant_id = $1 AND b.dispensation_id = $2 AND b.status <> 'reversed' RETURNING b.id::text"
)
_HELD = Statement.of(
    "SELECT i.id AS product_id, i.product_tenant_id AS owner_id, coalesce(p.supplier_sku, i.supplier_sku) AS supplier_sku,"
    " coalesce(p.category, i.category) AS category, coalesce(p.tracking, i.tracking) AS tracking,"
    " coalesce(p.base_unit, i.base_unit) AS base_unit, '[]'::json AS keys, NULL::uuid AS level_id, ''::text AS lot_number"
    " FROM suppliers_stockitem i"
    " LEFT JOIN suppliers_product p ON p.tenant_id = i.tenant_id AND p.id = i.own_product_id AND p.tenant_id = $1"
    " WHERE i.tenant_id = $1 AND i.id = ANY($2::uuid[])",
    row=Found,
)


def tell_unbooked(listener: Listener) -> None:
    """Register who is told that lines were not booked: with the tenant, the place and the instant, behind the commit."""
    _listeners.append(listener)


def book_dispensing(event: Event) -> None:
    """Take what a dispensation names from stock, or put back what was taken, where the place tracks stock.

    What cannot be booked is kept with the reason, and told to the listeners. Safe to run again.
    """
    figures = event.figures or {}
    if not (figures.get("dispensation_id") and figures.get("lines")):
        return
    work = Work(_actor_of(event), UUID(figures["dispensation_id"]), UUID(figures["pharmacy_location_id"]), clock.now())
    lines = [line_of(one) for one in figures["lines"]]
    with tenant_context(event.tenant_id):
        work = work._replace(at=begin_batch(event.tenant_id, work.at))
        if not len(run([Call(_TRACKS, [str(event.tenant_id), str(work.location_id)])])[0]):
            return
        if event.type == REVERSED:
            _put_back(work, lines)
            return
        _take(work, lines)
        is_short = len(run([Call(_IS_UNBOOKED, [work.tenant, str(work.dispensation_id)])])[0])
    for listener in _listeners if is_short else ():
        listener(event.tenant_id, work.location_id, work.at)


class Work(NamedTuple):
    """One dispensation, at a place, by whoever has dispensed or reversed it."""

    actor: Actor
    dispensation_id: UUID
    location_id: UUID
    at: datetime

    @property
    def tenant(self) -> str:
        """The tenant's id as a parameter."""
        return str(self.actor.tenant_id)

    @property
    def reference(self) -> dict[str, str]:
        """What its movements belong to."""
        return {"reference_type": "dispensation", "reference_id": str(self.dispensation_id), "reference_text": ""}


def _actor_of(event: Event) -> Actor:
    subject = Subject(event.subject_id, SubjectKind(event.subject_kind), event.credential)
    return Actor(subject, event.tenant_id, event.membership_id, request_id=event.request_id)


def _claim(work: Work, lines: Sequence[Line], status: BookingStatus, reason: str) -> set[UUID]:
    """Write the rows of lines that have none; return whose they are."""
    rows = [{**line._asdict(), "id": str(line.id), "reason": reason} for line in lines]
    about = str(work.dispensation_id), str(work.location_id)
    given: list[str | bytes | None] = [work.tenant, orjson.dumps(rows), work.at.isoformat(), *about]
    (made,) = run([Call(_CLAIM, [*given, status.value])])
    return {UUID((made.value(number) or b"").decode()) for number in range(len(made))}


@needs_transaction
def _take(work: Work, lines: Sequence[Line]) -> None:
    claimed = _claim(work, lines, BookingStatus.UNBOOKED, UnbookedReason.NO_PRODUCT.value)
    due = [line for line in lines if line.id in claimed]
    if not due:
        return
    (rows,) = run([find_call(work.actor.tenant_id, work.location_id, due)])
    found = found_of(rows)
    matched = {line.id: match(line, found) for line in due}
    goods = {one.product_id: one for one in matched.values() if isinstance(one, Found)}
    levels = _locked(work, goods)
    taken = Taken(work, levels, goods)
    settled = [_settled(line, taken.take(line, matched[line.id])) for line in due]
    taken.write([Call(_SETTLE, [work.tenant, orjson.dumps(settled), work.at.isoformat()])])


def _settled(line: Line, booking: Booking | UnbookedReason) -> dict[str, Any]:
    if isinstance(booking, Booking):
        taken = {"level_id": str(booking.level_id), "movement_id": str(booking.movement_id)}
        return {"id": str(line.id), "status": "booked", "reason": "", **taken, "base_quantity": booking.base_quantity}
    return {"id": str(line.id), "status": "unbooked", "reason": booking.value}


def _locked(work: Work, products: Mapping[UUID, Found]) -> dict[UUID, Level]:
    """Lock and read all levels of some products."""
    if not products:
        return {}
    _, found, promised = run(levels_of_products(work.actor.tenant_id, sorted(products), work.at))
    return read_levels(found, promised)


class Taken:
    """Levels in memory, and what is taken from them or put back."""

    def __init__(self, work: Work, levels: dict[UUID, Level], goods: Mapping[UUID, Found]) -> None:
        self.work, self.levels, self.goods = work, levels, goods
        self.shelves = Shelves(levels, {}, {})
        self.facts: list[Occurrence] = []

    def take(self, line: Line, found: Found | UnbookedReason) -> Booking | UnbookedReason:
        """Take a line from its level; return the booking, or why there is none."""
        if not isinstance(found, Found):
            return found
        quantity = base_quantity(line, found)
        level = self.levels.get(found.level_id or UUID(int=0))
        if isinstance(quantity, UnbookedReason):
            return quantity
        if level is None or level.free < quantity:
            return UnbookedReason.INSUFFICIENT_STOCK
        return Booking(line.id, level.row.id, self.move(level, -quantity), quantity)

    def move(self, level: Level, quantity: int, **more: Any) -> UUID:
        """Change what is on hand; return the id of the movement."""
        held, key = self.goods[level.row.product_id], uuid7()
        product = Product(
            held.product_id, held.owner_id, held.supplier_sku, held.category, held.tracking, False, None, None
        )
        spot = Spot(product, level.row.location_id, level.row.lot_number or "")
        self.shelves.spots[spot.key] = level
        self.shelves.move(spot, quantity, id=str(key), type=MovementType.DISPENSE.value, **more)
        told = moved_of(spot, level, quantity, MovementType.DISPENSE.value, _BY)
        self.facts.append(Occurrence(StockAdjusted(**told), level.row.id))
        return key

    def write(self, calls: Sequence[Call]) -> None:
        """Write levels, movements and facts, behind other statements."""
        actor, at = self.work.actor, self.work.at
        moved, news = changed(actor.tenant_id, self.levels.values(), at, by=_BY)
        touched = {level.row.product_id for level in self.levels.values() if any(level.moved)}
        own = {key for key in touched if self.goods[key].owner_id == actor.tenant_id}
        written = [*moved, *calls, *self.shelves.movement_calls(actor, at, self.work.reference)]
        written += availability.refresh_calls(actor.tenant_id, own, at)
        told = {actor.tenant_id: [*self.facts, *news]}
        finish(actor, written, told, NOTHING, at, self.shelves.count_calls(actor, at))


@needs_transaction
def _put_back(work: Work, lines: Sequence[Line]) -> None:
    _claim(work, lines, BookingStatus.REVERSED, "")  # what was not booked yet, never is
    given = [work.tenant, str(work.dispensation_id)]
    _, booked, _ = run([Call(_LOCK, given), Call(_BOOKED, given), Call(_REVERSE, [*given, work.at.isoformat()])])
    bookings: dict[UUID, list[Booking]] = defaultdict(list)
    for one in booked.of(Booking):
        bookings[one.level_id].append(one)
    if not bookings:
        return
    (where,) = run([levels_call(work.actor.tenant_id, sorted(bookings))])
    products = sorted({level.row.product_id for level in read_levels(where).values()})
    (held,) = run([Call(_HELD, [work.tenant, array_literal(products)])])
    goods = {one.product_id: one for one in held.of(Found)}
    taken = Taken(work, _locked(work, goods), goods)
    for key in sorted(bookings):
        for one in bookings[key]:
            taken.move(taken.levels[key], one.base_quantity, reversal_of=str(one.movement_id))
    taken.write([])
