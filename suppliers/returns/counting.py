"""What returns count in the lines of deliveries and orders, in base units.

A line of a delivery counts all that is on a return which was neither declined nor cancelled, so that no two returns have the
same goods. A line of an order counts what its supplier has really got back, once it is inspected: by so much less is it
billable. Source: contract, supply-invoice.md 2 and 4; decision 114.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement
from suppliers.deliveries.models import DeliveryLine

from .models import ReturnLine


class ReturnedLine(NamedTuple):
    """A line of an order with what was returned of it, and how much of that was credited."""

    line_id: UUID
    returned: int
    credited: int


_RETURNED: Final = Statement.of(
    "SELECT l.order_line_id AS line_id, sum(l.restocked + l.quarantined + l.destroyed + l.to_manufacturer)::bigint AS returned,"
    " sum(l.credited)::bigint AS credited FROM suppliers_returnline l WHERE l.tenant_id = $1"
    " AND l.order_line_id = ANY($2::uuid[]) GROUP BY l.tenant_id, l.order_line_id",
    row=ReturnedLine,
)


def returned_of(buyer_id: UUID, order_line_ids: Collection[UUID]) -> Call:
    """Return the statement that reads what was returned of lines of the buyer's orders, as rows of `ReturnedLine`; it is bound."""
    return Call(_RETURNED, [str(buyer_id), array_literal(order_line_ids)])


def returned_in(found: Rows) -> dict[UUID, ReturnedLine]:
    """Return what `returned_of` has read, by the ids of the lines."""
    return {one.line_id: one for one in found.of(ReturnedLine)}


def claim(lines: Iterable[ReturnLine], delivered: Mapping[UUID, DeliveryLine], sign: int = 1) -> None:
    """Count the goods of lines as being on a return, in memory, or with -1 give them back."""
    for one in lines:
        delivered[one.delivery_line_id].returned += sign * one.base_quantity
