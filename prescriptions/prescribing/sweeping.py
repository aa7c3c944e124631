"""The sweep of what expires: the stamp of the expiry, and the word that it is near. Source: contract, prescriptions.md "Time".

A stamp is a change of the prescription: it makes a version, an entry of the history and new versions of its resources. That
the expiry is near is told and nothing else: nobody reads it in the prescription, no history has it, so the version, by which
clients and the record tell changes, stays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from core.actor import system_actor
from core.db import needs_transaction, role_context, tenant_context
from core.lanes import Lane, in_turn
from core.pipeline import run
from core.row_security import DISPATCHER
from ledger import public as ledger
from organizations import public as organizations
from prescriptions.lifecycle.changes import Change, commit_all
from prescriptions.lifecycle.events import KINDS, PLATFORM
from prescriptions.lifecycle.models import Prescription
from prescriptions.lifecycle.targets import locked_many
from prescriptions.lifecycle.tokens import forget_call
from prescriptions.states import Status

BATCH: Final = 500  # how many are looked up at once
SHARE: Final = 20  # how many are locked at once: a person may wait for one of them
_LONGEST_NOTICE: Final = timedelta(days=90)  # of the policy `prescription_expiring_days`
_QUEUE: Final = "prescriptions.sweep"
_OPEN: Final = (Status.SIGNED.value, Status.ROUTED.value)


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of the sweep: which rows of all tenants may be due, and the work on one batch of a tenant.

    `work` returns how many it has taken, and whether there may be more.
    """

    due: Callable[[datetime], QuerySet[Prescription]]
    work: Callable[[UUID, datetime], tuple[int, bool]]


def sweep(*, at: datetime) -> int:
    """Stamp what has expired and tell what will soon, in batches of one tenant each; return how many were taken.

    Of several workers each takes rows that no other holds, so that each is stamped once and told of once.
    """
    parts = (_Part(_expired, _expire_batch), _Part(_untold, _announce_batch))
    return sum(_sweep_lane(part, lane, at) for lane in in_turn(_QUEUE) for part in parts)


def _sweep_lane(part: _Part, lane: Lane, at: datetime) -> int:
    count, waiting = 0, _tenants(part, lane, at)
    while waiting:
        further = []
        for tenant_id in waiting:
            taken, is_more = part.work(tenant_id, at)
            count += taken
            if taken and is_more:
                further.append(tenant_id)  # behind the other tenants; what another worker holds is left to it
        waiting = further
    return count


def _tenants(part: _Part, lane: Lane, at: datetime) -> list[UUID]:
    """Return tenants with rows that may be due. People of a suspended one cannot act; its prescriptions expire all the same."""
    with role_context(DISPATCHER):
        due = part.due(at).exclude(tenant__status="closed")
        return list(lane.filter(due).order_by("tenant_id").values_list("tenant_id", flat=True).distinct())


def _open(tenant_id: UUID | None = None) -> QuerySet[Prescription]:
    rows = Prescription.objects.filter(tenant_id=tenant_id) if tenant_id else Prescription.objects.all()
    found: QuerySet[Prescription] = rows.filter(status__in=_OPEN, expired_at__isnull=True)
    return found


# -- expired -----------------------------------------------------------------------------------------------------------


def _expired(at: datetime, tenant_id: UUID | None = None) -> QuerySet[Prescription]:
    return _open(tenant_id).filter(expires_at__lte=at)


def _expire_batch(tenant_id: UUID, at: datetime) -> tuple[int, bool]:
    with tenant_context(tenant_id):
        ids = list(_expired(at, tenant_id).order_by("expires_at", "id").values_list("id", flat=True)[:BATCH])
    taken = 0
    for place in range(0, len(ids), SHARE):
        with tenant_context(tenant_id):
            due = _expired(at, tenant_id).filter(id__in=ids[place : place + SHARE])
            free = due.select_for_update(skip_locked=True).order_by("id")
            taken += _expire(tenant_id, list(free.values_list("id", flat=True)), at)
    return taken, len(ids) == BATCH


@needs_transaction
def _expire(tenant_id: UUID, ids: Sequence[UUID], at: datetime) -> int:
    """Stamp prescriptions that this transaction has locked."""
    changes = []
    for target in locked_many(system_actor(tenant_id), ids):
        row: Prescription = target.row
        row.expired_at = at
        change = Change(target, at)
        change.save("expired_at")
        change.calls.append(forget_call(row))
        change.enter("expired", to_pharmacy=row.is_routed_live)
        changes.append(change)
    commit_all(changes)
    return len(changes)


# -- expiring ----------------------------------------------------------------------------------------------------------


def _untold(at: datetime) -> QuerySet[Prescription]:
    return _open().filter(expiring_at__isnull=True, expires_at__gt=at, expires_at__lte=at + _LONGEST_NOTICE)


def _announce_batch(tenant_id: UUID, at: datetime) -> tuple[int, bool]:
    """Tell one batch; with a notice of no days there is nothing to tell before the expiry."""
    with tenant_context(tenant_id):
        (policies,) = run([organizations.policies_call(tenant_id)])
        notice = timedelta(days=organizations.policies_of(policies)["prescription_expiring_days"])
        due = _open(tenant_id).filter(expiring_at__isnull=True, expires_at__gt=at, expires_at__lte=at + notice)
        rows = list(due.select_for_update(skip_locked=True).order_by("expires_at", "id")[:BATCH])
        told = [ledger.Occurrence(_expiring(row), row.pk, row.version) for row in rows]
        ledger.record_many(actor=system_actor(tenant_id), occurrences=told, at=at)
        chosen = Prescription.objects.filter(tenant_id=tenant_id, id__in=[row.pk for row in rows])
        chosen.update(expiring_at=at)
        return len(rows), len(rows) == BATCH


def _expiring(row: Prescription) -> ledger.EventType:
    return KINDS["expiring"](number=row.number, status=row.status, route_state=row.route_state, by=PLATFORM)
