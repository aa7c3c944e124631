"""A lot is recalled, or its recall withdrawn: what the request writes. The buyers are listed and told behind it, by `walking`.

The caller holds the lot. Lock order: lot, recall, levels. Source: contract, supply-shelf.md "Recall".
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core import jobs, rows
from core.actor import Actor
from core.db import needs_transaction
from core.model_rows import rows_of, save_call
from core.pipeline import Call, Statement, run
from suppliers.inventory.events import LotRecalled
from suppliers.inventory.models import Lot

from .buyers import count_concerned
from .models import Recall, RecallNotice

WALK: Final = "suppliers.walk_recalls"
_COLUMNS = ", ".join(f'"{field.column}"' for field in Recall._meta.concrete_fields)
_LOCK_CURRENT = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_recall WHERE tenant_id = $1 AND lot_id = $2 AND withdrawn_at IS NULL FOR UPDATE"
)


@needs_transaction
def current_recall(lot: Lot) -> Recall | None:
    """Return the recall of a locked lot that was not withdrawn, locked; None for none."""
    (found,) = run([Call(_LOCK_CURRENT, [str(lot.tenant_id), str(lot.id)])])
    return next(iter(rows_of(Recall, found)), None)


@needs_transaction
def issue(lot: Lot, said: Mapping[str, Any], reason: str, at: datetime) -> tuple[Recall, Call]:
    """Return the new recall of a lot, whose levels are locked, and the statement that writes it; `buyers` lists them later."""
    buyers = count_concerned(lot.tenant_id, lot.id)
    recall = Recall(
        tenant_id=lot.tenant_id,
        lot_id=lot.id,
        product_id=lot.product_id,
        lot_number=lot.lot_number,
        expiry_date=lot.expiry_date,
        reason=reason,
        issued_at=at,
        is_walked=not buyers,
        buyers_to_list=buyers or None,
        created_at=at,
        updated_at=at,
        **columns_of(said),
    )
    jobs.enqueue(WALK, expires_seconds=jobs.RING_SECONDS)
    return recall, rows.insert(recall)


def columns_of(said: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of what a body says of a recall."""
    texts = {name: said.get(name) or "" for name in ("reference", "authority", "instructions")}
    return {"recall_class": said["class"], **texts}


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
