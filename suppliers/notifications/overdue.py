"""Alerts of orders that were to be answered before now, of the buyer and of the supplier. Source: contract, supply-order.md 2 and 5."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core import clock
from core.arrays import array_literal
from core.db import tenant_context
from core.pipeline import Call, Statement, run
from ledger.public import Event

from .alerts import Cause, settle
from .preferences import Preferences
from .states import Severity, Type

SUBSCRIBER: Final = "suppliers.follow_answers"
ANSWERED: Final = (
    "order.accepted", "order.change_proposed", "order.change_declined", "order.rejected", "order.cancelled",
    "purchase_order.accepted", "purchase_order.change_proposed", "purchase_order.change_declined",
    "purchase_order.rejected", "purchase_order.cancelled",
)  # fmt: skip


class _Overdue(NamedTuple):
    """An order that waits for its supplier, the number by which the tenant knows it, and where it goes to."""

    id: UUID
    number: str
    resource_type: str
    accept_by: str
    location_id: UUID | None


# The own row of a buyer, or the copy of a supplier.
_OVERDUE = Statement.of(
    "SELECT o.id, o.number, 'purchase_order' AS resource_type, o.accept_by::text, o.delivery_location_id AS location_id"
    " FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.id = ANY($2::uuid[]) AND o.accept_by <= $3::timestamptz"
    " AND (o.status = 'sent' OR o.status = 'change_proposed' AND o.proposed_by = 'buyer')"
    " UNION ALL SELECT c.id, c.number, 'order', c.representation ->> 'accept_by', NULL::uuid FROM suppliers_receivedorder c"
    " WHERE c.tenant_id = $1 AND c.id = ANY($2::uuid[]) AND c.awaiting = 'supplier'"
    " AND (c.representation ->> 'accept_by')::timestamptz <= $3::timestamptz",
    row=_Overdue,
)


def overdue_orders(tenant_id: UUID, subjects: Sequence[str], preferences: Preferences, at: datetime) -> Iterator[Cause]:
    """Yield the orders that still wait for their supplier."""
    (found,) = run([Call(_OVERDUE, [str(tenant_id), array_literal(subjects), at.isoformat()])])
    for one in found.of(_Overdue):
        whose = "The supplier was" if one.resource_type == "purchase_order" else "You were"
        yield Cause(
            resource_type=one.resource_type,
            resource_id=str(one.id),
            severity=Severity.WARNING,
            title=f"Not answered in time: {one.number}"[:200],
            body=f"{whose} to answer order {one.number} by {one.accept_by}. It can still be answered.",
            location_id=one.location_id,
        )


def tell_overdue(tenant_id: UUID, orders: Collection[UUID], at: datetime) -> None:
    """Alert a tenant of orders that are overdue."""
    with tenant_context(tenant_id):
        settle(tenant_id, Type.ACCEPTANCE_OVERDUE, [str(one) for one in orders], overdue_orders, at)


def follow_answers(event: Event) -> None:
    """Close the alert of an order that was answered or has ended. Safe to run again, and in any order of the facts."""
    with tenant_context(event.tenant_id):
        subject = [str(event.resource_id)]
        settle(event.tenant_id, Type.ACCEPTANCE_OVERDUE, subject, overdue_orders, clock.now(), opens=False)
