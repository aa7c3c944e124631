"""The step of approval that an order waits at: begun when it becomes pending, and anew with each approval that is not the last.

Whoever lets an order become pending runs `begin_call` in the same transaction, and `end_call` where it is pending no more.
Both run behind the lock of the order, bound to its buyer. Source: contract, supply-order.md 2 "Approvals".
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from core.ids import uuid7_text
from core.pipeline import Call, Statement
from suppliers.public import PurchaseOrder

_BEGIN = Statement.of(
    "INSERT INTO procurement_approvalstep AS s"
    " (id, tenant_id, created_at, updated_at, version, order_id, approval_for, due_at, told_at)"
    " VALUES ($3, $1, $5, $5, 1, $2, $4, $6, NULL) ON CONFLICT (tenant_id, order_id) DO UPDATE"
    " SET approval_for = $4, due_at = $6, told_at = NULL, updated_at = $5, version = s.version + 1"
)
_END = Statement.of("DELETE FROM procurement_approvalstep WHERE tenant_id = $1 AND order_id = $2")


def approvals_needed(policies: Mapping[str, Any], row: PurchaseOrder, currency: str) -> int:
    """Return how many approvals the gross of an order needs: those of the highest step that it is strictly over.

    `currency` is the tenant's; an order in another one takes the highest step of all.
    """
    steps = sorted((Decimal(one["over_amount"]), int(one["approvals"])) for one in policies["approval_steps"])
    if row.currency != currency:
        return steps[-1][1] if steps else 0
    return next((approvals for over, approvals in reversed(steps) if row.gross > over), 0)


def begin_call(row: PurchaseOrder, policies: Mapping[str, Any], at: datetime) -> Call:
    """Return the statement that begins the step which a pending order waits at; it is due by the policy of now."""
    due = at + timedelta(hours=policies["approval_overdue_hours"])
    given = [str(row.tenant_id), str(row.id), uuid7_text(), row.approval_for, at.isoformat(), due.isoformat()]
    return Call(_BEGIN, given)


def end_call(row: PurchaseOrder) -> Call:
    """Return the statement by which an order waits at no step any more."""
    return Call(_END, [str(row.tenant_id), str(row.id)])
