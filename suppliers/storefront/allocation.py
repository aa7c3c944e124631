"""What a buyer may still take of offers in a shortage. Source: contract, supply-shelf.md "Allocation in shortage".

The market's role reads what a supplier allocates, and no orders. What the buyer has taken is therefore read behind the page, as
the buyer itself, and only where the page has an offer that is short.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from core.pipeline import Call, Rows
from suppliers.orders.standing import Period, taken_call
from suppliers.quoting.shares import taken_of

Read = Callable[[Callable[[UUID], Sequence[Call]]], tuple[Any, list[Rows]]]


class Allocation(NamedTuple):
    """What one buyer may take of an offer, in packs, within so many days."""

    offer_id: UUID
    supplier_id: UUID
    units_per_pack: int
    quantity: int
    period_days: int
    until: str

    def told(self, left: Mapping[UUID, int]) -> dict[str, Any]:
        """Return the allocation as the buyer reads it; `left` are packs by offer, see `read_left`."""
        return {"quantity": self.quantity, "remaining": left[self.offer_id], "until": self.until}


def read_left(read: Read, found: Sequence[Allocation | None], at: datetime) -> dict[UUID, int]:
    """Return the packs that are left for the buyer of each offer that is short; `read` is that of the view."""
    short = [one for one in found if one is not None]
    if not short:
        return {}
    periods = [Period(one.offer_id, one.supplier_id, one.period_days) for one in short]
    _, answers = read(lambda tenant_id: [taken_call(tenant_id, periods, at)])
    taken = taken_of(answers)
    return {one.offer_id: max(0, one.quantity - taken[one.offer_id] // one.units_per_pack) for one in short}
