"""What is asked of orders when stock breaks that is allocated to them; the room of orders stands above and registers the answers.

Who starts at stock reads without locks which orders are concerned, locks these first, then lots and levels (contract, supply.md
5). An order that has come to hold stock meanwhile is taken only where nobody else has it; else the caller may try again.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.db import needs_transaction
from core.pipeline import Call, Statement, run
from ledger.public import Occurrence
from organizations.public import Part
from suppliers.inventory.models import Reservation


class Promised(NamedTuple):
    """A line of an order to which stock is allocated, and whose it is."""

    line_id: UUID
    buyer_id: UUID


Broken = tuple[list[Part], Mapping[UUID, Sequence[Occurrence]]]


class Books(NamedTuple):
    """`hold` (supplier, lines) locks the orders of lines. `broken` (supplier, reservations that ended, instant) counts what

    their lines lose, and returns what is written in the buyers' rows, and told. Both leave the supplier bound.
    """

    hold: Callable[[UUID, Sequence[Promised]], None]
    broken: Callable[[UUID, Sequence[Reservation], datetime], Broken]


# Step by step, each by its key: OFFSET 0 keeps the planner to that. A lot names its product, with which the index of levels begins.
_PROMISED = Statement.of(
    "SELECT DISTINCT r.purchase_order_line_id AS line_id, r.buyer_tenant_id AS buyer_id FROM (SELECT v.id"
    " FROM suppliers_stocklevel v WHERE v.tenant_id = $1 AND v.product_id = ANY($2::uuid[]) UNION SELECT v.id"
    " FROM suppliers_stocklevel v WHERE v.tenant_id = $1 AND v.lot_id = $3 AND v.product_id ="
    " (SELECT l.product_id FROM suppliers_lot l WHERE l.tenant_id = $1 AND l.id = $3)) v"
    " CROSS JOIN LATERAL (SELECT h.reservation_id FROM suppliers_allocation h WHERE h.tenant_id = $1 AND h.level_id = v.id"
    " AND h.status = 'active' OFFSET 0) a"
    " CROSS JOIN LATERAL (SELECT q.purchase_order_line_id, q.buyer_tenant_id FROM suppliers_reservation q"
    " WHERE q.tenant_id = $1 AND q.id = a.reservation_id OFFSET 0) r"
    " WHERE ($4::uuid IS NULL OR r.buyer_tenant_id = $4) AND r.purchase_order_line_id IS NOT NULL",
    row=Promised,
)
_asked: list[Books] = []


def ask(books: Books) -> None:
    """Register what answers for orders; the last registration holds."""
    _asked[:] = [books]


@needs_transaction
def hold_orders(
    tenant_id: UUID, *, products: Collection[UUID] = (), lot_id: UUID | None = None, buyer_id: UUID | None = None
) -> None:
    """Lock the orders to which stock of some products or of a lot is allocated, before any of the stock is locked."""
    given = [str(tenant_id), array_literal(products), *(str(one) if one else None for one in (lot_id, buyer_id))]
    (found,) = run([Call(_PROMISED, given)])
    if promised := found.of(Promised):
        _asked[0].hold(tenant_id, promised)


@needs_transaction
def broken_of(tenant_id: UUID, rows: Sequence[Reservation], at: datetime) -> Broken:
    """Let the lines of orders follow reservations that have just broken.

    :raises Busy: somebody else has an order that came to hold stock meanwhile.
    """
    of_orders = [row for row in rows if row.purchase_order_line_id is not None]
    return _asked[0].broken(tenant_id, of_orders, at) if of_orders else ([], {})
