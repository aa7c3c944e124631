"""What a supplier has settled about orders and reservations. Source: contract, supply-shelf.md "Supplier profile"."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import orjson

from core.pipeline import Call, Rows, Statement

DEFAULTS: Final[Mapping[str, Any]] = {
    "auto_allocate": False,
    "max_soft_minutes": 60,
    "reservation_cap_percent": 50,
    "accept_within_hours": 48,
    "cancel_until": "shipped",
    "return_window_days": 30,
}
_STORED = Statement.of("SELECT f.order_settings FROM suppliers_supplierprofile f WHERE f.tenant_id = $1")


def settings_call(supplier_id: UUID) -> Call:
    """Return the statement that reads what a supplier has settled, for a transaction bound to it; see `settings_of`."""
    return Call(_STORED, [str(supplier_id)])


def settings_of(found: Rows) -> dict[str, Any]:
    """Return all settings: the stored ones, and the defaults of the others; a supplier need not have a profile."""
    stored = found.value() if len(found) else None
    return {**DEFAULTS, **(orjson.loads(stored) if stored else {})}
