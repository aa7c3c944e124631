"""Reservations of a buyer that become part of its order."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from core.arrays import array_literal
from core.errors import FieldError, InvalidFields
from core.model_rows import save_all_call
from core.pipeline import Call, Rows, Statement
from suppliers.inventory.levels import lock_levels_of
from suppliers.inventory.models import Reservation
from suppliers.inventory.refusals import ReservationNotActive
from suppliers.inventory.reservations import changes
from suppliers.inventory.states import ReservationKind, ReservationStatus

from .models import PurchaseOrder, PurchaseOrderLine

HELD_FOR: Final = timedelta(hours=24)  # Source: contract, supply-shelf.md 7
_COLUMNS: Final = ", ".join(f'"{field.column}"' for field in Reservation._meta.concrete_fields)
_HARDEN = Statement.of(
    "UPDATE suppliers_allocation SET kind = 'hard', expires_at = NULL, version = version + 1, updated_at = $3"
    " WHERE tenant_id = $1 AND reservation_id = ANY($2::uuid[]) AND status = 'active' RETURNING id::text"
)


def lock_calls(row: PurchaseOrder) -> list[Call]:
    """Return the statements that lock the levels of the order's reservations, then these; bound to the supplier."""
    ids = [UUID(one) for one in row.reservation_ids]
    return [lock_levels_of(row.supplier_tenant_id, ids), changes.lock_call(row.supplier_tenant_id, ids)]


def bind_to_lines(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], found: Rows, at: datetime, *, may_have_ended: bool = False
) -> list[Reservation]:
    """Let the reservations that an order names become hard, each for a line of its product; in memory.

    With `may_have_ended` those that hold nothing any more are left out: the order has waited too long for its approval.

    :raises ReservationNotActive: one has ended, or is none of the buyer's with the supplier.
    :raises InvalidFields: one is of a product that is not ordered, or of more than is ordered.
    """
    rows = []
    for one, line in _matched(row, lines, found, at, may_have_ended=may_have_ended):
        one.kind, one.expires_at, one.purchase_order_line_id = ReservationKind.HARD.value, None, line.id
        rows.append(one)
    return rows


def hold(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], found: Rows, at: datetime) -> list[Reservation]:
    """Let the reservations that an order names last until it is approved, a day at most; in memory.

    :raises ReservationNotActive, InvalidFields: as `bind_to_lines`.
    """
    rows = [one for one, _ in _matched(row, lines, found, at)]
    for one in rows:
        one.expires_at = at + HELD_FOR
    return rows


def _matched(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], found: Rows, at: datetime, *, may_have_ended: bool = False
) -> list[tuple[Reservation, PurchaseOrderLine]]:
    """Return the reservations that an order names, each with a line of its product.

    :raises ReservationNotActive, InvalidFields: as `bind_to_lines`.
    """
    known = {one.id: one for one in changes.reservations_of(found) if one.buyer_tenant_id == row.tenant_id}
    left: dict[UUID, int] = {line.id: line.ordered for line in lines}
    matched, errors = list[tuple[Reservation, PurchaseOrderLine]](), list[FieldError]()
    for number, key in enumerate(row.reservation_ids):
        one = known.get(UUID(key))
        if one is None or not _is_active(one, at):
            if may_have_ended:
                continue
            state = ReservationStatus.EXPIRED.value if one and one.status == ReservationStatus.ACTIVE else None
            raise ReservationNotActive(state=state or (one.status if one else ReservationStatus.RELEASED.value))
        line = next((of for of in lines if of.product_id == one.product_id and left[of.id] >= one.base_quantity), None)
        if line is None:
            message = "More is reserved of this product than is ordered."
            errors.append(FieldError(f"reservation_ids.{number}", "more_than_ordered", message))
            continue
        left[line.id] -= one.base_quantity
        matched.append((one, line))
    if errors:
        raise InvalidFields(errors=errors)
    return matched


def _is_active(row: Reservation, at: datetime) -> bool:
    """Tell whether a reservation still holds its stock, and not yet for an order."""
    is_soft = row.kind == ReservationKind.SOFT
    return row.status == ReservationStatus.ACTIVE and is_soft and row.expires_at is not None and row.expires_at > at


def hardening_calls(rows: Sequence[Reservation], at: datetime) -> list[Call]:
    """Return the statements that save reservations that became hard, with what they hold; bound to the supplier."""
    if not rows:
        return []
    held = Call(_HARDEN, [str(rows[0].tenant_id), array_literal(one.id for one in rows), at.isoformat()])
    return [save_all_call(rows, "kind", "expires_at", "purchase_order_line_id", at=at), held]
