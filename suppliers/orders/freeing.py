"""Stock that an order held and needs no more: its reservations are released, and its levels are free again.

A reservation that the buyer has made is told of; what was allocated to an order is told by the order itself.
"""

from collections import defaultdict
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

    `keeping` says by the ids of lines how much they still need; a reservation that is needed in part stays whole.
    """
    _, at_levels, locked, held = found
    left, rows = dict(keeping or {}), list[Reservation]()
    for one in changes.reservations_of(locked):
        assert one.purchase_order_line_id is not None
        needed = left.get(one.purchase_order_line_id, 0)
        left[one.purchase_order_line_id] = max(0, needed - one.base_quantity)
        if not needed:
            rows.append(one)
    if not rows:
        return Freed([], [], {})
    ids, levels = {one.id for one in rows}, read_levels(at_levels)
    for one in rows:
        one.release()
    changes.give_back(levels, [one for one in changes.held_of(held) if one.reservation_id in ids])
    supplier = row.supplier_tenant_id
    moved, news = changed(supplier, levels.values(), at, by=by)
    calls = [*moved, *changes.ending_calls(rows, at)]
    calls += availability.refresh_calls(supplier, sorted({one.product_id for one in rows}), at)
    told: dict[UUID, list[Occurrence]] = defaultdict(list)
    made_by_buyer = [one for one in rows if one.group_id != row.id]
    for tenant_id, facts in changes.joined(
        {supplier: news}, changes.told_of(ReservationReleased, made_by_buyer, by)
    ).items():
        told[tenant_id] += facts
    return Freed(calls, rows, told)
