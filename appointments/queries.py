"""Reads of appointments and schedules for actions and rules; answers are read through the representations."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal, moments
from core.db import needs_transaction, run_bound
from core.errors import NotFound
from core.pipeline import Call, Statement
from organizations.public import Place, TenantQuerySet, places_sql, reach

from .models import LONGEST, Appointment, Schedule
from .states import CANCELLABLE, HOLDING

# A membership with locations reaches what is at these, and what is at none.
WITHIN = reach("location_id", null=True)

_HOLDING: Final = ", ".join(f"'{status.value}'" for status in HOLDING)

# The practitioners who are asked for; where none is, those whose schedule names the location.
_WHOSE: Final = """ARRAY(
  SELECT unnest($3::text[])
  UNION ALL SELECT s.practitioner_id FROM appointments_schedule s
   WHERE s.tenant_id = $1 AND cardinality($3::text[]) = 0 AND $2::uuid = ANY(s.location_ids))"""


class FoundSchedule(NamedTuple):
    """A practitioner's schedule as it is stored."""

    practitioner_id: str
    hours: Any
    absences: Any


class Busy(NamedTuple):
    """An appointment that takes a practitioner or a patient for a time."""

    id: UUID
    practitioner_id: str
    starts_at: datetime
    ends_at: datetime


_SCHEDULES = Statement.of(
    "SELECT practitioner_id, hours, absences FROM appointments_schedule"
    f" WHERE tenant_id = $1 AND practitioner_id = ANY({_WHOSE}) ORDER BY practitioner_id",
    row=FoundSchedule,
)
_PLACES = Statement.of(
    places_sql(
        "$1",
        "ARRAY(SELECT $2::uuid UNION ALL SELECT unnest(s.location_ids) FROM appointments_schedule s"
        " WHERE s.tenant_id = $1 AND $2::uuid IS NULL AND s.practitioner_id = ANY($3::text[]))",
    ),
    row=Place,
)
_BUSY = Statement.of(
    "SELECT id, practitioner_id, starts_at, ends_at FROM appointments_appointment WHERE tenant_id = $1"
    f" AND practitioner_id = ANY({_WHOSE}) AND starts_at > $4 AND starts_at < $6 AND ends_at > $5"
    f" AND status IN ({_HOLDING})",
    row=Busy,
)


def _overlapping(column: str) -> str:
    """Return the SQL for what takes a practitioner or a patient ($2) in one of many spans, but for some appointments."""
    return f"""
SELECT a.id, a.practitioner_id, a.starts_at, a.ends_at
  FROM unnest($3::timestamptz[], $4::timestamptz[]) AS wanted (starts_at, ends_at)
  JOIN appointments_appointment a ON a.tenant_id = $1 AND a.{column} = $2
   AND a.starts_at > wanted.starts_at - interval '{int(LONGEST.total_seconds())} seconds'
   AND a.starts_at < wanted.ends_at AND a.ends_at > wanted.starts_at
 WHERE a.status IN ({_HOLDING}) AND a.id <> ALL($5::uuid[]) ORDER BY a.starts_at, a.id
"""


_TAKEN = Statement.of(_overlapping("practitioner_id"), row=Busy)
_OF_PATIENT = Statement.of(_overlapping("patient_id"), row=Busy)
_LOCK = Statement.of("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
_REACHED = Statement.of(
    "SELECT 1 FROM appointments_appointment t WHERE t.tenant_id = $1 AND t.id = $2"
    f" AND {WITHIN.sql} AND ($3 = '' OR t.patient_id = $3)"
)


_PATIENTS = Statement.of(
    "SELECT DISTINCT patient_id FROM appointments_appointment WHERE tenant_id = $1 AND id = ANY($2::uuid[])"
)


@needs_transaction
def locked_appointment(actor: Actor, appointment_id: UUID) -> Appointment:
    """Return the tenant's appointment within the membership's reach, locked until the transaction ends.

    :raises NotFound: there is none, or it is out of reach.
    """
    found: Appointment | None = _reachable(actor).select_for_update().filter(pk=appointment_id).first()
    if found is None:
        raise NotFound("No such appointment.")
    return found


def locked_following(actor: Actor, appointment: Appointment) -> list[Appointment]:
    """Return the later appointments of a locked one's series that can be cancelled, locked, the next first."""
    rows = _reachable(actor).filter(series_id=appointment.series_id, status__in=CANCELLABLE)
    later = rows.filter(starts_at__gte=appointment.starts_at).exclude(pk=appointment.pk)
    return list(later.select_for_update().order_by("starts_at", "id"))


@needs_transaction
def locked_schedule(actor: Actor, practitioner_id: str) -> Schedule | None:
    """Return a practitioner's schedule, locked until the transaction ends; None where there is none."""
    rows = Schedule.objects.of(actor).select_for_update()
    found: Schedule | None = rows.filter(practitioner_id=practitioner_id).first()
    return found


def schedules_call(tenant_id: UUID, location_id: UUID | None, practitioners: Collection[str]) -> Call:
    """Return the call for the schedules of practitioners, or without any of those whose schedule names the location."""
    return Call(_SCHEDULES, _asked(tenant_id, location_id, practitioners))


def places_call(tenant_id: UUID, location_id: UUID | None, practitioners: Collection[str]) -> Call:
    """Return the call for the location's zone and hours; without one for those of the practitioners' schedules."""
    return Call(_PLACES, _asked(tenant_id, location_id, practitioners))


def busy_call(
    tenant_id: UUID, location_id: UUID | None, practitioners: Collection[str], start: datetime, end: datetime
) -> Call:
    """Return the call for what the same practitioners are booked for between two instants."""
    times = [(start - LONGEST).isoformat(), start.isoformat(), end.isoformat()]
    return Call(_BUSY, [*_asked(tenant_id, location_id, practitioners), *times])


def taken_call(row: Appointment, spans: Sequence[tuple[datetime, datetime]]) -> Call:
    """Return the call for other appointments that take the practitioner of a row in one of the spans."""
    return Call(_TAKEN, [str(row.tenant_id), row.practitioner_id, *_columns(spans), array_literal([row.pk])])


def of_patient_call(row: Appointment, spans: Sequence[tuple[datetime, datetime]]) -> Call:
    """Return the call for other appointments of the patient of a row in one of the spans."""
    return Call(_OF_PATIENT, [str(row.tenant_id), row.patient_id, *_columns(spans), array_literal([row.pk])])


def lock_call(tenant_id: UUID, practitioner_id: str) -> Call:
    """Return the call by which bookings of one practitioner wait for each other.

    Without it two that meet would wait for each other's rows in the exclusion constraint, until one is shot as a deadlock.
    """
    return Call(_LOCK, [f"appointments {tenant_id} {practitioner_id}"])


def reached_call(tenant_id: UUID, appointment_id: UUID, patient: str) -> Call:
    """Return the call that answers a row if the appointment is within the bound locations, and of the one patient."""
    return Call(_REACHED, [str(tenant_id), str(appointment_id), patient])


def patients_of(tenant_id: UUID, appointment_ids: Collection[str]) -> list[str]:
    """Return the ids of the patients of appointments, in a trip of its own or of the open transaction."""
    (rows,) = run_bound(tenant_id, [Call(_PATIENTS, [str(tenant_id), array_literal(appointment_ids)])])
    return [(rows.value(number) or b"").decode() for number in range(len(rows))]


def _reachable(actor: Actor) -> TenantQuerySet:
    rows = WITHIN.filter(Appointment.objects.of(actor), actor)
    return rows.filter(patient_id=actor.subject.patient) if actor.subject.patient else rows


def _asked(tenant_id: UUID, location_id: UUID | None, practitioners: Collection[str]) -> list[str | bytes | None]:
    return [str(tenant_id), str(location_id) if location_id else None, array_literal(practitioners)]


def _columns(spans: Sequence[tuple[datetime, datetime]]) -> list[str]:
    return [moments(start for start, _ in spans), moments(end for _, end in spans)]
