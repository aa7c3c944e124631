"""How far an order is, derived from the counters of its lines, which are in base units. Source: contract, supply-order.md 2."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import NamedTuple
from uuid import UUID

from core.pipeline import Call, Rows

from .models import PurchaseOrder, PurchaseOrderLine
from .states import Fulfilment


class Prepared(NamedTuple):
    """How much of a line is in preparation: in shipments that have not left."""

    line_id: UUID
    base_quantity: int


# The supplier and the order; the statement is bound to the supplier and gives rows of `Prepared`.
_asked: list[Callable[[UUID, UUID], Call]] = []


def ask(question: Callable[[UUID, UUID], Call]) -> None:
    """Register the statement that reads what of an order is in preparation; the last registration holds."""
    _asked[:] = [question]


def prepared_calls(row: PurchaseOrder) -> list[Call]:
    """Return the statement that reads what of an order is in preparation, bound to the supplier; `prepared_of` reads it."""
    return [question(row.supplier_tenant_id, row.id) for question in _asked]


def prepared_of(found: Sequence[Rows]) -> dict[UUID, int]:
    """Return what is in preparation, by the ids of lines."""
    sums: dict[UUID, int] = defaultdict(int)
    for one in (one for rows in found for one in rows.of(Prepared)):
        sums[one.line_id] += one.base_quantity
    return sums


def counted(line: PurchaseOrderLine) -> int:
    """Return the base units of a line that are not cancelled."""
    return int(line.ordered - line.cancelled)


def delivered(line: PurchaseOrderLine) -> int:
    """Return what was shipped of a line and counts as such: what was rejected or short is open again, but for what came beyond."""
    return max(0, line.shipped - max(0, line.rejected + line.short - line.over_received))


def tolerated(line: PurchaseOrderLine) -> int:
    """Return what may be shipped of a line above what is accepted: of that as many parts as its agreement says.

    `tolerance` is as much for all that is ordered, and the most.
    """
    parts = (line.agreement or {}).get("qty_tolerance_bp")
    if parts is None:
        return int(line.tolerance * line.accepted // line.ordered)
    return int(min(line.tolerance, line.accepted * parts // 10_000))


def on_the_way(line: PurchaseOrderLine) -> int:
    """Return what was shipped of a line, and of which nobody has said what became of it."""
    return line.shipped - line.received - line.rejected - line.short


def fulfilment_of(lines: Iterable[PurchaseOrderLine]) -> Fulfilment:
    """Return how far the goods of an order are; what is cancelled counts as done where something else was shipped."""
    of = [*lines]
    if not any(one.shipped for one in of):
        return Fulfilment.UNFULFILLED
    if all(one.received + one.cancelled >= one.ordered for one in of):
        return Fulfilment.RECEIVED
    if any(one.received for one in of):
        return Fulfilment.PARTIALLY_RECEIVED
    is_all = all(delivered(one) + one.cancelled >= one.ordered for one in of)
    return Fulfilment.SHIPPED if is_all else Fulfilment.PARTIALLY_SHIPPED


def is_complete(lines: Iterable[PurchaseOrderLine]) -> bool:
    """Tell whether an order closes by itself: all is received or cancelled, and all that was kept is invoiced."""
    return all(
        on_the_way(one) <= 0  # less than nothing where more was received than was shipped
        and one.received + one.cancelled >= one.ordered
        and one.owed <= 0
        for one in lines
    )


def cut(line: PurchaseOrderLine, rest: int) -> int:
    """Cancel of a line all but `rest` base units, in memory; return how much that was."""
    more = counted(line) - rest
    line.cancelled += more
    fit(line)
    return more


def fit(line: PurchaseOrderLine) -> None:
    """Let a line accept and put off no more than is wanted of it, in memory; what comes later goes first."""
    line.accepted = min(line.accepted, counted(line))
    line.backordered = min(line.backordered, counted(line) - line.accepted)
    drop_dates(line)


def drop_dates(line: PurchaseOrderLine) -> None:
    """Let a line name no day for what is not accepted of it, nor for what does not come later, in memory."""
    if not line.accepted:
        line.promised_date = None
    if not line.backordered:
        line.backorder_date = None


def asked_for(row: PurchaseOrder, line: PurchaseOrderLine) -> date | None:
    """Return the day for which the buyer asks for a line."""
    day: date | None = line.requested_date or row.requested_delivery_date
    return day


def promise(line: PurchaseOrderLine, day: date | None) -> None:
    """Promise a line for a day, in memory."""
    line.promised_date = day
    line.first_promised_date = line.first_promised_date or day
