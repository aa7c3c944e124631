"""Event types of appointments: thin, without the patient. Source: contract, prescriptions "Events"."""

from dataclasses import dataclass, field
from typing import ClassVar, Final

from ledger.public import EventType, register


@dataclass(frozen=True)
class AppointmentEvent(EventType):
    """Something happened to an appointment; `status` is the one that it has now."""

    resource: ClassVar[str] = "appointment"
    href: ClassVar[str] = "/v1/appointments/{id}"
    data_class: ClassVar[str] = "phi"

    status: str = field(metadata={"example": "booked"})


@register
@dataclass(frozen=True)
class AppointmentBooked(AppointmentEvent):
    """An appointment was booked; a proposed one tells nothing until it is confirmed."""

    type: ClassVar[str] = "appointment.booked"


@register
@dataclass(frozen=True)
class AppointmentConfirmed(AppointmentEvent):
    """An appointment was confirmed."""

    type: ClassVar[str] = "appointment.confirmed"


@register
@dataclass(frozen=True)
class AppointmentRescheduled(AppointmentEvent):
    """An appointment has other times, another practitioner or another location."""

    type: ClassVar[str] = "appointment.rescheduled"


@register
@dataclass(frozen=True)
class AppointmentCheckedIn(AppointmentEvent):
    """The patient has arrived."""

    type: ClassVar[str] = "appointment.checked_in"


@register
@dataclass(frozen=True)
class AppointmentStarted(AppointmentEvent):
    """The visit has begun."""

    type: ClassVar[str] = "appointment.started"


@register
@dataclass(frozen=True)
class AppointmentCompleted(AppointmentEvent):
    """The visit has ended."""

    type: ClassVar[str] = "appointment.completed"


@register
@dataclass(frozen=True)
class AppointmentNoShow(AppointmentEvent):
    """The patient did not come."""

    type: ClassVar[str] = "appointment.no_show"


@register
@dataclass(frozen=True)
class AppointmentCancelled(AppointmentEvent):
    """An appointment was called off."""

    type: ClassVar[str] = "appointment.cancelled"


@register
@dataclass(frozen=True)
class AppointmentReminderDue(AppointmentEvent):
    """It is time to remind the patient; once for each of the appointment's reminders."""

    type: ClassVar[str] = "appointment.reminder_due"


AFTER: Final[dict[str, type[AppointmentEvent]]] = {
    "confirm": AppointmentConfirmed,
    "check_in": AppointmentCheckedIn,
    "start": AppointmentStarted,
    "complete": AppointmentCompleted,
    "no_show": AppointmentNoShow,
    "cancel": AppointmentCancelled,
}
