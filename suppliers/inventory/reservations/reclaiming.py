"""Taking back what reservations hold whose time is over, by whoever is short of stock. Source: contract, supply-shelf.md "Availability"."""

from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

from core.db import needs_transaction
from core.pipeline import run
from suppliers.inventory.levels import Level
from suppliers.inventory.models import Reservation

from . import changes


@needs_transaction
def take_lapsed(
    supplier_id: UUID, products: Collection[UUID], levels: Mapping[UUID, Level], at: datetime
) -> list[Reservation]:
    """Lock the reservations whose time is over, and take what they hold off the locked levels; `changes.expire` ends them."""
    if not any(level.lapsed for level in levels.values()):
        return []
    (found,) = run([changes.lock_lapsed_call(supplier_id, products, at)])
    ended = changes.reservations_of(found)
    (held,) = run([changes.held_call(supplier_id, [row.id for row in ended])])
    changes.give_back(levels, changes.held_of(held), lapsed=True)
    return ended
