"""Appointments, schedules and free slots as clients read them."""

from typing import ClassVar

from rest_framework import serializers

from api.representations import Computed, Document, Instant, OpenChoice, Representation

from .models import Appointment, Schedule
from .rules import PATIENT_DOUBLE_BOOKED
from .serializers import AbsenceIn, AppointmentIn, RecurrenceIn, ScheduleIn, WorkingHoursIn


class WarningOut(serializers.Serializer[None]):
    """Something that a person should know and that refuses nothing."""

    code = OpenChoice(choices=(PATIENT_DOUBLE_BOOKED,))
    appointment_id = serializers.UUIDField()


class AppointmentOut(Representation):
    """An appointment of a patient with a practitioner."""

    recurrence = Document(RecurrenceIn(), allow_null=True)
    reminders = Document(serializers.ListField(child=serializers.IntegerField()))
    warnings = Document(WarningOut(many=True))
    # Always null until a provider of video visits is connected.
    telehealth_url = Computed("SELECT NULL::text", serializers.CharField(allow_null=True))

    class Meta:
        model = Appointment
        whose = "patient_id"
        fields = (
            "id", "tenant_id", "patient_id", "practitioner_id", "location_id", "status", "starts_at", "ends_at",
            "time_zone", "service_type", "reason", "mode", "telehealth_url", "outside_hours", "recurrence", "series_id",
            "reminders", "cancel_reason_code", "warnings", "created_by", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("service_type", "reason", "cancel_reason_code")
        example: ClassVar = {
            **{name: value for name, value in AppointmentIn.Meta.example.items() if name != "duration_minutes"},
            "starts_at": "2026-03-02T08:00:00.000Z",
            "ends_at": "2026-03-02T08:15:00.000Z",
            "time_zone": "Europe/Berlin",
            "status": "booked",
            "reminders": [1440],
            "warnings": [],
            "recurrence": None,
        }


class ScheduleOut(Representation):
    """The working hours and absences of a practitioner."""

    hours = Document(WorkingHoursIn(many=True))
    absences = Document(AbsenceIn(many=True))

    class Meta:
        model = Schedule
        key = "practitioner_id"
        fields = (
            "id", "tenant_id", "practitioner_id", "hours", "absences", "created_at", "updated_at", "version",
        )  # fmt: skip
        example: ClassVar = ScheduleIn.Meta.example


class SlotOut(serializers.Serializer[None]):
    """A time at which at least one practitioner is free."""

    starts_at = Instant()
    ends_at = Instant()
    practitioner_ids = serializers.ListField(child=serializers.CharField())
