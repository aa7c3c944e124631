"""Lots in stock that expire soon or have expired: told once for each threshold of their tenant, by the date where they lie.

Safe to run twice and in several workers: a lot that another holds is passed by. Source: contract, supply-shelf.md "Lot".
"""

from datetime import date, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

import orjson
from django.db.models import Q, QuerySet

from core.actor import system_actor
from core.arrays import in_document
from core.db import needs_transaction, tenant_context
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from ledger import public as ledger
from suppliers.rounds import BATCH, by_rounds

from .events import LotEvent, LotExpired, LotExpiring
from .models import Lot

DAYS: Final = (90, 30, 7)  # before the last day of use, where the tenant has settled no others
MOST_DAYS: Final = 365
EXPIRED: Final = 0
BY: Final = "system"
_TELL: Final = "suppliers.tell_expiries"
_tellings = Rounds()
_EASTERNMOST: Final = timedelta(hours=14)  # there it is tomorrow first


class Due(NamedTuple):
    """A lot that is to be told of: `left` is how many days it lasts, below 0 once it has expired; `step` is what is told."""

    id: UUID
    product_id: UUID
    lot_number: str
    expiry_date: str
    status: str
    version: int
    left: int
    step: int


LEFT = (
    "SELECT min(l.expiry_date - ($2::timestamptz AT TIME ZONE coalesce(NULLIF(o.time_zone, ''), n.time_zone))::date) AS days"
    " FROM suppliers_stocklevel v"
    " JOIN organizations_location o ON o.tenant_id = v.tenant_id AND o.id = v.location_id AND o.tenant_id = $1"
    " JOIN organizations_tenant n ON n.id = v.tenant_id"
    " WHERE v.tenant_id = $1 AND v.product_id = l.product_id AND v.lot_id = l.id AND v.on_hand > 0"
)
# What the tenant has settled stands in a table of the room of notifications.
_DAYS = (
    "SELECT unnest(coalesce((SELECT f.expiry_days FROM suppliers_notificationpreference f WHERE f.tenant_id = $1),"
    f" '{{{','.join(map(str, DAYS))}}}'::smallint[]))"
)
_STEP = f"CASE WHEN d.days < 0 THEN {EXPIRED}::smallint ELSE (SELECT min(g.step) FROM ({_DAYS}) AS g (step) WHERE d.days <= g.step) END"
_DUE = Statement.of(
    "SELECT l.id, l.product_id, l.lot_number, l.expiry_date::text, l.status, l.version, d.days AS left, s.step"
    f" FROM suppliers_lot l CROSS JOIN LATERAL ({LEFT}) d CROSS JOIN LATERAL (SELECT {_STEP} AS step) s"
    f" WHERE l.tenant_id = $1 AND l.expiry_date <= (SELECT $3::date - {MOST_DAYS} + max(g.step)::int FROM ({_DAYS}) AS g (step)) AND s.step < coalesce(l.expiry_told, 32767)"
    f" ORDER BY l.id LIMIT {BATCH} FOR NO KEY UPDATE OF l SKIP LOCKED",
    row=Due,
)
_TOLD = Statement.of(
    "UPDATE suppliers_lot l SET expiry_told = g.step FROM json_to_recordset($2) AS g (id uuid, step smallint)"
    f" WHERE l.tenant_id = $1 AND {in_document('l.id', '$2')} AND l.id = g.id RETURNING l.id::text"
)


def tell_expiries(*, at: datetime, go_on: GoOn = ever) -> int:
    """Tell of lots in stock that have come to a threshold, or have expired; return their number."""
    return by_rounds(_TELL, _tellings, _near(_latest(at)), tell_batch, at, go_on)


def _latest(at: datetime) -> date:
    return (at + _EASTERNMOST).date() + timedelta(days=MOST_DAYS)


def _near(latest: date) -> "QuerySet[Lot]":
    is_open = Q(expiry_told__isnull=True) | Q(expiry_told__gt=EXPIRED)
    found: QuerySet[Lot] = Lot.objects.filter(is_open, expiry_date__lte=latest)
    return found


def tell_batch(tenant_id: UUID, at: datetime) -> int:
    """Tell a tenant of some lots; return their number."""
    with tenant_context(tenant_id):
        return _tell(tenant_id, at)


@needs_transaction
def _tell(tenant_id: UUID, at: datetime) -> int:
    """Lock lots that are due, note what is told of them, and tell their tenant."""
    (found,) = run([Call(_DUE, [str(tenant_id), at.isoformat(), _latest(at).isoformat()])])
    due = found.of(Due)
    if due:
        told = orjson.dumps([{"id": str(one.id), "step": one.step} for one in due])
        facts = [ledger.Occurrence(_event(one), one.id, one.version) for one in due]
        recorded = ledger.statements_of_many(actor=system_actor(tenant_id), occurrences=facts, at=at)
        run([Call(_TOLD, [str(tenant_id), told]), *recorded])
    return len(due)


def _event(one: Due) -> LotEvent:
    lot = {"product_id": str(one.product_id), "lot_number": one.lot_number, "status": one.status}
    if one.step == EXPIRED:
        return LotExpired(**lot, expiry_date=one.expiry_date, by=BY)
    return LotExpiring(**lot, expiry_date=one.expiry_date, by=BY, days_left=one.left)
