"""Goods of lots held back: suspect ones, and those that were not kept cold. Their lots are quarantined until somebody decides.

Lock order: lots, then levels. Source: contract, supply-order.md 3 and 4, and supply-shelf.md "Lot".
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Statement
from ledger.public import Occurrence
from suppliers.inventory.events import LotQuarantined
from suppliers.inventory.states import LotStatus

from .shelving import LOT_COLUMNS, LotRow

MOST_REASON: Final = 500
_HOLD = Statement.of(
    "UPDATE suppliers_lot l SET status = 'quarantined', status_reason = $3, version = l.version + 1, updated_at = $4"
    " WHERE l.tenant_id = $1 AND l.id = ANY($2::uuid[]) AND l.status = 'released' RETURNING l.id::text"
)
# Whether goods of a lot may be sold stands with their levels.
_MARK_LEVELS = Statement.of(
    "UPDATE suppliers_stocklevel v SET is_untold = true WHERE v.tenant_id = $1 AND v.id IN (SELECT w.id"
    " FROM suppliers_stocklevel w WHERE w.tenant_id = $1 AND w.lot_id = ANY($2::uuid[])"
    " ORDER BY w.id FOR NO KEY UPDATE) RETURNING v.id::text"
)


def locking(named: str) -> Statement:
    """Return the statement that locks the lots of the tenant $1 that SQL names by product and number, as rows of `LotRow`."""
    return Statement.of(
        f"SELECT {LOT_COLUMNS} FROM suppliers_lot l WHERE l.tenant_id = $1 AND (l.product_id, l.lot_number) IN ({named})"
        " ORDER BY l.id FOR NO KEY UPDATE",
        row=LotRow,
    )


@dataclass(frozen=True, slots=True)
class HeldBack:
    """What is written to hold lots back, and what their tenant is told of it."""

    calls: list[Call] = field(default_factory=list)
    facts: list[Occurrence] = field(default_factory=list)


def hold_back(tenant_id: UUID, lots: Collection[LotRow], reason: str, at: datetime, *, by: str) -> HeldBack:
    """Hold back those of some locked lots that are released; the others stay as they are. The tenant is bound.

    `by` is the side that has acted.
    """
    held = [one for one in lots if one.status == LotStatus.RELEASED]
    if not held:
        return HeldBack()
    own, ids = str(tenant_id), array_literal(one.id for one in held)
    calls = [Call(_HOLD, [own, ids, reason[:MOST_REASON], at.isoformat()]), Call(_MARK_LEVELS, [own, ids])]
    return HeldBack(calls, [Occurrence(_told(one, by), one.id, one.version + 1) for one in held])


def _told(lot: LotRow, by: str) -> LotQuarantined:
    return LotQuarantined(
        product_id=str(lot.product_id), lot_number=lot.lot_number, status=LotStatus.QUARANTINED.value,
        expiry_date=lot.expiry_date, by=by,
    )  # fmt: skip
