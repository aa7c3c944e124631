"""Actions on appointments: book, change, move through the lifecycle."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import IntegrityError
from psycopg.errors import ExclusionViolation

from core import rows
from core.actor import Actor, SubjectKind
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call, ReadBack, Statement, run
from ledger import public as ledger

from . import queries, rules
from .events import AFTER, AppointmentBooked, AppointmentConfirmed, AppointmentEvent, AppointmentRescheduled
from .local_times import occurrences
from .models import LONGEST, SHORTEST, Appointment
from .queries import Busy
from .refusals import SlotTaken
from .rules import Times
from .states import CancelReason, Scope, Status

_TIMES: Final = ("starts_at", "ends_at")
_RESCHEDULES: Final = frozenset({*_TIMES, "practitioner_id", "location_id"})
_BY_HOURS: Final = _RESCHEDULES | {"outside_hours"}
_SAVEPOINT = Call(Statement.of("SAVEPOINT appointments_booking"))
_ROLLBACK = Call(Statement.of("ROLLBACK TO SAVEPOINT appointments_booking"))


@needs_transaction
def book(actor: Actor, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None) -> Appointment:
    """Book an appointment, or a series: all of it or none; the first is returned. `proposed` ones hold no slot.

    :raises InvalidFields: the length is not between 5 minutes and 24 hours.
    :raises StartsInPast, LocationNotFound, PatientNotFound, PractitionerNotFound, OutsideHours: as named.
    :raises SlotTaken: the practitioner has another appointment then; of a series the first is named.
    """
    row = Appointment(
        tenant_id=actor.tenant_id,
        created_at=at,
        updated_at=at,
        created_by=None if actor.subject.kind is SubjectKind.SYSTEM else actor.subject_id,
        **_columns(data, data["starts_at"]),
    )
    _check_length(row)
    rules.check_start(row.starts_at, at)
    known = [] if row.recurrence else [row.span]  # those of a series depend on the zone of its place
    practice = rules.practice_of(actor, row, ("patient_id", "practitioner_id", "location_id"), known)
    row.time_zone = practice.places[row.location_id].time_zone
    row.reminders = practice.policies["appointment_reminder_minutes"] if "reminders" not in data else row.reminders
    times = _times(row)
    rules.check_hours(practice, row, times)
    warnings = rules.check_free(row, times, practice.taken)
    made = _made(row, times, warnings, at)
    facts = [_occurrence(one, AppointmentBooked) for one in made if one.holds_slot]
    _write([*map(rows.insert, made), *ledger.statements_of_many(actor=actor, occurrences=facts, at=at)], made, reading)
    return row


@needs_transaction
def change(actor: Actor, appointment: Appointment, data: Mapping[str, Any], at: datetime) -> Appointment:
    """Change members of a locked appointment; other times, practitioner or location reschedule it.

    With `starts_at` alone the length stays. If nothing changes, the version stays.

    :raises InvalidTransition: the appointment has begun, or is over.
    :raises InvalidFields, StartsInPast, LocationNotFound, PatientNotFound, PractitionerNotFound, OutsideHours: as `book`.
    :raises SlotTaken: the practitioner has another appointment then.
    """
    row = appointment
    row.update()
    before = row.span
    changed = row.assign(_columns(data, row.starts_at, row.ends_at - row.starts_at))
    if not changed:
        return row
    _check_length(row)
    moved = _RESCHEDULES.intersection(changed)
    if row.starts_at != before[0]:
        rules.check_start(row.starts_at, at)
    if moved or {"patient_id", "outside_hours"}.intersection(changed):
        changed += _recheck(actor, row, changed)
    if moved or "reminders" in changed:
        row.plan_reminder(at)
        changed.append("next_reminder_at")
    _guarded(row, [row.span], lambda: row.save_version(*changed, at=at))
    if moved and row.holds_slot:
        _tell(actor, row, AppointmentRescheduled, at)
    return row


@needs_transaction
def confirm(actor: Actor, appointment: Appointment, at: datetime) -> Appointment:
    """Confirm a locked appointment; a proposed one takes its slot now.

    :raises InvalidTransition: the appointment is neither proposed nor booked.
    :raises SlotTaken: it was proposed, and the practitioner has another appointment then.
    """
    row, was = appointment, appointment.status
    row.confirm(at)
    if was == Status.PROPOSED:
        run([queries.lock_call(row.tenant_id, row.practitioner_id)])
        (row.warnings,) = rules.check_free(row, [row.span])
        row.plan_reminder(at)
    saved = ("status", "warnings", "next_reminder_at")
    _guarded(row, [row.span], lambda: row.save_version(*saved, at=at))
    _tell(actor, row, AppointmentConfirmed, at)
    return row


def check_in(actor: Actor, appointment: Appointment, at: datetime) -> Appointment:
    """Note the arrival of the patient.

    :raises InvalidTransition: the appointment is neither booked nor confirmed.
    """
    return _move(actor, appointment, "check_in", at)


def start(actor: Actor, appointment: Appointment, at: datetime) -> Appointment:
    """Begin the visit.

    :raises InvalidTransition: the appointment is neither confirmed nor checked in.
    """
    return _move(actor, appointment, "start", at)


def complete(actor: Actor, appointment: Appointment, at: datetime) -> Appointment:
    """End the visit.

    :raises InvalidTransition: the patient is not checked in, or the visit has ended.
    """
    return _move(actor, appointment, "complete", at)


def no_show(actor: Actor, appointment: Appointment, at: datetime) -> Appointment:
    """Note that the patient did not come.

    :raises InvalidTransition: the appointment is neither booked nor confirmed.
    :raises TooEarly: it has not begun.
    """
    return _move(actor, appointment, "no_show", at)


@needs_transaction
def cancel(actor: Actor, appointment: Appointment, data: Mapping[str, Any], at: datetime) -> Appointment:
    """Cancel a locked appointment, and with scope `following` the later ones of its series that can be cancelled.

    :raises InvalidTransition: the appointment is over, or the visit has begun.
    """
    reason = data.get("reason_code", CancelReason.UNSPECIFIED.value)
    ended = [appointment]
    appointment.cancel(at, reason)
    if data.get("scope") == Scope.FOLLOWING and appointment.series_id is not None:
        ended += queries.locked_following(actor, appointment)
    facts = []
    for row in ended:
        if row is not appointment:
            row.cancel(at, reason)
        row.save_version("status", "cancel_reason_code", "next_reminder_at", at=at)
        facts.append(_occurrence(row, AFTER["cancel"]))
    ledger.record_many(actor=actor, occurrences=facts, at=at)
    return appointment


@needs_transaction
def _move(actor: Actor, row: Appointment, action: str, at: datetime) -> Appointment:
    getattr(row, action)(at)
    row.save_version("status", "next_reminder_at", at=at)
    _tell(actor, row, AFTER[action], at)
    return row


def _columns(data: Mapping[str, Any], starts_at: datetime, length: timedelta | None = None) -> dict[str, Any]:
    """Return the columns of a body, with the end of an appointment that is given by its length, or keeps it."""
    found = {name: value for name, value in data.items() if name != "duration_minutes"}
    begins = data.get("starts_at", starts_at)
    if "duration_minutes" in data:
        found["ends_at"] = begins + timedelta(minutes=data["duration_minutes"])
    elif "starts_at" in data and "ends_at" not in data and length is not None:
        found["ends_at"] = begins + length
    return found


def _check_length(row: Appointment) -> None:
    if not SHORTEST <= row.ends_at - row.starts_at <= LONGEST:
        message = "An appointment lasts from 5 minutes to 24 hours."
        raise InvalidFields(message, errors=[FieldError("ends_at", "invalid", message)])


def _times(row: Appointment) -> list[Times]:
    """Return the times of a row, or of all rows of its series."""
    length = row.ends_at - row.starts_at
    if row.recurrence is None:
        return [row.span]
    begins = occurrences(row.starts_at, zone=row.time_zone, **row.recurrence)
    return [(moment, moment + length) for moment in begins]


def _made(
    row: Appointment, times: Sequence[Times], warnings: Sequence[list[dict[str, str]]], at: datetime
) -> list[Appointment]:
    """Complete a new row, and make the others of its series after it."""
    if row.recurrence is not None:
        row.series_id = uuid7()
    made = [row]
    for starts_at, ends_at in times[1:]:
        values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
        made.append(Appointment(**values | {"id": uuid7(), "starts_at": starts_at, "ends_at": ends_at}))
    for one, found in zip(made, warnings, strict=True):
        one.warnings = found
        one.plan_reminder(at)
    return made


def _recheck(actor: Actor, row: Appointment, changed: Sequence[str]) -> list[str]:
    """Check changed times, people and location as at booking; return the further columns that are to be saved."""
    practice = rules.practice_of(actor, row, changed, [row.span])
    row.time_zone = practice.places[row.location_id].time_zone
    if _BY_HOURS.intersection(changed):
        rules.check_hours(practice, row, [row.span])
    (row.warnings,) = rules.check_free(row, [row.span], practice.taken)
    return ["time_zone", "warnings"]


def _write(calls: Sequence[Call], made: Sequence[Appointment], reading: ReadBack | None) -> None:
    """Send the statements of a booking in one trip, with the one that reads the answer."""
    read = [reading.call(made[0].pk)] if reading else []
    found = _guarded(made[0], [one.span for one in made], lambda: run([_SAVEPOINT, *calls, *read]), begun=True)
    if reading:
        reading.rows = found[-1]


def _guarded(row: Appointment, times: Sequence[Times], write: Callable[[], Any], *, begun: bool = False) -> Any:
    """Write, and answer the exclusion constraint with the span that is taken.

    Only what writes without the lock (`practice_of`) is met here.

    :raises SlotTaken: the constraint `appointments_no_double` refused.
    """
    if not begun:
        run([_SAVEPOINT])
    try:
        return write()
    except IntegrityError as error:
        if not isinstance(error.__cause__, ExclusionViolation):
            raise
        _, taken = run([_ROLLBACK, queries.taken_call(row, times)])
        found = taken.of(Busy)
        raise (rules.slot_taken(found[0]) if found else SlotTaken()) from error


def _occurrence(row: Appointment, kind: type[AppointmentEvent]) -> ledger.Occurrence:
    return ledger.Occurrence(event=kind(status=str(row.status)), resource_id=row.pk, resource_version=row.version)


def _tell(actor: Actor, row: Appointment, kind: type[AppointmentEvent], at: datetime) -> None:
    ledger.record(
        actor=actor, event=kind(status=str(row.status)), resource_id=row.pk, at=at, resource_version=row.version
    )
