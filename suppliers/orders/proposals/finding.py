"""Open changes of an order: read, stored and closed, by statements for a transaction bound to its buyer."""

from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from core import rows
from core.model_rows import rows_of, save_call
from core.pipeline import Call, Rows, Statement
from suppliers.orders.models import PurchaseOrder

from .models import OrderChange
from .states import ChangeState

_CHANGE_COLUMNS: Final = ", ".join(f'"{one.column}"' for one in OrderChange._meta.concrete_fields)
_OPEN = Statement.of(
    f"SELECT {_CHANGE_COLUMNS} FROM suppliers_orderchange WHERE tenant_id = $1 AND order_id = $2 AND state = 'open'"
)
_CLOSE = Statement.of(
    "UPDATE suppliers_orderchange SET state = $3, decided_at = $4, updated_at = $4, version = version + 1, more_gross = 0,"
    " more = '{}' WHERE tenant_id = $1 AND order_id = $2 AND state = 'open' RETURNING 1"
)


def changes_call(tenant_id: UUID, order_id: UUID) -> Call:
    """Return the statement that reads the open changes of an order, for a transaction bound to its buyer."""
    return Call(_OPEN, [str(tenant_id), str(order_id)])


def changes_of(found: Rows) -> list[OrderChange]:
    """Return the changes that `changes_call` has read."""
    return rows_of(OrderChange, found)


def closing_call(row: PurchaseOrder, state: ChangeState, at: datetime) -> Call:
    """Return the statement that closes all open changes of an order; what they held of limits the caller gives back."""
    return Call(_CLOSE, [str(row.tenant_id), str(row.pk), state.value, at.isoformat()])


def deciding_call(change: OrderChange, state: ChangeState, at: datetime) -> Call:
    """Return the statement that closes one change."""
    change.state, change.decided_at, change.more_gross, change.more = state.value, at, Decimal(0), {}
    return save_call(change, "state", "decided_at", "more_gross", "more", at=at)


def proposing_call(change: OrderChange, at: datetime) -> Call:
    """Return the statement that stores a new change, or the next revision of an open one."""
    if change._state.adding:
        change.created_at = change.updated_at = at
        return rows.insert(change)
    return save_call(change, *OrderChange.CONTENT, at=at)
