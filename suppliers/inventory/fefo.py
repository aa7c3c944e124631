"""Which levels a quantity is taken from: what expires first goes first. Source: contract, supply-shelf.md "Availability"."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID

from .levels import Level

_NEVER = "9999-12-31"


class Demand(NamedTuple):
    """So many base units of a product, for a date (None: today), to last for so many days from then."""

    product_id: UUID
    base_quantity: int
    needed_date: date | None
    days: int


def least_days(order: int | None, agreed: int | None, offer: int | None, product: int | None) -> int:
    """Return how many days the goods of an order's line must last.

    As the order says, else the agreement that its price is from, else its offer, else the product.
    """
    return next((one for one in (order, agreed, offer, product) if one is not None), 0)


class Take(NamedTuple):
    """So many base units of one level."""

    level: Level
    base_quantity: int


def candidates(levels: Iterable[Level], demand: Demand, at: datetime) -> list[Level]:
    """Return the usable levels of a product: by expiry, none last, then received first, then by id."""
    usable = (
        level
        for level in levels
        if level.row.product_id == demand.product_id and level.is_usable(demand.needed_date, demand.days, at)
    )
    return sorted(usable, key=lambda one: (one.row.expiry_date or _NEVER, one.row.created_at, one.row.id))


def take(levels: Iterable[Level], demand: Demand, at: datetime) -> list[Take] | None:
    """Reserve the quantity on the levels; None, with nothing reserved, where too little is free."""
    found = _picked(levels, demand, at)
    return _reserved(found) if sum(one.base_quantity for one in found) == demand.base_quantity else None


def take_some(levels: Iterable[Level], demand: Demand, at: datetime) -> list[Take]:
    """Reserve as much of the quantity on the levels as is free."""
    return _reserved(_picked(levels, demand, at))


def _picked(levels: Iterable[Level], demand: Demand, at: datetime) -> list[Take]:
    found: list[Take] = []
    rest = demand.base_quantity
    for level in candidates(levels, demand, at):
        if not rest:
            break
        here = min(level.free, rest)
        if here > 0:
            found.append(Take(level, here))
            rest -= here
    return found


def _reserved(found: list[Take]) -> list[Take]:
    for level, here in found:
        level.reserved += here
    return found
