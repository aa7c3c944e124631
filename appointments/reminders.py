"""Reminders: the event that it is time to remind a patient, once for each reminder of an appointment."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

from core.actor import system_actor
from core.db import role_context, tenant_context
from core.lanes import Lane, in_turn
from core.rounds import GoOn, Rounds, ever
from core.row_security import DISPATCHER
from ledger import public as ledger

from .events import AppointmentReminderDue
from .models import Appointment
from .states import REMINDED

BATCH: Final = 200
_QUEUE: Final = "appointments.remind"
_rounds = Rounds()


def remind(*, at: datetime, go_on: GoOn = ever) -> int:
    """Tell every reminder that is due, in batches of one tenant and transaction each, which take turns; return their number.

    Of several workers each takes rows that no other holds, so a reminder is told once.
    """
    count = 0

    def step(tenant_id: UUID, told_before: int) -> int | None:
        nonlocal count
        told = _remind_tenant(tenant_id, at)
        count += told
        return told_before + told if told == BATCH else None  # the rest, if any, is in another worker's hands

    for lane in in_turn(_QUEUE):
        _rounds.drain(dict.fromkeys(_tenants(lane, at), 0), step, go_on=go_on)
    return count


def _tenants(lane: Lane, at: datetime) -> list[UUID]:
    """Return active tenants with reminders that are due."""
    with role_context(DISPATCHER):
        due = Appointment.objects.filter(next_reminder_at__lte=at, tenant__status="active")
        return list(lane.filter(due).order_by("tenant_id").values_list("tenant_id", flat=True).distinct())


def _remind_tenant(tenant_id: UUID, at: datetime) -> int:
    """Tell one batch; a reminder whose appointment has begun meanwhile is dropped. Return how many rows were taken."""
    with tenant_context(tenant_id):
        due = Appointment.objects.filter(tenant_id=tenant_id, next_reminder_at__lte=at, status__in=REMINDED)
        rows = list(due.select_for_update(skip_locked=True).order_by("next_reminder_at", "id")[:BATCH])
        facts = [fact for row in rows for fact in _due_of(row, at)]
        ledger.record_many(actor=system_actor(tenant_id), occurrences=facts, at=at)
        Appointment.objects.filter(tenant_id=tenant_id).bulk_update(rows, ["next_reminder_at"])
        return len(rows)


def _due_of(row: Appointment, at: datetime) -> Iterator[ledger.Occurrence]:
    """Yield an event for each reminder of a row that is due, and set when the next one is."""
    if row.starts_at <= at:
        row.plan_reminder(row.starts_at)
    while row.next_reminder_at is not None and row.next_reminder_at <= at:
        event = AppointmentReminderDue(status=str(row.status))
        yield ledger.Occurrence(event=event, resource_id=row.pk, resource_version=row.version)
        row.plan_reminder(row.next_reminder_at)
