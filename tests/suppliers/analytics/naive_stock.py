"""What metrics of stock are, counted in the plainest way: for each end of a bucket every movement is added up again."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from .naive import Question


@dataclass
class Move:
    """Units that came to a level, or left it."""

    at: datetime
    units: int
    is_shipment: bool


@dataclass
class Hold:
    """Units that are reserved from `since` on, until it ended or lapsed."""

    since: datetime
    units: int
    ended: datetime | None
    expires: datetime | None

    def counts(self, at: datetime) -> bool:
        """Tell whether it takes its units off what can be sold."""
        is_there = self.since < at and (self.ended is None or self.ended >= at)
        return is_there and (self.expires is None or self.expires > at)


@dataclass
class Level:
    """Stock of a product at a place; `units_now` is what all its movements come to, and what was there before."""

    product: UUID
    category: str
    place: UUID
    is_sold_from: bool
    expiry: date | None
    is_released: bool
    before: int
    moves: list[Move]
    holds: list[Hold]

    def free(self, at: datetime, now: datetime) -> int:
        """Return what is on hand and not reserved at an instant; what is to come is as now."""
        return self.held(at) - sum(one.units for one in self.holds if one.counts(min(at, now)))

    def held(self, at: datetime) -> int:
        """Return what is on hand at an instant."""
        return self.before + sum(one.units for one in self.moves if one.at < at)


@dataclass
class Price:
    """A list price of a packaging, from a day on, up to another one."""

    product: UUID
    units_per_pack: int
    per: int
    amount: Decimal
    valid_from: date
    valid_to: date | None


def ends(question: Question) -> list[datetime]:
    """Return the end of each bucket: the begin of the first day of the next one, or that of the span."""
    zone, found = ZoneInfo(question.zone), list[datetime]()
    days = [*question.days()]
    for day, following in zip(days, [*days[1:], None], strict=True):
        if following is not None and question.bucket(following) != question.bucket(day):
            found.append(datetime(following.year, following.month, following.day, tzinfo=zone))
    return [*found, question.end]


def price_of(product: UUID, day: date, prices: Iterable[Price]) -> Fraction | None:
    """Return what a base unit costs on a day: by the smallest packaging that has a price."""
    valid = [
        one
        for one in prices
        if one.product == product and one.valid_from <= day and (one.valid_to is None or one.valid_to > day)
    ]
    if not valid:
        return None
    one = min(valid, key=lambda one: one.units_per_pack)
    return Fraction(one.amount) / (one.per * one.units_per_pack)


def _name(level: Level, question: Question) -> str | None:
    return {"product": str(level.product), "category": level.category, "location": str(level.place)}.get(question.group)


def _last_day(end: datetime, question: Question, now: datetime) -> date:
    return min(question.day(end - timedelta(microseconds=1)), question.day(now))


def worth(
    levels: list[Level], prices: list[Price], question: Question, now: datetime, days: int | None
) -> dict[Any, Fraction]:
    """Return the value at each end, by place and group; with `days`, of what expires within so many days."""
    found: dict[Any, Fraction] = {}
    for place, end in enumerate(ends(question)):
        day = _last_day(end, question, now)
        for level in levels:
            price = price_of(level.product, day, prices)
            is_near = level.expiry is not None and day <= level.expiry <= day + timedelta(days=days or 0)
            if price is not None and (days is None or is_near):
                key = (place, _name(level, question))
                found[key] = found.get(key, Fraction(0)) + level.held(end) * price
    return found


def cover(levels: list[Level], question: Question, now: datetime) -> dict[Any, tuple[int, int]]:
    """Return 28 times what can be sold at each end, and what was shipped in the 28 local days before."""
    found: dict[Any, tuple[int, int]] = {}
    zone = ZoneInfo(question.zone)
    for place, end in enumerate(ends(question)):
        day, local = _last_day(end, question, now), min(end, now).astimezone(zone).replace(tzinfo=None)
        since = (local - timedelta(days=28)).replace(tzinfo=zone)
        for level in levels:
            key = (place, _name(level, question))
            above, below = found.get(key, (0, 0))
            if level.is_sold_from and level.is_released and (level.expiry is None or level.expiry >= day):
                above += 28 * level.free(end, now)
            below -= sum(one.units for one in level.moves if one.is_shipment and since <= one.at < end)
            found[key] = (above, below)
    return found
