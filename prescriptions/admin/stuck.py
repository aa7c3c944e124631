"""What is stuck: conditions on prescriptions and recurring treatments, each with what it means."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from core.pipeline import run
from organizations.public import policies_call, policies_of
from prescriptions.dispensing.models import Dispensation
from prescriptions.lifecycle.models import Prescription, Route
from prescriptions.recurring.models import RecurringTreatment
from prescriptions.states import DispenseStatus, RouteState, Status, TreatmentStatus

UNACKNOWLEDGED_AFTER: Final = timedelta(hours=24)
PARTIAL_AFTER: Final = timedelta(days=14)
DRAFTS_LATE_AFTER: Final = timedelta(hours=1)  # the job runs every 15 minutes
_WAITING: Final = (RouteState.QUEUED.value, RouteState.SENT.value)
_OPEN: Final = (Status.SIGNED.value, Status.ROUTED.value)


@dataclass(frozen=True, slots=True)
class Moment:
    """The tenant, the instant, and how many days before the end the tenant calls a prescription expiring."""

    tenant_id: UUID
    at: datetime
    expiring_days: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """One way of being stuck: its name in addresses, its title, and the rows."""

    name: str
    title: str
    model: type[Any]
    rows: Callable[[Moment], QuerySet[Any]]


def moment_of(tenant_id: UUID, at: datetime) -> Moment:
    """Read the policy of the bound tenant."""
    (rows,) = run([policies_call(tenant_id)])
    return Moment(tenant_id, at, int(policies_of(rows)["prescription_expiring_days"]))


def _unacknowledged(now: Moment) -> QuerySet[Any]:
    waiting = Route.objects.filter(
        tenant_id=now.tenant_id,
        prescription_id=OuterRef("pk"),
        state__in=_WAITING,
        routed_at__lte=now.at - UNACKNOWLEDGED_AFTER,
    )
    return _mine(now).filter(Exists(waiting), status=Status.ROUTED)


def _partial(now: Moment) -> QuerySet[Any]:
    lately = Dispensation.objects.filter(
        tenant_id=now.tenant_id, prescription_id=OuterRef("pk"), created_at__gt=now.at - PARTIAL_AFTER
    )
    begun = Q(status=Status.ROUTED, dispense_status=DispenseStatus.PARTIAL)
    return _mine(now).filter(begun, ~Exists(lately))


def _expiring(now: Moment) -> QuerySet[Any]:
    soon = now.at + timedelta(days=now.expiring_days)
    return _mine(now).filter(status__in=_OPEN, expires_at__gt=now.at, expires_at__lte=soon)


def _paused(now: Moment) -> QuerySet[Any]:
    return RecurringTreatment.objects.filter(tenant_id=now.tenant_id, status=TreatmentStatus.PAUSED)


def _undrawn(now: Moment) -> QuerySet[Any]:
    due = now.at - DRAFTS_LATE_AFTER
    active = RecurringTreatment.objects.filter(tenant_id=now.tenant_id, status=TreatmentStatus.ACTIVE)
    return active.filter(drafts_from__lte=due)


def _mine(now: Moment) -> QuerySet[Any]:
    return Prescription.objects.filter(tenant_id=now.tenant_id)


TROUBLES: Final = (
    Trouble("unacknowledged", "Routed, and not acknowledged for 24 hours", Prescription, _unacknowledged),
    Trouble("partial", "Partly dispensed, and nothing more for 14 days", Prescription, _partial),
    Trouble("expiring", "Expiring within the days of the tenant’s policy", Prescription, _expiring),
    Trouble("paused", "Recurring treatments that are paused", RecurringTreatment, _paused),
    Trouble("undrawn", "Recurring treatments whose draft is overdue by an hour", RecurringTreatment, _undrawn),
)


def troubles_of(model: type[Any]) -> dict[str, Trouble]:
    """Return the ways in which rows of a model are stuck, by name."""
    return {one.name: one for one in TROUBLES if one.model is model}
