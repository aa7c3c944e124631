"""The sweep of what expires: the stamp of the expiry, and the word that it is near. Source: contract, prescriptions.md "Time".

A stamp is a change of the prescription: it makes a version, an entry of the history and new versions of its resources. That
the expiry is near is told and nothing else: nobody reads it in the prescription, no history has it, so the version, by which
clients and the record tell changes, stays.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from django.db import OperationalError
from django.db.models import Q, QuerySet

from core import clock
from core.actor import system_actor
from core.arrays import array_literal
from core.db import needs_transaction, role_context, tenant_context
from core.keyed import keyed
from core.lanes import Lane, in_turn
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from core.row_security import DISPATCHER
from core.watermark import mark_call
from ledger import public as ledger
from prescriptions.lifecycle.changes import Change, commit_all
from prescriptions.lifecycle.events import KINDS, PLATFORM
from prescriptions.lifecycle.many_targets import locked_many
from prescriptions.lifecycle.models import Prescription
from prescriptions.lifecycle.tokens import forget_all_call
from prescriptions.states import Status

BATCH: Final = 500  # how many are looked up at once
SHARE: Final = 25  # how many are locked at once: a person may wait for one of them
_QUEUE: Final = "prescriptions.sweep"
_OPEN: Final = (Status.SIGNED.value, Status.ROUTED.value)
_expiries, _announcements = Rounds(), Rounds()
_log = logging.getLogger(__name__)


class _Free(NamedTuple):
    """A prescription that is due and that no other transaction holds."""

    id: UUID


_DUE: Final = keyed(
    "prescriptions_prescription",
    "SELECT unnest($2::uuid[])",
    alias="t",
    where="AND o.status = ANY($3) AND o.expired_at IS NULL AND o.expires_at <= $4::timestamptz",
    lock="FOR UPDATE SKIP LOCKED",
)
# By the index of what is due, each share would read all that is due.
_FREE: Final = Statement.of(f"SELECT t.id FROM {_DUE}", row=_Free)


class Swept(NamedTuple):
    """How many prescriptions a sweep has stamped as expired, told of as expiring, and left out for a fault of theirs."""

    expired: int = 0
    expiring: int = 0
    left_out: int = 0

    def and_(self, other: "Swept") -> "Swept":
        """Return the sums."""
        return Swept(*(one + more for one, more in zip(self, other, strict=True)))


_Place = tuple[datetime, UUID] | tuple[()]  # behind which a tenant's next batch begins, so that none is looked at twice
Work = Callable[[UUID, _Place, datetime], tuple[Swept, _Place | None]]


def sweep(*, at: datetime, go_on: GoOn = ever) -> Swept:
    """Stamp what has expired and tell what will soon, in batches of one tenant each, which take turns.

    Of several workers each takes rows that no other holds, so that each is stamped once and told of once. A prescription
    that cannot be stamped is left out and named in the log; the others are not, and the next sweep tries it again.
    """
    swept = Swept()
    for lane in in_turn(_QUEUE):
        swept = swept.and_(_sweep_lane(_expiries, _expired(at), _expire_batch, lane, at, go_on))
        swept = swept.and_(_sweep_lane(_announcements, _untold(at), _announce_batch, lane, at, go_on))
    return swept


def _sweep_lane(
    rounds: Rounds, due: QuerySet[Prescription], work: Work, lane: Lane, at: datetime, go_on: GoOn
) -> Swept:
    swept = Swept()

    def step(tenant_id: UUID, place: _Place) -> _Place | None:
        nonlocal swept
        done, following = work(tenant_id, place, at)
        swept = swept.and_(done)
        return following

    beginnings: dict[UUID, _Place] = dict.fromkeys(_tenants(due, lane), ())
    rounds.drain(beginnings, step, go_on=go_on)
    return swept


def _tenants(due: QuerySet[Prescription], lane: Lane) -> list[UUID]:
    """Return tenants with rows that are due. People of a suspended one cannot act; its prescriptions expire all the same."""
    with role_context(DISPATCHER):
        found = lane.filter(due.exclude(tenant__status="closed"))
        return list(found.order_by("tenant_id").values_list("tenant_id", flat=True).distinct())


def _open(tenant_id: UUID | None = None) -> QuerySet[Prescription]:
    rows = Prescription.objects.filter(tenant_id=tenant_id) if tenant_id else Prescription.objects.all()
    found: QuerySet[Prescription] = rows.filter(status__in=_OPEN, expired_at__isnull=True)
    return found


# -- expired -----------------------------------------------------------------------------------------------------------


def _expired(at: datetime, tenant_id: UUID | None = None) -> QuerySet[Prescription]:
    return _open(tenant_id).filter(expires_at__lte=at)


def _expire_batch(tenant_id: UUID, place: _Place, at: datetime) -> tuple[Swept, _Place | None]:
    with tenant_context(tenant_id):
        found = [(ends, key) for ends, key in _due_behind(tenant_id, place, at) if ends is not None]
    swept, ids = Swept(), [key for _, key in found]
    for first in range(0, len(ids), SHARE):
        swept = swept.and_(_stamp(tenant_id, ids[first : first + SHARE], at))
    return swept, found[-1] if len(found) == BATCH else None


def _due_behind(tenant_id: UUID, place: _Place, at: datetime) -> QuerySet[Prescription, tuple[datetime | None, UUID]]:
    """Return ends and ids of the next batch; thousands may end at one midnight."""
    due = _expired(at, tenant_id)
    if place:
        begins, last = place
        due = due.filter(Q(expires_at__gt=begins) | Q(expires_at=begins, id__gt=last), expires_at__gte=begins)
    return due.order_by("expires_at", "id").values_list("expires_at", "id")[:BATCH]


def _stamp(tenant_id: UUID, ids: Sequence[UUID], at: datetime) -> Swept:
    """Stamp prescriptions in a transaction; where that fails, halve them until the faulty one is left out alone."""
    try:
        with tenant_context(tenant_id):
            _, free = run([mark_call(tenant_id), _free_call(tenant_id, ids, at)])
            locked = [one.id for one in free.of(_Free)]
            return Swept(expired=_expire(tenant_id, locked, max(at, clock.now())))
    except OperationalError:  # the database has gone away or is overloaded: no fault of a prescription
        raise
    except Exception as error:  # one that cannot be written must not keep the others from expiring
        if len(ids) == 1:
            told = {"prescription": str(ids[0]), "error": type(error).__name__}  # its text could quote the record
            _log.error("prescription not swept", extra=told)
            return Swept(left_out=1)
    middle = len(ids) // 2
    return _stamp(tenant_id, ids[:middle], at).and_(_stamp(tenant_id, ids[middle:], at))


def _free_call(tenant_id: UUID, ids: Sequence[UUID], at: datetime) -> Call:
    return Call(_FREE, [str(tenant_id), array_literal(ids), array_literal(_OPEN), at.isoformat()])


@needs_transaction
def _expire(tenant_id: UUID, ids: Sequence[UUID], at: datetime) -> int:
    """Stamp prescriptions that this transaction has locked."""
    changes = []
    for target in locked_many(system_actor(tenant_id), ids):
        row: Prescription = target.row
        row.expired_at = at
        change = Change(target, at)
        change.save("expired_at")
        change.enter("expired", to_pharmacy=row.is_routed_live)
        changes.append(change)
    if changes:
        changes[0].calls.append(forget_all_call(tenant_id, ids))
    commit_all(changes)
    return len(changes)


# -- expiring ----------------------------------------------------------------------------------------------------------


def _untold(at: datetime, tenant_id: UUID | None = None) -> QuerySet[Prescription]:
    return _open(tenant_id).filter(expiring_at__isnull=True, expiring_from__lte=at, expires_at__gt=at)


def _announce_batch(tenant_id: UUID, place: _Place, at: datetime) -> tuple[Swept, _Place | None]:
    """Tell one batch; what another worker holds is left to it."""
    with tenant_context(tenant_id):
        due = _untold(at, tenant_id).select_for_update(skip_locked=True)
        rows = list(due.order_by("expiring_from", "id")[:BATCH])
        told = [ledger.Occurrence(_expiring(row), row.pk, row.version) for row in rows]
        ledger.record_many(actor=system_actor(tenant_id), occurrences=told, at=at)
        chosen = Prescription.objects.filter(tenant_id=tenant_id, id__in=[row.pk for row in rows])
        chosen.update(expiring_at=at)
        return Swept(expiring=len(rows)), place if len(rows) == BATCH else None


def _expiring(row: Prescription) -> ledger.EventType:
    return KINDS["expiring"](number=row.number, status=row.status, route_state=row.route_state, by=PLATFORM)
