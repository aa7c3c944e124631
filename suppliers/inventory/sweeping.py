"""What happens to stock by itself: reservations whose time is over, and levels that are still to be told of.

Both are safe to run twice and in several workers: what another holds is waited for, and looked at again under its lock.
Source: contract, supply-shelf.md section 7 and supply.md section 8.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from core.actor import system_actor
from core.arrays import array_literal
from core.db import needs_transaction, tenant_context
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from core.watermark import begin_batch
from ledger import public as ledger
from organizations import public as organizations
from suppliers.catalog import availability
from suppliers.rounds import BATCH, by_rounds

from .level_news import AGAIN, level_changed
from .levels import Level, changed, levels_call, levels_of_reservations, lock_levels_of, read_levels
from .models import Reservation, StockLevel
from .reservations import changes
from .states import ReservationKind, ReservationStatus

BY: Final = "system"
_EXPIRE: Final = "suppliers.expire_reservations"
_TELL: Final = "suppliers.tell_levels"
_expiries, _tellings = Rounds(), Rounds()
_LOCK_UNTOLD = Statement.of(
    "SELECT v.id::text FROM suppliers_stocklevel v WHERE v.tenant_id = $1 AND v.id = ANY($2::uuid[]) AND v.is_untold"
    " ORDER BY v.id FOR NO KEY UPDATE"
)
_TOLD = Statement.of(
    "UPDATE suppliers_stocklevel SET told_at = $3, is_untold = false WHERE tenant_id = $1 AND id = ANY($2::uuid[])"
    " RETURNING id::text"
)


def expire_reservations(*, at: datetime, go_on: GoOn = ever) -> int:
    """End the soft reservations whose time is over, tenant by tenant; return their number."""
    return by_rounds(_EXPIRE, _expiries, _lapsed(at), _expire_batch, at, go_on)


def tell_levels(*, at: datetime, go_on: GoOn = ever) -> int:
    """Tell of the levels that have changed within a second of having been told of; return their number."""
    return by_rounds(_TELL, _tellings, _untold(at), _tell_batch, at, go_on)


def _lapsed(at: datetime) -> "QuerySet[Reservation]":
    found: QuerySet[Reservation] = Reservation.objects.filter(
        status=ReservationStatus.ACTIVE, kind=ReservationKind.SOFT, expires_at__lte=at
    )
    return found


def _untold(at: datetime) -> "QuerySet[StockLevel]":
    again = Q(told_at__isnull=True) | Q(told_at__lte=at - AGAIN)
    found: QuerySet[StockLevel] = StockLevel.objects.filter(again, is_untold=True)
    return found


def _expire_batch(tenant_id: UUID, at: datetime) -> int:
    with tenant_context(tenant_id):
        due = _lapsed(at).filter(tenant_id=tenant_id)
        ids = list(due.order_by("expires_at", "id").values_list("id", flat=True)[:BATCH])
        if ids:
            _expire(tenant_id, ids, begin_batch(tenant_id, at))
    return len(ids)


@needs_transaction
def _expire(tenant_id: UUID, ids: list[UUID], at: datetime) -> None:
    """Lock levels and reservations in this order, and end those that are still active and due."""
    locks = [lock_levels_of(tenant_id, ids), changes.lock_call(tenant_id, ids)]
    _, locked, found, held = run([*locks, levels_of_reservations(tenant_id, ids), changes.held_call(tenant_id, ids)])
    due = [
        row
        for row in changes.reservations_of(locked)
        if row.status == ReservationStatus.ACTIVE and row.expires_at is not None and row.expires_at <= at
    ]
    if not due:
        return
    levels, ending = read_levels(found), {row.id for row in due}
    changes.give_back(levels, (one for one in changes.held_of(held) if one.reservation_id in ending))
    moved, news = changed(tenant_id, levels.values(), at, by=BY)
    calls, told = changes.expire(due, at)
    organizations.write_documents(
        system_actor(tenant_id),
        tenant_id,
        changes.touched(due),
        [*moved, *calls, *availability.refresh_calls(tenant_id, {row.product_id for row in due}, at)],
        told=changes.joined({tenant_id: news}, told),
        at=at,
    )


def _tell_batch(tenant_id: UUID, at: datetime) -> int:
    with tenant_context(tenant_id):
        due = _untold(at).filter(tenant_id=tenant_id)
        ids = list(due.order_by("id").values_list("id", flat=True)[:BATCH])
        if ids:
            _tell(tenant_id, ids, begin_batch(tenant_id, at))
    return len(ids)


@needs_transaction
def _tell(tenant_id: UUID, ids: list[UUID], at: datetime) -> None:
    """Tell of locked levels what they hold now."""
    given = [str(tenant_id), array_literal(ids)]
    locked, found = run([Call(_LOCK_UNTOLD, given), levels_call(tenant_id, ids)])
    untold = {UUID((locked.value(number) or b"").decode()) for number in range(len(locked))}
    levels: list[Level] = [level for key, level in read_levels(found).items() if key in untold]
    if not levels:
        return
    facts = [level_changed(level, by=BY, at=at) for level in levels]
    told = Call(_TOLD, [str(tenant_id), array_literal(level.row.id for level in levels), at.isoformat()])
    run([told, *ledger.statements_of_many(actor=system_actor(tenant_id), occurrences=facts, at=at)])
