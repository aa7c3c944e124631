"""What reservations hold of each level, as it is written when they are made."""

from collections.abc import Sequence
from datetime import datetime

from core import rows
from core.ids import uuid7
from core.pipeline import Call
from suppliers.inventory.fefo import Take
from suppliers.inventory.models import Allocation, Reservation
from suppliers.inventory.states import ReservationStatus


def allocate_call(made: Sequence[Reservation], takes: Sequence[Sequence[Take]], at: datetime) -> Call:
    """Return the statement that writes what the reservations hold of each level."""
    found = [
        {
            "id": str(uuid7()),
            "tenant_id": str(row.tenant_id),
            "created_at": at.isoformat(),
            "updated_at": at.isoformat(),
            "reservation_id": str(row.id),
            "level_id": str(one.level.row.id),
            "buyer_tenant_id": str(row.buyer_tenant_id),
            "base_quantity": one.base_quantity,
            "kind": row.kind,
            "status": ReservationStatus.ACTIVE.value,
            "expires_at": row.expires_at.isoformat() if row.expires_at else None,
        }
        for row, taken in zip(made, takes, strict=True)
        for one in taken
    ]
    return rows.insert_all(Allocation, found)
