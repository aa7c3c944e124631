"""Making reservations, all or nothing. Source: contract, supply-shelf.md "Availability and reservations of the buyer"."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError
from core.pipeline import Call, ReadBack
from ledger.public import Occurrence
from organizations import public as organizations
from suppliers.catalog import availability
from suppliers.inventory import fefo
from suppliers.inventory.events import ReservationCreated
from suppliers.inventory.fefo import Demand, Take
from suppliers.inventory.levels import Level, changed
from suppliers.inventory.models import Reservation
from suppliers.inventory.refusals import InsufficientStock, ReservationLimit
from suppliers.inventory.states import ReservationKind, Unit

from . import changes
from .holding import allocate_call
from .reclaiming import take_lapsed

BY = "buyer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a request, as the shop window has resolved it.

    `shown` writes a number of packs as the buyer may be told of it.
    """

    product_id: UUID
    packaging_id: UUID
    offer_id: UUID | None
    unit: str
    units_per_pack: int
    base_quantity: int
    days: int
    shown: Callable[[int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a buyer asks of one supplier; `cap_percent` is its greatest share of what is free."""

    supplier_id: UUID
    lines: Sequence[Line]
    needed_date: date | None
    ttl: timedelta
    cap_percent: int
    group_id: UUID


@needs_transaction
def reserve(
    actor: Actor, request: Request, levels: Mapping[UUID, Level], at: datetime, reading: ReadBack | None = None
) -> list[Reservation]:
    """Reserve every line, or nothing; `levels` are all of the products, locked, with what the buyer holds of them.

    :raises InsufficientStock: too little is free for a line; reservations whose time is over do not count.
    :raises ReservationLimit: the buyer would hold more than its share of a product.
    """
    supplier_id, products = request.supplier_id, sorted({line.product_id for line in request.lines})
    too_much = _over_share(request, levels, at)
    takes = _taken(request, levels, at)
    calls: list[Call] = []
    told: Mapping[UUID, Sequence[Occurrence]] = {}
    lapsed: list[Reservation] = []
    if takes is None:
        lapsed = take_lapsed(supplier_id, products, levels, at)
        calls, told = changes.expire(lapsed, at)
        takes = _taken(request, levels, at)
    if takes is None:
        raise _insufficient(request, levels, at)
    if too_much:
        raise ReservationLimit(errors=too_much)
    made = [_made(actor, request, number, line, takes[number], at) for number, line in enumerate(request.lines)]
    moved, news = changed(supplier_id, levels.values(), at, by=BY)
    calls += [*moved, *map(rows.insert, made), allocate_call(made, takes, at)]
    calls += availability.refresh_calls(supplier_id, products, at)
    told = changes.joined({supplier_id: news}, told, changes.told_of(ReservationCreated, made, BY))
    documents = changes.touched([*made, *lapsed])
    organizations.write_documents(actor, supplier_id, documents, calls, told=told, at=at, reading=reading)
    return made


def _demands(request: Request) -> list[Demand]:
    return [Demand(line.product_id, line.base_quantity, request.needed_date, line.days) for line in request.lines]


def _taken(request: Request, levels: Mapping[UUID, Level], at: datetime) -> list[list[Take]] | None:
    """Reserve all lines on the levels in memory; None, with nothing reserved, where one is short."""
    before = {key: level.reserved for key, level in levels.items()}
    found: list[list[Take]] = []
    for demand in _demands(request):
        taken = fefo.take([*levels.values()], demand, at)
        if taken is None:
            for key, level in levels.items():
                level.reserved = before[key]
            return None
        found.append(taken)
    return found


def _over_share(request: Request, levels: Mapping[UUID, Level], at: datetime) -> list[FieldError]:
    """Return an error for each line of a product of which the buyer would softly hold more than its share."""
    asked: dict[UUID, int] = defaultdict(int)
    packs: dict[UUID, int] = defaultdict(int)
    for line in request.lines:
        asked[line.product_id] += line.base_quantity
        packs[line.product_id] = max(packs[line.product_id], line.units_per_pack)
    over = set()
    for product_id, quantity in asked.items():
        of_product = [level for level in levels.values() if level.row.product_id == product_id]
        base = sum(level.sellable(request.needed_date, 0, at) + level.living for level in of_product)
        share = max(packs[product_id], request.cap_percent * base // 100)
        if sum(level.own for level in of_product) + quantity > share:
            over.add(product_id)
    return [
        FieldError(f"items.{number}.quantity", ReservationLimit.code, "More than your share of the stock.")
        for number, line in enumerate(request.lines)
        if line.product_id in over
    ]


def _insufficient(request: Request, levels: Mapping[UUID, Level], at: datetime) -> InsufficientStock:
    """Name each line that is short, with what is available as the offer tells it."""
    errors = []
    for number, (line, demand) in enumerate(zip(request.lines, _demands(request), strict=True)):
        taken = fefo.take([*levels.values()], demand, at)
        if taken is None:
            free = sum(level.free for level in fefo.candidates(levels.values(), demand, at))
            message = f"Available: {line.shown(free // line.units_per_pack)}."
            errors.append(FieldError(f"items.{number}.quantity", InsufficientStock.code, message))
    return InsufficientStock(errors=errors)


def _made(actor: Actor, request: Request, number: int, line: Line, taken: Sequence[Take], at: datetime) -> Reservation:
    places = {one.level.row.location_id for one in taken}
    return Reservation(
        tenant_id=request.supplier_id,
        group_id=request.group_id,
        line_no=number + 1,
        buyer_tenant_id=actor.tenant_id,
        product_id=line.product_id,
        packaging_id=line.packaging_id,
        location_id=places.pop() if len(places) == 1 else None,
        offer_id=line.offer_id,
        unit=Unit(line.unit).value,
        units_per_pack=line.units_per_pack,
        base_quantity=line.base_quantity,
        needed_date=request.needed_date,
        remaining_days=line.days,
        kind=ReservationKind.SOFT.value,
        expires_at=at + request.ttl,
        created_at=at,
        updated_at=at,
    )
