"""How reservations begin and end: their rows, what they hold of levels, and what both parties are told.

The caller holds the locks, levels before reservations. Source: contract, supply.md "Lock order".
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from core import clock
from core.arrays import array_literal, in_document
from core.model_rows import rows_of, save_all_call, save_call
from core.pipeline import Call, Rows, Statement
from ledger.public import Occurrence
from suppliers.inventory.events import ReservationEvent, ReservationExpired
from suppliers.inventory.levels import Level
from suppliers.inventory.models import RESERVATIONS, Allocation, Lot, Reservation

_COLUMNS = ", ".join(f'"{field.column}"' for field in Reservation._meta.concrete_fields)
_HELD_COLUMNS = ", ".join(f'"{field.column}"' for field in Allocation._meta.concrete_fields)
_LOCK = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_reservation WHERE tenant_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR UPDATE"
)
_LOCK_LAPSED = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_reservation WHERE tenant_id = $1 AND product_id = ANY($2::uuid[])"
    " AND status = 'active' AND kind = 'soft' AND expires_at <= $3 ORDER BY id FOR UPDATE"
)
_HELD = Statement.of(
    f"SELECT {_HELD_COLUMNS} FROM suppliers_allocation"
    " WHERE tenant_id = $1 AND reservation_id = ANY($2::uuid[]) AND status = 'active'"
)
_RENEW = Statement.of(
    "UPDATE suppliers_reservation r SET version = r.version + 1, updated_at = $4 WHERE r.tenant_id = $1 AND r.id IN"
    " (SELECT q.id FROM suppliers_reservation q WHERE q.tenant_id = $1 AND q.product_id = $2 AND EXISTS (SELECT 1"
    " FROM suppliers_allocation a JOIN suppliers_stocklevel v ON v.tenant_id = a.tenant_id AND v.id = a.level_id"
    " AND v.tenant_id = $1 WHERE a.tenant_id = $1 AND a.reservation_id = q.id AND v.lot_id = $3)"
    f" ORDER BY q.id FOR UPDATE) RETURNING {_COLUMNS}"
)
_END = Statement.of(
    "UPDATE suppliers_allocation SET status = $3, version = version + 1, updated_at = $4"
    " WHERE tenant_id = $1 AND reservation_id = ANY($2::uuid[]) AND status = 'active' RETURNING id::text"
)
_PROLONG = Statement.of(
    "UPDATE suppliers_allocation SET expires_at = $3, version = version + 1, updated_at = $4"
    " WHERE tenant_id = $1 AND reservation_id = ANY($2::uuid[]) AND status = 'active' RETURNING id::text"
)

_SHRINK = Statement.of(
    "UPDATE suppliers_allocation a SET base_quantity = g.base_quantity, version = a.version + 1, updated_at = $3"
    " FROM json_to_recordset($2) AS g (id uuid, base_quantity bigint)"
    f" WHERE a.tenant_id = $1 AND {in_document('a.id', '$2')} AND a.id = g.id RETURNING a.id::text"
)
_DROP = Statement.of(
    "DELETE FROM suppliers_allocation WHERE tenant_id = $1 AND id = ANY($2::uuid[]) RETURNING id::text"
)


def lock_call(tenant_id: UUID, ids: Iterable[UUID]) -> Call:
    """Return the statement that locks some reservations in the order of their ids."""
    return Call(_LOCK, [str(tenant_id), array_literal(ids)])


def lock_lapsed_call(tenant_id: UUID, products: Iterable[UUID], at: datetime) -> Call:
    """Return the statement that locks the soft reservations of some products whose time is over."""
    return Call(_LOCK_LAPSED, [str(tenant_id), array_literal(products), at.isoformat()])


def held_call(tenant_id: UUID, ids: Iterable[UUID]) -> Call:
    """Return the statement that reads what some reservations hold."""
    return Call(_HELD, [str(tenant_id), array_literal(ids)])


def renew_call(lot: Lot, at: datetime) -> Call:
    """Return the statement that renews the reservations that hold some of a lot or have held some, behind its locked levels."""
    return Call(_RENEW, [str(lot.tenant_id), str(lot.product_id), str(lot.id), at.isoformat()])


def reservations_of(found: Rows) -> list[Reservation]:
    """Return the reservations that a statement of this module has locked or renewed."""
    return rows_of(Reservation, found)


def held_of(found: Rows) -> list[Allocation]:
    """Return the allocations that `held_call` has read."""
    return rows_of(Allocation, found)


def give_back(levels: Mapping[UUID, Level], held: Iterable[Allocation], *, lapsed: bool = False) -> None:
    """Take what allocations hold off their levels."""
    for one in held:
        level = levels[one.level_id]
        level.reserved -= one.base_quantity
        if lapsed:
            level.lapsed -= one.base_quantity


def ending_calls(rows: Sequence[Reservation], at: datetime, *more: str) -> list[Call]:
    """Return the statements that save reservations of one tenant that have just ended alike, with their allocations.

    `more` names further columns that have changed.
    """
    if not rows:
        return []
    tenant_id, status = rows[0].tenant_id, rows[0].status
    for row in rows:
        row.ended_at = at
    ended = Call(_END, [str(tenant_id), array_literal(row.id for row in rows), status, at.isoformat()])
    return [save_all_call(rows, "status", "ended_at", *more, at=at), ended]


def shrinking_calls(
    rows: Sequence[Reservation], held: Iterable[Allocation], left: Mapping[UUID, int], at: datetime
) -> list[Call]:
    """Return the statements by which reservations of one supplier hold less, in base units; the rows say it from now on.

    `left` is what is left of each allocation, by its id; one of which nothing is left has no row any more.
    """
    if not rows:
        return []
    keys = {row.id for row in rows}
    of = [one for one in held if one.reservation_id in keys]
    for row in rows:
        row.base_quantity = sum(left[one.id] for one in of if one.reservation_id == row.id)
    moved = [one for one in of if left[one.id] != one.base_quantity]
    kept: list[dict[str, Any]] = [{"id": str(one.id), "base_quantity": left[one.id]} for one in moved if left[one.id]]
    gone = [one.id for one in moved if not left[one.id]]
    own = str(rows[0].tenant_id)
    return [
        save_all_call(rows, "base_quantity", at=at),
        *([Call(_SHRINK, [own, orjson.dumps(kept), at.isoformat()])] if kept else []),
        *([Call(_DROP, [own, array_literal(gone)])] if gone else []),
    ]


def prolonging_calls(row: Reservation, at: datetime) -> list[Call]:
    """Return the statements that save the later end of a reservation and of what it holds."""
    assert row.expires_at is not None
    prolonged = Call(
        _PROLONG, [str(row.tenant_id), array_literal([row.id]), row.expires_at.isoformat(), at.isoformat()]
    )
    return [save_call(row, "expires_at", "extensions", at=at), prolonged]


def holding_calls(rows: Sequence[Reservation], at: datetime) -> list[Call]:
    """Return the statements that save the same later end of soft reservations of one tenant, and of what they hold."""
    if not rows:
        return []
    until = rows[0].expires_at
    assert until is not None
    ids = array_literal(row.id for row in rows)
    prolonged = Call(_PROLONG, [str(rows[0].tenant_id), ids, until.isoformat(), at.isoformat()])
    return [save_all_call(rows, "expires_at", at=at), prolonged]


def event_of(kind: type[ReservationEvent], row: Reservation, by: str) -> Occurrence:
    """Return the fact of one reservation, as it stands now."""
    given: dict[str, Any] = {
        "supplier_id": str(row.tenant_id),
        "buyer_id": str(row.buyer_tenant_id),
        "product_id": str(row.product_id),
        "base_quantity": row.base_quantity,
        "kind": row.kind,
        "status": row.status,
        "expires_at": clock.rfc3339(row.expires_at) if row.expires_at else None,
        "by": by,
    }
    return Occurrence(kind(**given), row.id, row.version)


def told_of(kind: type[ReservationEvent], rows: Iterable[Reservation], by: str) -> dict[UUID, list[Occurrence]]:
    """Return what supplier and buyers are told of reservations."""
    told: dict[UUID, list[Occurrence]] = defaultdict(list)
    for row in rows:
        fact = event_of(kind, row, by)
        told[row.tenant_id].append(fact)
        told[row.buyer_tenant_id].append(fact)
    return told


def expire(rows: Sequence[Reservation], at: datetime) -> tuple[list[Call], dict[UUID, list[Occurrence]]]:
    """End locked reservations whose time is over; return the statements, and what is to be told."""
    for row in rows:
        row.expire()
    calls = ending_calls(rows, at)
    return calls, told_of(ReservationExpired, rows, "system")


def joined(*told: Mapping[UUID, Sequence[Occurrence]]) -> dict[UUID, list[Occurrence]]:
    """Join what tenants are told, in this order."""
    found: dict[UUID, list[Occurrence]] = defaultdict(list)
    for one in told:
        for tenant_id, facts in one.items():
            found[tenant_id] += facts
    return found


def touched(rows: Iterable[Reservation]) -> list[tuple[Any, UUID]]:
    """Name reservations as documents whose copies are to be written."""
    return [(RESERVATIONS, row.id) for row in rows]
