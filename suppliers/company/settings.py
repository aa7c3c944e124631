"""What a supplier has settled about orders and reservations. Source: contract, supply-shelf.md "Supplier profile"."""

from collections.abc import Mapping
from typing import Any, Final

DEFAULTS: Final[Mapping[str, Any]] = {
    "auto_allocate": False,
    "max_soft_minutes": 60,
    "reservation_cap_percent": 50,
    "accept_within_hours": 48,
    "cancel_until": "shipped",
    "return_window_days": 30,
}


def order_settings(stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return all settings: the stored ones, and the defaults of the others."""
    return {**DEFAULTS, **(stored or {})}
