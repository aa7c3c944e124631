"""What a booking must meet: a patient, a practitioner, a location, hours and a free slot. The look-ups are one trip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from core.actor import Actor, system_actor
from core.clock import rfc3339
from core.pipeline import Call, Rows, run
from fhir_api.public import Lookup, PatientNotFound, Shown, lookup
from organizations.public import LocationNotFound, Place, places_of, policies_call, policies_of

from . import availability, queries
from .local_times import Span, seconds
from .models import Appointment
from .queries import WITHIN, Busy, FoundSchedule
from .refusals import OutsideHours, PractitionerNotFound, SlotTaken, StartsInPast

GRACE: Final = timedelta(minutes=5)
PATIENT_DOUBLE_BOOKED: Final = "patient_double_booked"

Times = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Practice:
    """What is known of the practitioner and the location of a booking, and the tenant's policies.

    `taken` are the answers of `free_calls` for times that were known before.
    """

    places: Mapping[UUID | None, Place]
    schedule: FoundSchedule | None
    policies: Mapping[str, Any]
    taken: Sequence[Rows] = ()

    def admits(self, location_id: UUID | None, times: Times) -> bool:
        """Tell whether opening hours, working hours and absences admit the times."""
        span = whole_seconds(times)
        hours, absences = (self.schedule.hours, self.schedule.absences) if self.schedule else (None, ())
        rules = availability.sources(location_id, hours, self.places)
        admitted = availability.pieces(rules, span, self.policies["holidays"])
        return availability.holds(availability.free(admitted, *availability.absences_of(absences)), span)


def whole_seconds(times: Times) -> Span:
    """Return times as seconds; parts of a second count as whole ones."""
    return seconds(times[0]), -int(-times[1].timestamp() // 1)


def check_start(starts_at: datetime, at: datetime) -> None:
    """Refuse what would begin in the past.

    :raises StartsInPast: it would begin more than five minutes before `at`.
    """
    if starts_at < at - GRACE:
        raise StartsInPast


def practice_of(actor: Actor, row: Appointment, changed: Sequence[str], times: Sequence[Times] = ()) -> Practice:
    """Look up what a booking names, in one trip; other bookings of the practitioner wait from here on.

    `changed` are the members that are new: only these must exist and be within the membership's reach. `times`, where they
    are known already, are looked up in the same trip, behind the lock; `check_free` judges them.

    :raises LocationNotFound: the tenant has no such active location within the membership's reach.
    :raises PatientNotFound: there is no such patient, or not for a token of another patient.
    :raises PractitionerNotFound: there is no such practitioner, or an inactive one.
    """
    kinds = {"patient_id": ("Patient", row.patient_id), "practitioner_id": ("Practitioner", row.practitioner_id)}
    people = lookup(actor, [name for member, name in kinds.items() if member in changed])
    asked = (row.tenant_id, row.location_id, [row.practitioner_id])
    free = free_calls(row, times) if times else []
    _, places, schedules, policies, *found = run(
        [
            queries.lock_call(row.tenant_id, row.practitioner_id),
            queries.places_call(*asked),
            queries.schedules_call(*asked),
            policies_call(row.tenant_id),
            *people.calls,
            *free,
        ]
    )
    found, taken = found[: len(people.calls)], found[len(people.calls) :]
    schedule = next(iter(schedules.of(FoundSchedule)), None)
    practice = Practice(places_of(places), schedule, policies_of(policies), taken)
    _check_location(actor, row, practice, is_new="location_id" in changed)
    _check_people(actor, people, found, [name for member, name in kinds.items() if member in changed])
    return practice


def check_hours(practice: Practice, row: Appointment, times: Sequence[Times]) -> None:
    """Refuse times that the hours do not admit, unless the row asks for them.

    :raises OutsideHours: the first of the times is named.
    """
    if row.outside_hours:
        return
    for one in times:
        if not practice.admits(row.location_id, one):
            raise OutsideHours(starts_at=rfc3339(one[0]))


def free_calls(row: Appointment, times: Sequence[Times]) -> list[Call]:
    """Return the calls that find what takes the practitioner, and the patient, at these times."""
    return [queries.taken_call(row, times), queries.of_patient_call(row, times)]


def check_free(row: Appointment, times: Sequence[Times], found: Sequence[Rows] = ()) -> list[list[dict[str, str]]]:
    """Refuse times for which the practitioner is taken; return for each the warnings that concern the patient.

    The practitioner must be locked (`practice_of`). A proposed appointment takes nobody. `found` are the answers of
    `free_calls` for the same times, if they were asked for already.

    :raises SlotTaken: the first taken span is named.
    """
    taken, of_patient = found or run(free_calls(row, times))
    if row.holds_slot and (busy := taken.of(Busy)):
        raise slot_taken(busy[0])
    others = of_patient.of(Busy)
    return [
        [
            {"code": PATIENT_DOUBLE_BOOKED, "appointment_id": str(other.id)}
            for other in others
            if other.starts_at < end and start < other.ends_at
        ]
        for start, end in times
    ]


def slot_taken(busy: Busy) -> SlotTaken:
    """Return the refusal that names a taken span."""
    return SlotTaken(starts_at=rfc3339(busy.starts_at), ends_at=rfc3339(busy.ends_at))


def practitioners_lookup(tenant_id: UUID, practitioners: Sequence[str]) -> Lookup:
    """Return the look-up of practitioners, for a trip of the caller's own."""
    return lookup(system_actor(tenant_id), [("Practitioner", one) for one in practitioners])


def check_practitioners(practitioners: Sequence[str], found: Mapping[tuple[str, str], Shown]) -> None:
    """Refuse practitioners that do not exist or are inactive.

    :raises PractitionerNotFound: one of them.
    """
    for one in practitioners:
        shown = found.get(("Practitioner", one))
        if shown is None or shown.resource().get("active") is False:
            raise PractitionerNotFound


def _check_location(actor: Actor, row: Appointment, practice: Practice, *, is_new: bool) -> None:
    if row.location_id is None:
        return
    if row.location_id not in practice.places or (is_new and not WITHIN.holds(actor, row.location_id)):
        raise LocationNotFound


def _check_people(actor: Actor, people: Lookup, rows: Sequence[Rows], wanted: Sequence[tuple[str, str]]) -> None:
    found = people.found(rows)
    for kind, fhir_id in wanted:
        if kind == "Practitioner":
            check_practitioners([fhir_id], found)
        elif (kind, fhir_id) not in found or actor.subject.patient not in ("", fhir_id):
            raise PatientNotFound
