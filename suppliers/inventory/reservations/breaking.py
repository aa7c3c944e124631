"""Freeing levels of which less is there than was promised: what has lapsed first, then the newest promises.

The caller has locked the levels of the products, and before them, by `order_books`, the orders that hold some of it. Source: contract, supply-shelf.md "Adjustment line".
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Statement, run
from ledger.public import Occurrence
from organizations.public import Part
from suppliers.inventory.events import ReservationBroken
from suppliers.inventory.levels import Level
from suppliers.inventory.models import Allocation, Reservation
from suppliers.inventory.states import ReservationKind

from . import changes, order_books

_COLUMNS = ", ".join(f'r."{field.column}"' for field in Reservation._meta.concrete_fields)
_ON_LEVELS = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_reservation r WHERE r.tenant_id = $1 AND r.status = 'active'"
    " AND ($3::uuid IS NULL OR r.buyer_tenant_id = $3) AND r.id IN"
    " (SELECT a.reservation_id FROM suppliers_allocation a"
    " WHERE a.tenant_id = $1 AND a.level_id = ANY($2::uuid[]) AND a.status = 'active') ORDER BY r.id FOR UPDATE"
)


class Freed(NamedTuple):
    """What ending reservations writes in the supplier's rows, tells, and touches; and what is written of buyers' orders."""

    calls: list[Call]
    told: dict[UUID, list[Occurrence]]
    rows: list[Reservation]
    parts: list[Part]

    def with_rows(self, rows: Iterable[Reservation]) -> "Freed":
        """Add reservations that are touched, though they go on."""
        return self._replace(rows=[*self.rows, *(row for row in rows if row not in self.rows)])


NOTHING: Final = Freed([], {}, [], [])


def free_levels(
    tenant_id: UUID,
    levels: Mapping[UUID, Level],
    at: datetime,
    may_break: Collection[UUID],
    *,
    reason: str,
) -> Freed:
    """End reservations until no level has more reserved than is on hand, or none is left to end.

    What has lapsed ends on all levels that are short; what has not, on those that `may_break` names. The levels in memory
    follow; what is returned writes the rest.
    """
    short = [level for level in levels.values() if level.free < 0]
    if not short:
        return NOTHING
    rows, holding = _holders(tenant_id, [level.row.id for level in short])
    lapsed: list[Reservation] = []
    broken: list[Reservation] = []
    for row in sorted(rows, key=lambda row: _order(row, at)):
        has_lapsed, held = _has_lapsed(row, at), {one.level_id for one in holding[row.id]}
        if any(
            level.free < 0 and level.row.id in held and (has_lapsed or level.row.id in may_break) for level in short
        ):
            (lapsed if has_lapsed else broken).append(row)
            changes.give_back(levels, holding[row.id], lapsed=has_lapsed)
    return _ended(tenant_id, lapsed, broken, at, reason)


def break_all(
    tenant_id: UUID,
    levels: Mapping[UUID, Level],
    on: Sequence[UUID],
    at: datetime,
    *,
    reason: str,
    buyer_id: UUID | None = None,
) -> Freed:
    """End every reservation, or those of one buyer, that hold something of the levels `on`, which may not be sold any more."""
    rows, holding = _holders(tenant_id, on, buyer_id)
    for row in rows:
        changes.give_back(levels, holding[row.id], lapsed=_has_lapsed(row, at))
    lapsed = [row for row in rows if _has_lapsed(row, at)]
    return _ended(tenant_id, lapsed, [row for row in rows if row not in lapsed], at, reason)


def _holders(
    tenant_id: UUID, on: Sequence[UUID], buyer_id: UUID | None = None
) -> tuple[list[Reservation], dict[UUID, list[Allocation]]]:
    """Lock the reservations that hold something of some levels, and read all that they hold."""
    buyer = str(buyer_id) if buyer_id else None
    (found,) = run([Call(_ON_LEVELS, [str(tenant_id), array_literal(on), buyer])])
    rows = changes.reservations_of(found)
    (held,) = run([changes.held_call(tenant_id, [row.id for row in rows])])
    holding: dict[UUID, list[Allocation]] = defaultdict(list)
    for one in changes.held_of(held):
        holding[one.reservation_id].append(one)
    return rows, holding


def _ended(tenant_id: UUID, lapsed: list[Reservation], broken: list[Reservation], at: datetime, reason: str) -> Freed:
    calls, told = changes.expire(lapsed, at)
    for row in broken:
        row.break_off(reason)
    calls += changes.ending_calls(broken, at, "reason")
    parts, of_orders = order_books.broken_of(tenant_id, broken, at)
    told = changes.joined(told, changes.told_of(ReservationBroken, broken, "supplier"), of_orders)
    return Freed(calls, told, [*lapsed, *broken], parts)


def _has_lapsed(row: Reservation, at: datetime) -> bool:
    return row.expires_at is not None and row.expires_at <= at


def _order(row: Reservation, at: datetime) -> tuple[bool, bool, float]:
    """What has lapsed first, then soft before hard, each the newest first."""
    return (not _has_lapsed(row, at), row.kind == ReservationKind.HARD, -row.created_at.timestamp())
