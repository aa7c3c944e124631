"""Whom a recall concerns: counted when it is issued, and listed behind it, each buyer with a notice.

Nothing of a recalled lot is promised or sent any more, so what is listed a moment later is what was promised and delivered
before. Source: contract, supply-shelf.md "Recall".
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core import rows
from core.db import needs_transaction, role_context, tenant_context
from core.ids import uuid7
from core.pipeline import Call, Rows, Statement, run
from core.row_security import DISPATCHER
from core.watermark import begin_batch
from suppliers.inventory.states import NoticeStatus

from . import carriers
from .models import RecallNotice


class Concerned(NamedTuple):
    """A buyer to whom goods of a lot are promised, or who has received some; base units."""

    buyer_tenant_id: UUID
    name: str
    reservations: int
    reserved: int
    received: int


class _Unlisted(NamedTuple):
    id: UUID
    lot_id: UUID


# Step by step, each by its key: OFFSET 0 keeps the planner to that, whatever it believes the numbers of rows to be. The lot
# names its product, since the index of levels begins with it. What was shipped of the lot is found by the deliveries.
_PROMISED = Statement.of(
    "SELECT a.buyer_tenant_id, o.name, count(*) AS reservations, sum(a.base_quantity)::bigint AS reserved, 0::bigint AS received"
    " FROM (SELECT v.id FROM suppliers_stocklevel v WHERE v.tenant_id = $1 AND v.lot_id = $2 AND v.product_id ="
    " (SELECT l.product_id FROM suppliers_lot l WHERE l.tenant_id = $1 AND l.id = $2) OFFSET 0) v"
    " CROSS JOIN LATERAL (SELECT h.buyer_tenant_id, h.reservation_id, sum(h.base_quantity) AS base_quantity"
    " FROM suppliers_allocation h WHERE h.tenant_id = $1 AND h.level_id = v.id AND h.status = 'active'"
    " GROUP BY h.tenant_id, 1, 2 OFFSET 0) a"
    " JOIN organizations_tenant o ON o.id = a.buyer_tenant_id"
    " GROUP BY a.buyer_tenant_id, o.name ORDER BY a.buyer_tenant_id",
    row=Concerned,
)
# Whose lots come from the lot $2 of the supplier $1, whether they still hold some or not; also whose were taken in before
# the supplier had the lot, and so name no origin yet: they have its product and number.
_HOLDERS_OF: Final = (
    "(SELECT l.tenant_id FROM suppliers_lot l WHERE l.origin_tenant_id = $1 AND l.origin_lot_id = $2 UNION"
    " SELECT h.tenant_id FROM (SELECT l.product_id, l.lot_number FROM suppliers_lot l WHERE l.tenant_id = $1 AND l.id = $2"
    " OFFSET 0) o CROSS JOIN LATERAL (SELECT l.tenant_id FROM suppliers_lot l WHERE l.product_id = o.product_id"
    " AND l.lot_number = o.lot_number AND l.origin_lot_id IS NULL OFFSET 0) h WHERE h.tenant_id <> $1)"
)
_ACROSS: Final = "finds the buyers who hold goods of a recalled lot, as the dispatcher's role"
_HOLDING = Statement.of(f"SELECT h.tenant_id FROM {_HOLDERS_OF} h", across=_ACROSS)
_HOLDERS = Statement.of(
    "SELECT h.tenant_id AS buyer_tenant_id, o.name, 0::bigint AS reservations, 0::bigint AS reserved, 0::bigint AS received"
    f" FROM {_HOLDERS_OF} h JOIN organizations_tenant o ON o.id = h.tenant_id ORDER BY h.tenant_id",
    row=Concerned,
    across=_ACROSS,
)
_TAKE_UNLISTED = Statement.of(
    "UPDATE suppliers_recall r SET buyers_to_list = NULL FROM (SELECT u.id FROM suppliers_recall u"
    " WHERE u.tenant_id = $1 AND NOT u.is_walked AND u.buyers_to_list IS NOT NULL"
    " ORDER BY u.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) d WHERE r.tenant_id = $1 AND r.id = d.id RETURNING r.id, r.lot_id",
    row=_Unlisted,
)


@needs_transaction
def count_concerned(tenant_id: UUID, lot_id: UUID) -> int:
    """Return how many buyers a recall of a lot of the bound tenant concerns."""
    read = _read(tenant_id, lot_id, _HOLDING)
    return len({found.value(number) for found in read for number in range(len(found))})


@needs_transaction
def concerned(tenant_id: UUID, lot_id: UUID) -> list[Concerned]:
    """Return the buyers that a recall of a lot concerns: to whom some is promised or delivered, and who has received some."""
    promised, holding, *delivered = _read(tenant_id, lot_id, _HOLDERS)
    carried = [Concerned(one.buyer_tenant_id, one.name, 0, 0, one.received) for one in carriers.buyers_of(delivered)]
    received = {one.buyer_tenant_id: one.received for one in carried}
    found = {one.buyer_tenant_id: one for one in (*holding.of(Concerned), *carried, *promised.of(Concerned))}
    return [found[key]._replace(received=received.get(key, 0)) for key in sorted(found)]


def _read(tenant_id: UUID, lot_id: UUID, holders: Statement) -> Sequence[Rows]:
    """Return to whom some is promised, who holds some, and to whom some was delivered; the buyer's id is the first column."""
    given = [str(tenant_id), str(lot_id)]
    promised, *delivered = run([Call(_PROMISED, given), *carriers.buyers_calls(tenant_id, lot_id)])
    with role_context(DISPATCHER):
        (holding,) = run([Call(holders, given)])
    return [promised, holding, *delivered]


def list_buyers(tenant_id: UUID, at: datetime) -> None:
    """Write the notices of a supplier's recalls that have none yet; recalls that another worker lists are passed by."""
    while _list_buyers(tenant_id, at):
        pass


def _list_buyers(tenant_id: UUID, at: datetime) -> bool:
    """Write the notices of one recall, in a transaction of its own; tell whether there was one."""
    with tenant_context(tenant_id):
        at = begin_batch(tenant_id, at)
        (found,) = run([Call(_TAKE_UNLISTED, [str(tenant_id)])])
        for recall in found.of(_Unlisted):
            made = [_notice(tenant_id, recall.id, one, at) for one in concerned(tenant_id, recall.lot_id)]
            run([rows.insert_all(RecallNotice, made)] if made else [])
        return bool(found)


def _notice(tenant_id: UUID, recall_id: UUID, buyer: Concerned, at: datetime) -> dict[str, object]:
    return {
        "id": str(uuid7()),
        "tenant_id": str(tenant_id),
        "created_at": at.isoformat(),
        "updated_at": at.isoformat(),
        "version": 1,
        "recall_id": str(recall_id),
        "buyer_tenant_id": str(buyer.buyer_tenant_id),
        "status": NoticeStatus.PENDING.value,
        "reserved": buyer.reserved,
        "received": buyer.received,
        "note": "",
    }
