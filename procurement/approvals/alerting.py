"""The alert of orders whose approval is overdue: open while a step is, closed once it is decided or the order cancelled.

Source: contract, supply-order.md 2 "Approvals" and 5.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core import clock
from core.arrays import array_literal
from core.db import tenant_context
from core.pipeline import Call, Statement, run
from ledger.public import Event
from suppliers.public import AlertType, Cause, Preferences, Severity, settle

from .sweeping import OVERDUE

SUBSCRIBER: Final = "procurement.follow_approvals"
FOLLOWED: Final = (
    OVERDUE, "purchase_order.approved", "purchase_order.approval_rejected", "purchase_order.cancelled",
)  # fmt: skip


class _Late(NamedTuple):
    """An order whose step was told of as overdue."""

    id: UUID
    number: str
    location_id: UUID


_LATE = Statement.of(
    "SELECT t.id, t.number, t.delivery_location_id AS location_id FROM procurement_approvalstep s"
    " JOIN suppliers_purchaseorder t ON t.tenant_id = s.tenant_id AND t.id = s.order_id AND t.tenant_id = $1"
    " WHERE s.tenant_id = $1 AND s.order_id = ANY($2::uuid[]) AND s.told_at IS NOT NULL ORDER BY t.id",
    row=_Late,
)


def follow(event: Event) -> None:
    """Let the alert of an order say what holds now. Safe to run again, and in any order of the facts."""
    with tenant_context(event.tenant_id):
        subject, opens = str(event.resource_id), event.type == OVERDUE
        settle(event.tenant_id, AlertType.APPROVAL_OVERDUE, [subject], _overdue, clock.now(), opens=opens)


def _overdue(tenant_id: UUID, subjects: Sequence[str], preferences: Preferences, at: datetime) -> Iterator[Cause]:
    """Yield the orders whose approvers have not decided in time."""
    (found,) = run([Call(_LATE, [str(tenant_id), array_literal(subjects)])])
    for one in found.of(_Late):
        yield Cause(
            resource_type="purchase_order",
            resource_id=str(one.id),
            severity=Severity.WARNING,
            title=f"Approval overdue: {one.number}",
            body=f"The order {one.number} waits for an approval, and nobody has decided in time.",
            location_id=one.location_id,
        )
