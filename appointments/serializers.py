"""Bodies of appointments and schedules."""

from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import InstantField, StrictSerializer

from .states import AT_CREATION, DAYS, CancelReason, Mode, Scope, Unit

FHIR_ID = r"^[A-Za-z0-9\-.]{1,64}$"
CLOCK = r"^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$"


class RecurrenceIn(StrictSerializer):
    """A series: every so many weeks or months at the same local time, so many times."""

    every = serializers.IntegerField(min_value=1, max_value=12)
    unit = serializers.ChoiceField(choices=Unit.choices)
    count = serializers.IntegerField(min_value=2, max_value=52)

    class Meta:
        example: ClassVar = {"every": 1, "unit": "week", "count": 6}


class _AppointmentFields(StrictSerializer):
    """What can be set at booking and changed later; the end, or the length in minutes."""

    patient_id = serializers.RegexField(FHIR_ID)
    practitioner_id = serializers.RegexField(FHIR_ID)
    location_id = serializers.UUIDField(required=False, allow_null=True)
    starts_at = InstantField()
    ends_at = InstantField(required=False)
    duration_minutes = serializers.IntegerField(min_value=5, max_value=1440, required=False)
    service_type = serializers.CharField(max_length=80, required=False, allow_blank=True, allow_null=True)
    reason = serializers.CharField(max_length=500, required=False, allow_blank=True, allow_null=True)
    mode = serializers.ChoiceField(choices=Mode.choices, required=False)
    outside_hours = serializers.BooleanField(required=False)
    reminders = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=43_200),
        max_length=10,
        required=False,
        help_text="Minutes before the beginning; without it the policy appointment_reminder_minutes.",
    )

    def validate_service_type(self, value: str | None) -> str:
        """Take null for no text."""
        return value or ""

    def validate_reason(self, value: str | None) -> str:
        """Take null for no text."""
        return value or ""

    def validate_reminders(self, value: list[int]) -> list[int]:
        """Keep each once, the longest first."""
        return sorted(set(value), reverse=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one of end and length at booking, and never both."""
        given = [name for name in ("ends_at", "duration_minutes") if name in attrs]
        if len(given) == 2:
            raise serializers.ValidationError({"duration_minutes": "Give ends_at or duration_minutes."}, code="invalid")
        if not given and not self.root.partial:
            raise serializers.ValidationError({"ends_at": "Give ends_at or duration_minutes."}, code="required")
        return attrs


class AppointmentIn(_AppointmentFields):
    """An appointment to book, or a series of them."""

    status = serializers.ChoiceField(choices=[(one.value, one.label) for one in AT_CREATION], required=False)
    recurrence = RecurrenceIn(required=False, allow_null=True)

    class Meta:
        example: ClassVar = {
            "patient_id": "8f14e45f-ceea-467f-a1d5-29d3c1ff4b11",
            "practitioner_id": "c9f0f895-fb98-4b91-8f0c-6f2a5d1c7e33",
            "starts_at": "2026-03-02T09:00:00+01:00",
            "duration_minutes": 15,
            "service_type": "Follow-up",
        }


class AppointmentChange(_AppointmentFields):
    """Members of an appointment to change; other times, practitioner or location reschedule it."""


class CancelIn(StrictSerializer):
    """Why an appointment is cancelled, and whether the later ones of its series are, too."""

    reason_code = serializers.ChoiceField(choices=CancelReason.choices, required=False)
    scope = serializers.ChoiceField(choices=Scope.choices, required=False)

    class Meta:
        example: ClassVar = {"reason_code": "patient_request"}


class WorkingHoursIn(StrictSerializer):
    """Working hours on some days, at one location or at any."""

    location_id = serializers.UUIDField(required=False, allow_null=True)
    days = serializers.ListField(child=serializers.ChoiceField(choices=DAYS), min_length=1, max_length=7)
    opens = serializers.RegexField(CLOCK)
    closes = serializers.RegexField(CLOCK)

    class Meta:
        example: ClassVar = {"days": ["mon", "tue"], "opens": "08:00", "closes": "16:00"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a later end; who works past midnight has two entries."""
        if attrs["opens"] >= attrs["closes"]:
            raise serializers.ValidationError({"closes": "Must be later than opens."}, code="invalid")
        return attrs


class AbsenceIn(StrictSerializer):
    """A time in which the practitioner does not work."""

    starts_at = InstantField()
    ends_at = InstantField()
    note = serializers.CharField(max_length=200, required=False, allow_null=True)

    class Meta:
        example: ClassVar = {"starts_at": "2026-07-06T00:00:00+02:00", "ends_at": "2026-07-20T00:00:00+02:00"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a later end."""
        if attrs["starts_at"] >= attrs["ends_at"]:
            raise serializers.ValidationError({"ends_at": "Must be later than starts_at."}, code="invalid")
        return attrs


class ScheduleIn(StrictSerializer):
    """The working hours and absences of a practitioner, whole; without any hours the practitioner never works."""

    hours = WorkingHoursIn(many=True, max_length=60)  # type: ignore[call-arg]  # for the list
    absences = AbsenceIn(many=True, required=False, max_length=200)  # type: ignore[call-arg]  # for the list

    class Meta:
        example: ClassVar = {"hours": [WorkingHoursIn.Meta.example], "absences": [AbsenceIn.Meta.example]}
