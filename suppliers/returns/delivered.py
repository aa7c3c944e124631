"""What a buyer has of a delivery, as a new return needs it: the delivery with its order, locked, and what was received.

Source: contract, supply-invoice.md 4 and supply.md 5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import lock_call, row_of, rows_of
from core.pipeline import Call, Rows, Statement, run
from suppliers.deliveries.finding import delivery_lines_call, delivery_lines_of, order_call
from suppliers.deliveries.models import Delivery, DeliveryLine
from suppliers.deliveries.receiving.finding import STANDING
from suppliers.files.handing_over import Handed, Named, check_files, files_calls
from suppliers.orders.finding import WITHIN
from suppliers.orders.models import PurchaseOrder

from .states import VOID


class Accepted(NamedTuple):
    """What was accepted of a line of the delivery at one receipt that was not reversed."""

    line_id: UUID
    lot_number: str
    received_at: datetime
    quantity: int
    serial_numbers: Any
    stocked: int


class Claimed(NamedTuple):
    """Units of a line of the delivery that are on a return already."""

    line_id: UUID
    serial_numbers: Any


_STOCKED: Final = (
    "(SELECT coalesce(sum((e ->> 'quantity')::bigint), 0) FROM jsonb_array_elements(coalesce(c.stock, '[]')) e)::bigint"
)


def accepted_sql(delivery: str) -> str:
    """Write the SQL of what was accepted of a delivery, whose id is given as SQL, as rows of `Accepted`; $1 is the buyer."""
    return (
        f"SELECT c.delivery_line_id AS line_id, c.lot_number, r.received_at, c.accepted AS quantity, c.serial_numbers, {_STOCKED} AS stocked"
        " FROM suppliers_receiptline c JOIN suppliers_receipt r ON r.tenant_id = c.tenant_id AND r.id = c.receipt_id AND r.tenant_id = $1"
        f" WHERE c.tenant_id = $1 AND r.delivery_id = {delivery} AND c.accepted > 0 AND {STANDING}"
        " ORDER BY r.received_at, r.id, c.line_no"
    )


_ACCEPTED = Statement.of(accepted_sql("$2"), row=Accepted)
_CLAIMED = Statement.of(
    "SELECT l.delivery_line_id AS line_id, l.serial_numbers FROM suppliers_returnline l"
    " JOIN suppliers_return v ON v.tenant_id = l.tenant_id AND v.id = l.document_id AND v.tenant_id = $1"
    f" WHERE l.tenant_id = $1 AND v.delivery_id = $2 AND v.status NOT IN ('{VOID[0]}', '{VOID[1]}')",
    row=Claimed,
)
_MANAGED = Statement.of(
    "SELECT n.managed_by_id IS NOT NULL FROM organizations_tenant n"
    " WHERE n.id = (SELECT d.supplier_tenant_id FROM suppliers_delivery d WHERE d.tenant_id = $1 AND d.id = $2)"
)


@dataclass(frozen=True, slots=True)
class Bought:
    """A locked delivery with its order, its lines, what was accepted of them, which units are on returns, and the files named."""

    order: PurchaseOrder
    row: Delivery
    lines: Mapping[UUID, DeliveryLine]
    accepted: Mapping[UUID, Sequence[Accepted]]
    claimed: Mapping[UUID, frozenset[str]]
    is_managed: bool
    files: Mapping[UUID, Handed]


@needs_transaction
def bought(actor: Actor, delivery_id: UUID, named: Named) -> Bought:
    """Lock a delivery of the buyer with its order, and the files that are handed over; the buyer is bound.

    :raises InvalidFields: it has no such delivery in the actor's reach, or no such files.
    """
    own = actor.tenant_id
    given = [str(own), str(delivery_id)]
    order, delivery, lines, accepted, claimed, managed, *files = run(
        [
            order_call(own, delivery_id), lock_call(Delivery, own, delivery_id), delivery_lines_call(own, delivery_id),
            Call(_ACCEPTED, given), Call(_CLAIMED, given), Call(_MANAGED, given), *files_calls(own, named),
        ]
    )  # fmt: skip
    row = row_of(Delivery, delivery)
    if row is None or not WITHIN.holds(actor, row.delivery_location_id):
        message = "There is no such delivery."
        raise InvalidFields(errors=[FieldError("delivery_id", "unknown_delivery", message)])
    handed = check_files(named, files)
    units: dict[UUID, set[str]] = {}
    for one in claimed.of(Claimed):
        units.setdefault(one.line_id, set()).update(one.serial_numbers)
    return Bought(
        rows_of(PurchaseOrder, order)[0], row, {one.id: one for one in delivery_lines_of(lines)}, by_line(accepted),
        {key: frozenset(numbers) for key, numbers in units.items()}, managed.value() == b"t", handed,
    )  # fmt: skip


def by_line(found: Rows) -> dict[UUID, list[Accepted]]:
    """Return what was accepted by the lines of the delivery, the oldest receipt first."""
    kept: dict[UUID, list[Accepted]] = {}
    for one in found.of(Accepted):
        kept.setdefault(one.line_id, []).append(one)
    return kept
