"""Stock that an order held and needs no more: its reservations are released, and its levels are free again.

A reservation that the buyer has made is told of; what was allocated to an order is told by the order itself.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement
from ledger.public import Occurrence
from suppliers.catalog import availability
from suppliers.inventory.events import ReservationReleased
from suppliers.inventory.levels import changed, levels_of_lines, read_levels
from suppliers.inventory.models import Allocation, Reservation
from suppliers.inventory.reservations import changes

from .allocating import lines_held_call
from .models import PurchaseOrder, PurchaseOrderLine

_HELD_COLUMNS: Final = ", ".join(f'a."{one.column}"' for one in Allocation._meta.concrete_fields)
_HELD = Statement.of(
    f"SELECT {_HELD_COLUMNS} FROM suppliers_allocation a"
    " JOIN suppliers_reservation r ON r.tenant_id = a.tenant_id AND r.id = a.reservation_id AND r.tenant_id = $1"
    " WHERE a.tenant_id = $1 AND a.status = 'active' AND r.purchase_order_line_id = ANY($2::uuid[])"
    " ORDER BY a.id"
)


class Freed(NamedTuple):
    """What releasing some reservations writes in the supplier's rows, touches, and tells."""

    calls: list[Call]
    rows: list[Reservation]
    told: dict[UUID, list[Occurrence]]


def held_calls(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine]) -> list[Call]:
    """Return the statements that lock and read what an order holds of stock, levels first, bound to its supplier.

    `free` takes their rows.
    """
    own, keys = row.supplier_tenant_id, [one.id for one in lines]
    return [*levels_of_lines(own, keys), lines_held_call(own, keys), Call(_HELD, [str(own), array_literal(keys)])]


def free(
    row: PurchaseOrder, found: Sequence[Rows], at: datetime, *, by: str, keeping: Mapping[UUID, int] | None = None
) -> Freed:
    """Release what an order holds; `found` are the rows of `held_calls`.

    `keeping` says by the ids of lines how much they still need; a reservation that is needed in part holds that much.
    """
    _, at_levels, locked, held = found
    ended, smaller, stays = _parted(changes.reservations_of(locked), keeping or {})
    if not ended and not smaller:
        return Freed([], [], {})
    allocations, levels = changes.held_of(held), read_levels(at_levels)
    left: dict[UUID, int] = {}
    for part in allocations:
        still = stays.get(part.reservation_id, part.base_quantity)
        left[part.id] = min(part.base_quantity, still)
        if part.reservation_id in stays:
            stays[part.reservation_id] = still - left[part.id]
        levels[part.level_id].reserved -= part.base_quantity - left[part.id]
    for one in ended:
        one.release()
    supplier = row.supplier_tenant_id
    moved, news = changed(supplier, levels.values(), at, by=by)
    calls = [*moved, *changes.ending_calls(ended, at), *changes.shrinking_calls(smaller, allocations, left, at)]
    calls += availability.refresh_calls(supplier, sorted({one.product_id for one in (*ended, *smaller)}), at)
    released = changes.told_of(ReservationReleased, [one for one in ended if one.group_id != row.id], by)
    return Freed(calls, [*ended, *smaller], changes.joined({supplier: news}, released))


def _parted(
    held: Sequence[Reservation], keeping: Mapping[UUID, int]
) -> tuple[list[Reservation], list[Reservation], dict[UUID, int]]:
    """Return the reservations that lines need no more, those that they need in part, and how much of each stays, by its id."""
    needed, ended, smaller = dict(keeping), list[Reservation](), list[Reservation]()
    stays: dict[UUID, int] = {}
    for one in held:
        assert one.purchase_order_line_id is not None
        still = needed.get(one.purchase_order_line_id, 0)
        needed[one.purchase_order_line_id] = max(0, still - one.base_quantity)
        if still < one.base_quantity:
            (smaller if still else ended).append(one)
            stays[one.id] = still
    return ended, smaller, stays
