"""The states of appointments, and the choices of their fields. Source: contract, prescriptions "Appointments"."""

from typing import Final

from django.db.models import TextChoices


class Status(TextChoices):
    """The status of an appointment; `completed`, `no_show` and `cancelled` are final."""

    PROPOSED = "proposed"
    BOOKED = "booked"
    CONFIRMED = "confirmed"
    CHECKED_IN = "checked_in"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    NO_SHOW = "no_show"
    CANCELLED = "cancelled"


# A practitioner has one of these at a time; the exclusion constraint holds it.
HOLDING: Final = (Status.BOOKED, Status.CONFIRMED, Status.CHECKED_IN, Status.IN_PROGRESS)
REMINDED: Final = (Status.BOOKED, Status.CONFIRMED)
CANCELLABLE: Final = (Status.PROPOSED, Status.BOOKED, Status.CONFIRMED, Status.CHECKED_IN)
AT_CREATION: Final = (Status.PROPOSED, Status.BOOKED)


class Mode(TextChoices):
    """How practitioner and patient meet."""

    IN_PERSON = "in_person"
    VIDEO = "video"
    PHONE = "phone"


class CancelReason(TextChoices):
    """Why an appointment was cancelled."""

    PATIENT_REQUEST = "patient_request"
    PROVIDER_REQUEST = "provider_request"
    RESCHEDULED = "rescheduled"
    ENTERED_IN_ERROR = "entered_in_error"
    UNSPECIFIED = "unspecified"
    OTHER = "other"


class Scope(TextChoices):
    """Which appointments of a series are meant."""

    THIS = "this"
    FOLLOWING = "following"


class Unit(TextChoices):
    """The unit of a recurrence."""

    WEEK = "week"
    MONTH = "month"


DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
HOLIDAY: Final = "holiday"
