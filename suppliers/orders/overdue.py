"""Orders that their supplier has not answered in time: both parties are alerted once, until it is answered.

Source: contract, supply-order.md 2 "The supplier's answer" and 5.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from core.arrays import array_literal
from core.db import tenant_context
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from suppliers.rounds import BATCH, by_rounds

from .models import PurchaseOrder
from .states import OrderStatus, Party

_QUEUE: Final = "suppliers.tell_overdue_orders"
_rounds = Rounds()
# The order waits for its supplier: sent, or changed by the buyer; as `AWAITING_SQL`.
_DUE: Final = Q(status=OrderStatus.SENT) | Q(status=OrderStatus.CHANGE_PROPOSED, proposed_by=Party.BUYER)
# Neither versions nor times of an order move by it.
_NOTE = Statement.of(
    "UPDATE suppliers_purchaseorder o SET overdue_told_at = $3 WHERE o.tenant_id = $1 AND o.id = ANY($2::uuid[])"
    " AND o.overdue_told_at IS NULL RETURNING o.id::text"
)
Tell = Callable[[UUID, Collection[UUID], datetime], None]
_listeners: list[Tell] = []


def tell_overdue(listener: Tell) -> None:
    """Register who alerts a tenant of its overdue orders; the last registration holds."""
    _listeners[:] = [listener]


def tell_overdue_orders(*, at: datetime, go_on: GoOn = ever) -> int:
    """Tell both parties of orders that were to be answered before now; return the number of orders."""
    return by_rounds(_QUEUE, _rounds, _due(at), _tell_batch, at, go_on)


def _due(at: datetime) -> "QuerySet[PurchaseOrder]":
    # The states stand first as the index has them.
    open_states = (OrderStatus.SENT.value, OrderStatus.CHANGE_PROPOSED.value)
    found: QuerySet[PurchaseOrder] = PurchaseOrder.objects.filter(
        _DUE, status__in=open_states, overdue_told_at__isnull=True, accept_by__lte=at, accepted_at__isnull=True
    )
    return found


def _tell_batch(tenant_id: UUID, at: datetime) -> int:
    """Alert a buyer and its suppliers of some orders, the former at last: an order is noted once all were told."""
    with tenant_context(tenant_id):
        due = _due(at).filter(tenant_id=tenant_id).order_by("accept_by", "id")[:BATCH]
        found = list(due.values_list("id", "supplier_tenant_id"))
    by_supplier: dict[UUID, list[UUID]] = {}
    for key, supplier_id in found:
        by_supplier.setdefault(supplier_id, []).append(key)
    for supplier_id, keys in sorted(by_supplier.items()):
        _tell(supplier_id, keys, at)
    if found:
        keys = [key for key, _ in found]
        _tell(tenant_id, keys, at)
        with tenant_context(tenant_id):
            run([Call(_NOTE, [str(tenant_id), array_literal(sorted(keys)), at.isoformat()])])
    return len(found)


def _tell(tenant_id: UUID, keys: Collection[UUID], at: datetime) -> None:
    for listener in _listeners:
        listener(tenant_id, keys, at)
