"""Tables of appointments and of practitioners' schedules."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField, RangeOperators
from django.db import models
from django.db.models import ExpressionWrapper, F, Func, Q, Value
from django.db.models.lookups import GreaterThanOrEqual, LessThanOrEqual
from django_fsm import FSMField, TransitionNotAllowed

from core.clock import rfc3339
from core.lifecycle import LifecycleModel, transition
from core.row_security import TableSecurity
from organizations.public import TenantOwned

from .refusals import SlotTaken, TooEarly
from .states import AT_CREATION, CANCELLABLE, HOLDING, REMINDED, CancelReason, Mode, Status

SHORTEST, LONGEST = timedelta(minutes=5), timedelta(hours=24)
_PATCHED = [Status.PROPOSED.value, Status.BOOKED.value, Status.CONFIRMED.value]


_LENGTH = ExpressionWrapper(F("ends_at") - F("starts_at"), output_field=models.DurationField())


def _practitioner() -> Func:
    """SQL for a range that overlaps only the same practitioner's of the same tenant; GiST compares no texts."""
    number = Func(
        F("tenant"),
        F("practitioner_id"),
        arg_joiner="::text || ",
        template='hashtextextended((%(expressions)s) COLLATE "C", 0)',
        output_field=models.BigIntegerField(),
    )
    return Func(number, number, Value("[]"), function="int8range", output_field=models.TextField())


class Appointment(TenantOwned, LifecycleModel):
    """An appointment of a patient with a practitioner.

    Patient and practitioner are ids of the tenant's clinical record. `warnings` is what was found when the times were
    last written. `next_reminder_at` is when the next reminder is due, null where none is.
    Personal data: who is a patient of whom and when, and the words of `reason` (phi).
    """

    patient_id = models.CharField(max_length=64, db_collation="C")
    practitioner_id = models.CharField(max_length=64, db_collation="C")
    location = models.ForeignKey(
        "organizations.Location",
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    status = FSMField(default=Status.BOOKED.value, choices=Status, protected=True, max_length=12)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    time_zone = models.CharField(max_length=64)
    service_type = models.CharField(max_length=80, blank=True, default="")
    reason = models.CharField(max_length=500, blank=True, default="")
    mode = models.CharField(max_length=10, choices=Mode, default=Mode.IN_PERSON)
    outside_hours = models.BooleanField(default=False)
    recurrence = models.JSONField(null=True)
    series_id = models.UUIDField(null=True)
    reminders = models.JSONField(default=list)
    next_reminder_at = models.DateTimeField(null=True)
    cancel_reason_code = models.CharField(max_length=20, choices=CancelReason, blank=True, default="")
    warnings = models.JSONField(default=list)
    created_by = models.UUIDField(null=True)

    WRITABLE: ClassVar = (
        "patient_id", "practitioner_id", "location_id", "starts_at", "ends_at", "service_type", "reason", "mode",
        "outside_hours", "reminders",
    )  # fmt: skip
    unversioned: ClassVar = ("next_reminder_at",)
    refusals: ClassVar = {"appointments_no_double": SlotTaken}
    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="appointments_no_double",
                expressions=[
                    (_practitioner(), RangeOperators.OVERLAPS),
                    (
                        Func("starts_at", "ends_at", function="tstzrange", output_field=models.TextField()),
                        RangeOperators.OVERLAPS,
                    ),
                ],
                condition=Q(status__in=[str(status.value) for status in HOLDING]),
            ),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="appointments_status_known"),
            models.CheckConstraint(condition=Q(mode__in=Mode.values), name="appointments_mode_known"),
            models.CheckConstraint(
                condition=Q(GreaterThanOrEqual(_LENGTH, SHORTEST), LessThanOrEqual(_LENGTH, LONGEST)),
                name="appointments_length",
            ),
            models.CheckConstraint(
                condition=Q(next_reminder_at__isnull=True) | Q(status__in=[str(one.value) for one in REMINDED]),
                name="appointments_reminded_while_due",
            ),
            models.CheckConstraint(
                condition=Q(cancel_reason_code="", status__in=[one for one in Status.values if one != "cancelled"])
                | (~Q(cancel_reason_code="") & Q(status=Status.CANCELLED.value)),
                name="appointments_cancelled_with_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="appointments_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="appointments_by_updated"),
            models.Index(fields=["tenant", "starts_at", "id"], name="appointments_by_start"),
            models.Index(fields=["tenant", "practitioner_id", "starts_at"], name="appointments_by_pract"),
            models.Index(fields=["tenant", "patient_id", "starts_at"], name="appointments_by_patient"),
            models.Index(fields=["tenant", "location", "starts_at"], name="appointments_by_location"),
            models.Index(
                fields=["tenant", "series_id", "starts_at"],
                condition=Q(series_id__isnull=False),
                name="appointments_by_series",
            ),
            models.Index(
                fields=["next_reminder_at", "id"],
                condition=Q(next_reminder_at__isnull=False),
                name="appointments_reminder_due",
            ),
        ]

    def __str__(self) -> str:
        return f"appointment {self.id}"

    def check_initial_states(self) -> None:
        """Check that a new appointment is proposed or booked.

        :raises TransitionNotAllowed: it is in another state.
        """
        if self.status not in AT_CREATION:
            raise TransitionNotAllowed("an appointment starts as proposed or booked", object=self)

    @property
    def holds_slot(self) -> bool:
        """Tell whether the practitioner is taken by this appointment."""
        return self.status in HOLDING

    @property
    def span(self) -> tuple[datetime, datetime]:
        """Beginning and end."""
        return self.starts_at, self.ends_at

    def plan_reminder(self, after: datetime) -> None:
        """Set when the next reminder after an instant is due; there is none once the appointment has begun."""
        due = (self.starts_at - timedelta(minutes=minutes) for minutes in self.reminders)
        later: Iterable[datetime] = (moment for moment in due if moment > after)
        self.next_reminder_at = min(later, default=None) if self.status in REMINDED else None

    @transition(field=status, source=_PATCHED, target=None)
    def update(self) -> None:
        """Change members; the state stays."""

    @transition(field=status, source=[Status.PROPOSED.value, Status.BOOKED.value], target=Status.CONFIRMED.value)
    def confirm(self, at: datetime) -> None:
        """Settle that the appointment takes place."""

    @transition(field=status, source=[Status.BOOKED.value, Status.CONFIRMED.value], target=Status.CHECKED_IN.value)
    def check_in(self, at: datetime) -> None:
        """Note that the patient has arrived."""
        self.next_reminder_at = None

    @transition(field=status, source=[Status.CONFIRMED.value, Status.CHECKED_IN.value], target=Status.IN_PROGRESS.value)
    def start(self, at: datetime) -> None:
        """Begin the visit."""
        self.next_reminder_at = None

    @transition(field=status, source=[Status.CHECKED_IN.value, Status.IN_PROGRESS.value], target=Status.COMPLETED.value)
    def complete(self, at: datetime) -> None:
        """End the visit."""

    @transition(field=status, source=[Status.BOOKED.value, Status.CONFIRMED.value], target=Status.NO_SHOW.value)
    def no_show(self, at: datetime) -> None:
        """Note that the patient did not come.

        :raises TooEarly: the appointment has not begun.
        """
        if at < self.starts_at:
            raise TooEarly(starts_at=rfc3339(self.starts_at))
        self.next_reminder_at = None

    @transition(field=status, source=[str(one.value) for one in CANCELLABLE], target=Status.CANCELLED.value)
    def cancel(self, at: datetime, reason_code: str = CancelReason.UNSPECIFIED.value) -> None:
        """Call the appointment off."""
        self.cancel_reason_code = reason_code
        self.next_reminder_at = None


class Schedule(TenantOwned):
    """When and where a practitioner works, and absences; one for each practitioner, by the id of the clinical record.

    `location_ids` are the locations that `hours` name. Personal data: of staff, working hours, absences and notes.
    """

    practitioner_id = models.CharField(max_length=64, db_collation="C")
    hours: Any = models.JSONField(default=list)
    absences: Any = models.JSONField(default=list)
    location_ids = ArrayField(models.UUIDField(), default=list)

    WRITABLE: ClassVar = ("hours", "absences", "location_ids")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "practitioner_id"], name="appointments_schedule_one")]

    def __str__(self) -> str:
        return f"schedule {self.id}"
