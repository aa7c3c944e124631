"""A lot is recalled, or its recall withdrawn: what the request writes. The buyers are told behind it, by `walking`.

The caller holds the lot. Lock order: lot, recall, levels. Source: contract, supply-shelf.md "Recall".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core import jobs, rows
from core.actor import Actor
from core.db import needs_transaction, role_context
from core.ids import uuid7
from core.model_rows import rows_of, save_call
from core.pipeline import Call, Statement, run
from core.row_security import DISPATCHER
from suppliers.inventory.events import LotRecalled
from suppliers.inventory.models import Lot
from suppliers.inventory.states import NoticeStatus

from . import carriers
from .models import Recall, RecallNotice

WALK: Final = "suppliers.walk_recalls"
_COLUMNS = ", ".join(f'"{field.column}"' for field in Recall._meta.concrete_fields)
_LOCK_CURRENT = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_recall WHERE tenant_id = $1 AND lot_id = $2 AND withdrawn_at IS NULL FOR UPDATE"
)


class Concerned(NamedTuple):
    """A buyer to whom goods of a lot are promised, or who has received some; base units."""

    buyer_tenant_id: UUID
    name: str
    reservations: int
    reserved: int
    received: int


_CONCERNED = Statement.of(
    "SELECT r.buyer_tenant_id, o.name, count(DISTINCT r.id) FILTER (WHERE a.status = 'active') AS reservations,"
    " coalesce(sum(a.base_quantity) FILTER (WHERE a.status = 'active'), 0)::bigint AS reserved, 0::bigint AS received"
    " FROM suppliers_stocklevel v"
    " JOIN suppliers_allocation a ON a.tenant_id = v.tenant_id AND a.level_id = v.id AND a.tenant_id = $1"
    " JOIN suppliers_reservation r ON r.tenant_id = a.tenant_id AND r.id = a.reservation_id AND r.tenant_id = $1"
    " JOIN organizations_tenant o ON o.id = r.buyer_tenant_id"
    " WHERE v.tenant_id = $1 AND v.lot_id = $2 AND a.status IN ('active', 'consumed')"
    " GROUP BY r.tenant_id, r.buyer_tenant_id, o.name ORDER BY r.buyer_tenant_id",
    row=Concerned,
)


# Whose lots come from the lot $2 of the supplier $1, whether they still hold some or not.
_HOLDERS = Statement.of(
    "SELECT l.tenant_id AS buyer_tenant_id, o.name, 0::bigint AS reservations, 0::bigint AS reserved, 0::bigint AS received"
    " FROM suppliers_lot l"
    " JOIN organizations_tenant o ON o.id = l.tenant_id WHERE l.origin_tenant_id = $1 AND l.origin_lot_id = $2"
    " GROUP BY l.tenant_id, o.name ORDER BY l.tenant_id",
    row=Concerned,
    across="finds the buyers who hold goods of a recalled lot, as the dispatcher's role",
)


@needs_transaction
def concerned(tenant_id: UUID, lot_id: UUID) -> list[Concerned]:
    """Return the buyers that a recall of a lot concerns: to whom some is promised or delivered, and who has received some."""
    given = [str(tenant_id), str(lot_id)]
    promised, *delivered = run([Call(_CONCERNED, given), *carriers.buyers_calls(tenant_id, lot_id)])
    with role_context(DISPATCHER):
        (holding,) = run([Call(_HOLDERS, given)])
    carried = [Concerned(one.buyer_tenant_id, one.name, 0, 0, one.received) for one in carriers.buyers_of(delivered)]
    received = {one.buyer_tenant_id: one.received for one in carried}
    found = {one.buyer_tenant_id: one for one in (*holding.of(Concerned), *carried, *promised.of(Concerned))}
    return [found[key]._replace(received=received.get(key, 0)) for key in sorted(found)]


@needs_transaction
def current_recall(lot: Lot) -> Recall | None:
    """Return the recall of a locked lot that was not withdrawn, locked; None for none."""
    (found,) = run([Call(_LOCK_CURRENT, [str(lot.tenant_id), str(lot.id)])])
    return next(iter(rows_of(Recall, found)), None)


@needs_transaction
def issue(lot: Lot, said: Mapping[str, Any], reason: str, at: datetime) -> tuple[Recall, list[Call]]:
    """Return the new recall of a lot, whose levels are locked, and the statements that write it with its notices."""
    buyers = concerned(lot.tenant_id, lot.id)
    recall = Recall(
        tenant_id=lot.tenant_id,
        lot_id=lot.id,
        product_id=lot.product_id,
        lot_number=lot.lot_number,
        expiry_date=lot.expiry_date,
        reason=reason,
        issued_at=at,
        is_walked=not buyers,
        created_at=at,
        updated_at=at,
        **columns_of(said),
    )
    jobs.enqueue(WALK, expires_seconds=jobs.RING_SECONDS)
    return recall, [rows.insert(recall), *_notices(recall, buyers, at)]


def columns_of(said: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of what a body says of a recall."""
    texts = {name: said.get(name) or "" for name in ("reference", "authority", "instructions")}
    return {"recall_class": said["class"], **texts}


def _notices(recall: Recall, buyers: Sequence[Concerned], at: datetime) -> list[Call]:
    made = [
        {
            "id": str(uuid7()),
            "tenant_id": str(recall.tenant_id),
            "created_at": at.isoformat(),
            "updated_at": at.isoformat(),
            "version": 1,
            "recall_id": str(recall.id),
            "buyer_tenant_id": str(one.buyer_tenant_id),
            "status": NoticeStatus.PENDING.value,
            "reserved": one.reserved,
            "received": one.received,
            "note": "",
        }
        for one in buyers
    ]
    return [rows.insert_all(RecallNotice, made)] if made else []


@needs_transaction
def withdraw(recall: Recall, reason: str, at: datetime) -> Call:
    """Return the statement that withdraws a locked recall; the walk then tells the buyers."""
    recall.withdrawn_at, recall.withdrawal_reason, recall.is_walked = at, reason, False
    jobs.enqueue(WALK, expires_seconds=jobs.RING_SECONDS)
    return save_call(recall, "withdrawn_at", "withdrawal_reason", "is_walked", at=at)


def recalled(
    recall: Recall, notice: RecallNotice | None = None, *, received: int = 0, still_held: int | None = None
) -> LotRecalled:
    """Return what the supplier is told of a recall, or with a notice, what its buyer is told.

    `received` and `still_held` are what the buyer's own stock says. It may have received more than was delivered by orders.
    """
    return LotRecalled(
        product_id=str(recall.product_id),
        lot_number=recall.lot_number,
        status="recalled",
        expiry_date=recall.expiry_date.isoformat() if recall.expiry_date else None,
        by="supplier",
        supplier_id=str(recall.tenant_id),
        recall_id=str(recall.id),
        recall_class=recall.recall_class,
        notice_id=str(notice.id) if notice else None,
        received=max(notice.received, received) if notice else None,
        still_held=still_held,
    )


def may_withdraw(actor: Actor) -> bool:
    """Tell whether the actor may withdraw a recall: an administrator of the supplier, in person."""
    return "supplier_admin" in actor.roles
