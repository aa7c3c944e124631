"""Steps of approval that nobody has decided in time: the buyer is told once for each.

Safe to run twice and in several workers: a step is told under the lock of its order. Source: contract, supply-order.md 2.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from core.actor import system_actor
from core.arrays import array_literal
from core.db import needs_transaction, tenant_context
from core.model_rows import rows_of
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from ledger import public as ledger
from suppliers.public import BATCH, PurchaseOrder, Who, by_rounds, joined, told

from .models import ApprovalStep

OVERDUE: Final = "purchase_order.approval_overdue"
TELL: Final = "procurement.tell_approvals"
_rounds = Rounds()
_COLUMNS: Final = ", ".join(f't."{field.column}"' for field in PurchaseOrder._meta.concrete_fields)
_LOCK_DUE = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_purchaseorder t WHERE t.tenant_id = $1 AND t.id IN (SELECT s.order_id"
    " FROM procurement_approvalstep s WHERE s.tenant_id = $1 AND s.told_at IS NULL AND s.due_at <= $2"
    f" ORDER BY s.due_at, s.order_id LIMIT {BATCH}) ORDER BY t.id FOR UPDATE OF t"
)
_TELL = Statement.of(
    "UPDATE procurement_approvalstep s SET told_at = $3, updated_at = $3, version = s.version + 1"
    " WHERE s.tenant_id = $1 AND s.order_id = ANY($2::uuid[]) AND s.told_at IS NULL AND s.due_at <= $3"
    " RETURNING s.order_id::text"
)


def tell_approvals(*, at: datetime, go_on: GoOn = ever) -> int:
    """Tell buyers of the steps of approval that are overdue; return how many were looked at."""
    return by_rounds(TELL, _rounds, _due(at), _batch, at, go_on)


def _due(at: datetime) -> "QuerySet[ApprovalStep]":
    found: QuerySet[ApprovalStep] = ApprovalStep.objects.filter(told_at__isnull=True, due_at__lte=at)
    return found


def _batch(tenant_id: UUID, at: datetime) -> int:
    with tenant_context(tenant_id):
        return _tell(tenant_id, at)


@needs_transaction
def _tell(tenant_id: UUID, at: datetime) -> int:
    """Lock orders that wait for too long, look again which of them still do, and tell of those."""
    (locked,) = run([Call(_LOCK_DUE, [str(tenant_id), at.isoformat()])])
    rows = rows_of(PurchaseOrder, locked)
    if not rows:
        return 0
    (found,) = run([Call(_TELL, [str(tenant_id), array_literal(row.id for row in rows), at.isoformat()])])
    late = {(found.value(number) or b"").decode() for number in range(len(found))}
    facts = [told(row, [OVERDUE], was=row.status, by=Who.SYSTEM) for row in rows if str(row.id) in late]
    ledger.record_for(joined(*facts), actor=system_actor(tenant_id), at=at)
    return len(rows)
