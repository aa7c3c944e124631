"""The endpoints of appointments, schedules and free times."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.idempotency import Replay
from api.operations import Operation
from api.sorts import ORDERING_FIELDS
from api.views import ApiViewSet
from core import clock
from core.actor import Actor
from core.conditions import Condition
from core.errors import InvalidFields, InvalidTransition, NotFound, VersionConflict
from core.pipeline import Call, run
from fhir_api.public import Access, PatientNotFound, record_read
from organizations.public import LocationNotFound

from . import actions, queries
from .filters import AppointmentFilters, Asked, asked_availability
from .free_slots import Search
from .queries import WITHIN, locked_appointment
from .refusals import OutsideHours, PractitionerNotFound, SlotTaken, StartsInPast, TooEarly
from .representations import AppointmentOut, ScheduleOut, SlotOut
from .schedules import WITHIN_REACH, put_schedule, schedule_to_put
from .serializers import AppointmentChange, AppointmentIn, CancelIn, ScheduleIn

_BOOKING: Final = (
    InvalidFields, StartsInPast, LocationNotFound, PatientNotFound, PractitionerNotFound, OutsideHours, SlotTaken,
)  # fmt: skip


def _query(name: str, text: str, schema: Mapping[str, Any], *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": text, "schema": schema} | (
        {"required": True} if required else {}
    )


class AppointmentViewSet(ApiViewSet):
    """The tenant's appointments within the membership's reach."""

    family = "appointments"
    scope_prefix = "appointments."
    feature = "appointments"
    serializer_class = AppointmentOut
    filterset_class = AppointmentFilters
    ordering_fields = (*ORDERING_FIELDS, "starts_at")
    operation_ids = {"no_show": "markAppointmentNoShow", "check_in": "checkInAppointment"}
    operations = {
        "list": Operation("List appointments", "Each list leaves a record of whose data were read."),
        "create": Operation(
            "Book an appointment",
            "With `recurrence` a series at the same local time, all or none; the answer is its first. A `proposed` "
            "appointment holds no slot. That the patient has another appointment then is told in `warnings`.",
            body=AppointmentIn,
            run=actions.book,
            errors=(*_BOOKING, NotFound),  # a replay, whose appointment is out of reach by now
        ),
        "retrieve": Operation("Get an appointment", "Each read leaves a record of whose data were read."),
        "partial_update": Operation(
            "Change or reschedule an appointment",
            "Other times, practitioner or location reschedule it; with `starts_at` alone its length stays.",
            body=AppointmentChange,
            find=locked_appointment,
            run=actions.change,
            errors=(*_BOOKING, InvalidTransition, VersionConflict),
            example={"starts_at": "2026-03-03T09:00:00+01:00"},
        ),
        "confirm": Operation(
            "Confirm an appointment",
            "A proposed one takes its slot now.",
            find=locked_appointment,
            run=actions.confirm,
            errors=(InvalidTransition, SlotTaken),
        ),
        "check_in": Operation(
            "Check a patient in", find=locked_appointment, run=actions.check_in, errors=(InvalidTransition,)
        ),
        "start": Operation("Begin the visit", find=locked_appointment, run=actions.start, errors=(InvalidTransition,)),
        "complete": Operation(
            "End the visit", find=locked_appointment, run=actions.complete, errors=(InvalidTransition,)
        ),
        "no_show": Operation(
            "Note that the patient did not come",
            find=locked_appointment,
            run=actions.no_show,
            errors=(InvalidTransition, TooEarly),
        ),
        "cancel": Operation(
            "Cancel an appointment",
            "With scope `following` the later appointments of its series, too.",
            body=CancelIn,
            find=locked_appointment,
            run=actions.cancel,
            errors=(InvalidTransition,),
        ),
    }

    @action(detail=True, methods=["post"])
    def confirm(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Confirm the appointment."""
        return self.write()

    @action(detail=True, methods=["post"])
    def check_in(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Note that the patient has arrived."""
        return self.write()

    @action(detail=True, methods=["post"])
    def start(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Begin the visit."""
        return self.write()

    @action(detail=True, methods=["post"])
    def complete(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """End the visit."""
        return self.write()

    @action(detail=True, methods=["post"])
    def no_show(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Note that the patient did not come."""
        return self.write()

    @action(detail=True, methods=["post"])
    def cancel(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Cancel the appointment."""
        return self.write()

    def restrictions(self) -> Sequence[Condition]:
        """Keep what is within the membership's reach, and of the one patient of a token that is bound to one."""
        patient = self.subject.patient
        return (WITHIN, Condition('t."patient_id" = {0}', (patient,))) if patient else (WITHIN,)

    def before_list(self, actor: Actor, patients: Sequence[str]) -> None:
        """Write the access record of a list."""
        names = [name for name in self.request.GET if name in AppointmentFilters.base_filters]
        record_read(actor, patients, Access("appt.list", "Appointment", parameters=names, count=len(patients)))

    def before_answer(self, actor: Actor, contents: Sequence[bytes]) -> None:
        """Write the access record of one appointment."""
        (shown,) = (orjson.loads(one) for one in contents)
        patients = (
            [shown["patient_id"]] if "patient_id" in shown else queries.patients_of(actor.tenant_id, [shown["id"]])
        )
        record_read(actor, patients, Access("appt.read", "Appointment", str(self.kwargs["pk"]), count=1))

    def _replay(self, actor: Actor, replay: Replay) -> HttpResponse:
        """Answer again what is within the membership's reach still. Source: contract, access.md, check 12."""
        key = UUID(str(self.kwargs.get("pk") or replay.headers["Location"].rpartition("/")[2]))
        (rows,) = run([queries.reached_call(actor.tenant_id, key, actor.subject.patient)])
        if not len(rows):
            raise NotFound("No such appointment.")
        return super()._replay(actor, replay)


class ScheduleViewSet(ApiViewSet):
    """Working hours and absences of practitioners."""

    family = "appointments"
    scope_prefix = "appointments."
    feature = "appointments"
    serializer_class = ScheduleOut
    restriction = WITHIN_REACH
    lookup_url_kwarg = "practitioner_id"
    lookup_value_converter = "str"
    operations = {
        "retrieve": Operation("Get a practitioner's schedule"),
        "update": Operation(
            "Put a practitioner's schedule",
            "Creates or replaces it; what is booked already stays. Without a schedule the opening hours of the location "
            "hold; a schedule without hours admits nothing.",
            body=ScheduleIn,
            find=schedule_to_put,
            run=put_schedule,
            upsert=True,
            errors=(InvalidFields, VersionConflict, LocationNotFound, PractitionerNotFound),
        ),
    }

    def _replay(self, actor: Actor, replay: Replay) -> HttpResponse:
        """Answer again what is within the membership's reach still."""
        schedule_to_put(actor, self.kwargs["practitioner_id"])
        return super()._replay(actor, replay)


class AvailabilityViewSet(ApiViewSet):
    """Free times of practitioners."""

    family = "appointments"
    scope_prefix = "appointments."
    feature = "appointments"
    operation_ids = {"retrieve": "findFreeSlots"}
    singleton = True
    operations = {
        "retrieve": Operation(
            "Find free slots",
            "Opening hours of the location, cut by working hours, absences and what is booked; hours that nobody recorded "
            "restrict nothing. With a location alone, the practitioners whose schedule names it. A time that clocks leave "
            "out does not exist, an hour that they repeat exists twice.",
            answer=SlotOut,
            many=True,
            errors=(InvalidFields, LocationNotFound, PractitionerNotFound),
            parameters=(
                _query("from", "The first instant.", {"type": "string", "format": "date-time"}, required=True),
                _query(
                    "to", "The end, at most 31 days later.", {"type": "string", "format": "date-time"}, required=True
                ),
                _query("practitioner_id", "Whose free times.", {"type": "string"}),
                _query("location_id", "At which location.", {"type": "string", "format": "uuid"}),
                _query(
                    "minutes",
                    "The length of a slot; the policy appointment_slot_minutes by default.",
                    {"type": "integer", "minimum": 5, "maximum": 1440},
                ),
                _query(
                    "step",
                    "Minutes from one beginning to the next; the same as `minutes` by default.",
                    {"type": "integer", "minimum": 5, "maximum": 1440},
                ),
            ),
        )
    }

    def retrieve(self, request: HttpRequest) -> HttpResponse:
        """Answer the free slots."""
        found: list[tuple[Asked, Search]] = []

        def calls(tenant_id: UUID) -> list[Call]:
            asked = asked_availability(request.GET)
            search = Search(
                start=asked.start, end=asked.end, location_id=asked.location_id, practitioners=asked.practitioners
            )
            found.append((asked, search))
            return search.calls(tenant_id)

        actor, rows = self.read(calls)
        asked, search = found[-1]
        if not WITHIN.holds(actor, asked.location_id):
            raise LocationNotFound
        return self.answer(orjson.dumps(search.slots(rows, minutes=asked.minutes, step=asked.step, at=clock.now())))
