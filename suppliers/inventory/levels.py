"""Levels of stock as actions lock, read and change them. Source: contract, supply.md "Lock order" and "Invariants".

All levels that a transaction changes are locked at first, by their ids. What is read of them is read behind the lock, in
a statement of its own, which sees what other transactions have committed meanwhile.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson

from core.arrays import array_literal, in_document
from core.pipeline import Call, Rows, Statement
from ledger.public import Occurrence

from .level_news import is_due, news_of

_NOBODY = UUID(int=0)
_OF_PRODUCTS = "v.product_id = ANY($2::uuid[])"
_OF_IDS = "v.id = ANY($2::uuid[])"
_OF_RESERVATIONS = "v.id IN (SELECT a.level_id FROM suppliers_allocation a WHERE a.tenant_id = $1 AND a.reservation_id = ANY($2::uuid[]))"
_OF_LINES = (
    "v.id IN (SELECT a.level_id FROM suppliers_reservation r JOIN suppliers_allocation a ON a.tenant_id = r.tenant_id"
    " AND a.reservation_id = r.id AND a.tenant_id = $1 WHERE r.tenant_id = $1 AND r.status = 'active'"
    " AND r.purchase_order_line_id = ANY($2::uuid[]))"
)
# What the tenant has settled for levels without a threshold of their own. The table belongs to the room of notifications.
_DEFAULT = "(SELECT f.low_stock_default FROM suppliers_notificationpreference f WHERE f.tenant_id = $1)"


class LevelRow(NamedTuple):
    """A level, its lot, and where it lies; `is_open` says that lot and place may be sold.

    `least_rest_days` is for how long its goods must still last to be sold today. `low_stock_threshold` is the level's own, else what the tenant has settled for all that have none.
    """

    id: UUID
    product_id: UUID
    location_id: UUID
    lot_id: UUID | None
    lot_number: str | None
    expiry_date: str | None
    is_recalled: bool
    is_open: bool
    time_zone: str
    least_rest_days: int
    on_hand: int
    reserved: int
    low_stock_threshold: int | None
    told_at: datetime | None
    created_at: datetime


class Promised(NamedTuple):
    """What soft reservations hold of a level: those whose time is over, the living ones, and of these the buyer's own."""

    level_id: UUID
    lapsed: int
    living: int
    own: int


def _lock(condition: str) -> Statement:
    return Statement.of(
        f"SELECT v.id::text FROM suppliers_stocklevel v WHERE v.tenant_id = $1 AND {condition} ORDER BY v.id FOR NO KEY UPDATE"
    )


def _read(condition: str) -> Statement:
    return Statement.of(
        "SELECT v.id, v.product_id, v.location_id, v.lot_id, l.lot_number, l.expiry_date::text,"
        " coalesce(l.status = 'recalled', false) AS is_recalled,"
        " coalesce(l.status = 'released', true) AND coalesce(s.sellable, true) AS is_open,"
        " coalesce(NULLIF(o.time_zone, ''), n.time_zone) AS time_zone,"
        " coalesce((SELECT p.min_remaining_shelf_life_days FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = v.product_id),"
        " (SELECT i.min_remaining_shelf_life_days FROM suppliers_stockitem i WHERE i.tenant_id = $1 AND i.id = v.product_id), 0)"
        " AS least_rest_days,"
        f" v.on_hand, v.reserved, coalesce(v.low_stock_threshold, {_DEFAULT}) AS low_stock_threshold, v.told_at, v.created_at"
        " FROM suppliers_stocklevel v JOIN organizations_tenant n ON n.id = v.tenant_id"
        " JOIN organizations_location o ON o.tenant_id = v.tenant_id AND o.id = v.location_id AND o.tenant_id = $1"
        " LEFT JOIN suppliers_lot l ON l.tenant_id = v.tenant_id AND l.id = v.lot_id AND l.tenant_id = $1"
        " LEFT JOIN suppliers_stockplace s ON s.tenant_id = v.tenant_id AND s.location_id = v.location_id AND s.tenant_id = $1"
        f" WHERE v.tenant_id = $1 AND {condition} ORDER BY v.id",
        row=LevelRow,
    )


_LOCK_OF_PRODUCTS, _READ_OF_PRODUCTS = _lock(_OF_PRODUCTS), _read(_OF_PRODUCTS)
_READ_OF_IDS = _read(_OF_IDS)
_LOCK_OF_RESERVATIONS, _READ_OF_RESERVATIONS = _lock(_OF_RESERVATIONS), _read(_OF_RESERVATIONS)
_LOCK_OF_LINES, _READ_OF_LINES = _lock(_OF_LINES), _read(_OF_LINES)
_PROMISED = Statement.of(
    "SELECT v.id AS level_id, p.lapsed, p.living, p.own FROM suppliers_stocklevel v CROSS JOIN LATERAL ("
    "SELECT coalesce(sum(a.base_quantity) FILTER (WHERE a.expires_at <= $3), 0)::bigint AS lapsed,"
    " coalesce(sum(a.base_quantity) FILTER (WHERE a.expires_at > $3), 0)::bigint AS living,"
    " coalesce(sum(a.base_quantity) FILTER (WHERE a.expires_at > $3 AND a.buyer_tenant_id = $4), 0)::bigint AS own"
    " FROM suppliers_allocation a WHERE a.tenant_id = $1 AND a.level_id = v.id AND a.status = 'active' AND a.kind = 'soft') p"
    " WHERE v.tenant_id = $1 AND v.product_id = ANY($2::uuid[]) AND v.reserved > 0",
    row=Promised,
)
_CHANGE = Statement.of(
    "UPDATE suppliers_stocklevel v SET on_hand = v.on_hand + g.on_hand, reserved = v.reserved + g.reserved, version = v.version + 1, updated_at = $3,"
    " told_at = CASE WHEN g.told THEN $3 ELSE v.told_at END, is_untold = NOT g.told"
    " FROM json_to_recordset($2) AS g (id uuid, on_hand bigint, reserved bigint, told boolean)"
    f" WHERE v.tenant_id = $1 AND {in_document('v.id', '$2')} AND v.id = g.id RETURNING v.id::text"
)


@dataclass(slots=True)
class Level:
    """A locked level in memory; `on_hand` and `reserved` follow what the action does with it."""

    row: LevelRow
    on_hand: int
    reserved: int
    lapsed: int = 0
    living: int = 0
    own: int = 0

    @property
    def moved(self) -> tuple[int, int]:
        """By how much on-hand and reserved units differ from the stored ones."""
        return self.on_hand - self.row.on_hand, self.reserved - self.row.reserved

    @property
    def free(self) -> int:
        """Base units that nobody holds."""
        return self.on_hand - self.reserved

    def today(self, at: datetime) -> date:
        """The date at the level's location."""
        return at.astimezone(ZoneInfo(self.row.time_zone)).date()

    def is_usable(self, needed: date | None, days: int, at: datetime) -> bool:
        """Tell whether the goods may be sold for a date, today by default, and last for so many days from then.

        An expiry date is the last day of use. What was needed by a date that is over is needed today.
        """
        if not self.row.is_open:
            return False
        if self.row.expiry_date is None:
            return True
        today = self.today(at)
        expiry, begin = date.fromisoformat(self.row.expiry_date), max(needed or today, today)
        return (expiry - begin).days >= days

    def sellable(self, needed: date | None, days: int, at: datetime) -> int:
        """Base units that can be promised for a date; what lapsed reservations hold is free."""
        return self.free + self.lapsed if self.is_usable(needed, days, at) else 0


def levels_of_products(
    tenant_id: UUID, products: Collection[UUID], at: datetime, *, buyer_id: UUID = _NOBODY
) -> list[Call]:
    """Return the statements that lock all levels of some products, read them, and read what is promised of them.

    `buyer_id` is whose promises count as its own; see `read_levels`.
    """
    given = [str(tenant_id), array_literal(products)]
    return [
        Call(_LOCK_OF_PRODUCTS, given),
        Call(_READ_OF_PRODUCTS, given),
        Call(_PROMISED, [*given, at.isoformat(), str(buyer_id)]),
    ]


def lock_levels_of(tenant_id: UUID, reservations: Collection[UUID]) -> Call:
    """Return the statement that locks the levels that some reservations hold something of."""
    return Call(_LOCK_OF_RESERVATIONS, [str(tenant_id), array_literal(reservations)])


def levels_of_reservations(tenant_id: UUID, reservations: Collection[UUID]) -> Call:
    """Return the statement that reads these levels, behind the lock; see `read_levels`."""
    return Call(_READ_OF_RESERVATIONS, [str(tenant_id), array_literal(reservations)])


def levels_of_lines(tenant_id: UUID, lines: Collection[UUID]) -> list[Call]:
    """Return the statements that lock the levels that the lines of an order hold something of, and read them; see `read_levels`."""
    given = [str(tenant_id), array_literal(lines)]
    return [Call(_LOCK_OF_LINES, given), Call(_READ_OF_LINES, given)]


def levels_call(tenant_id: UUID, ids: Collection[UUID]) -> Call:
    """Return the statement that reads levels, without a lock; see `read_levels`."""
    return Call(_READ_OF_IDS, [str(tenant_id), array_literal(ids)])


def read_levels(found: Rows, promised: Rows | None = None) -> dict[UUID, Level]:
    """Return the locked levels by their ids."""
    levels = {row.id: Level(row, row.on_hand, row.reserved) for row in found.of(LevelRow)}
    for one in promised.of(Promised) if promised is not None else ():
        level = levels[one.level_id]
        level.lapsed, level.living, level.own = one.lapsed, one.living, one.own
    return levels


def changed(
    tenant_id: UUID, levels: Iterable[Level], at: datetime, *, by: str, also: Collection[UUID] = ()
) -> tuple[list[Call], list[Occurrence]]:
    """Return the statement that writes the levels that an action has changed, and what is to be told of them.

    `also` names levels whose quantities stay, but not what can be promised of them.
    """
    touched = (level for level in levels if any(level.moved) or level.row.id in also)
    moved = sorted(touched, key=lambda level: level.row.id)
    if not moved:
        return [], []
    rows: list[dict[str, Any]] = []
    news: list[Occurrence] = []
    for level in moved:
        is_told = is_due(level.row.told_at, at)
        on_hand, reserved = level.moved
        rows.append({"id": str(level.row.id), "on_hand": on_hand, "reserved": reserved, "told": is_told})
        news += news_of(level, is_told=is_told, by=by, at=at)
    return [Call(_CHANGE, [str(tenant_id), orjson.dumps(rows), at.isoformat()])], news
