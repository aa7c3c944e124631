"""The end of objects that no file holds: uploads that ended in the middle, deleted and rejected files, closed tenants."""

import logging
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from core.actor import system_actor
from core.arrays import array_literal
from core.db import tenant_context
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from organizations.public import release_quota
from suppliers.rounds import BATCH, by_rounds

from . import storing
from .actions import QUOTA
from .models import LooseObject
from .refusals import StoreAway

_QUEUE: Final = "suppliers.sweep_files"
_sweeps = Rounds()
_CLOSED = Statement.of(
    "SELECT n.id::text FROM organizations_tenant n WHERE n.id = ANY($1::uuid[]) AND n.status = 'closed'"
)

log = logging.getLogger(__name__)


def sweep_objects(*, at: datetime, go_on: GoOn = ever) -> int:
    """Delete the loose objects that are due, and give back what was reserved for them; return their number."""
    due: QuerySet[LooseObject] = LooseObject.objects.filter(due_at__lte=at)
    return by_rounds(_QUEUE, _sweeps, due, _sweep_batch, at, go_on)


def sweep_closed() -> int:
    """Delete all objects of closed tenants; return their number.

    What belongs to no tenant that the database knows stays: a store may serve another database too.
    """
    try:
        return sum(storing.remove_all(tenant_id) for tenant_id in _closed(storing.tenants()))
    except StoreAway:
        log.warning("objects of closed tenants not deleted")
        return 0


def _closed(asked: set[UUID]) -> list[UUID]:
    (found,) = run([Call(_CLOSED, [array_literal(asked)])])
    return [UUID((found.value(number) or b"").decode()) for number in range(len(found))]


def _sweep_batch(tenant_id: UUID, at: datetime) -> int:
    mine = LooseObject.objects.filter(tenant_id=tenant_id, due_at__lte=at)
    with tenant_context(tenant_id):
        due = list(mine.order_by("due_at", "id")[:BATCH])
    for row in due:
        try:
            storing.remove(row.object_key)
        except StoreAway:
            log.warning("object not deleted", extra={"tenant": str(tenant_id)})
            return 0
        with tenant_context(tenant_id):
            deleted, _ = LooseObject.objects.filter(tenant_id=tenant_id, pk=row.pk, due_at__lte=at).delete()
            if deleted and row.reserved_bytes:
                release_quota(actor=system_actor(tenant_id), key=QUOTA, amount=row.reserved_bytes, at=at)
    return len(due)
