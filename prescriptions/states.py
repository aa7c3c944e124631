"""States of prescriptions, their routes, items and requests. Source: contract, prescriptions.md "Lifecycle"."""

from typing import Final

from django.db import models


class Status(models.TextChoices):
    DRAFT = "draft"
    CLINICALLY_VALIDATED = "clinically_validated"
    SIGNED = "signed"
    ROUTED = "routed"
    DISPENSED = "dispensed"
    CANCELLED = "cancelled"


class DispenseStatus(models.TextChoices):
    NONE = "none"
    PARTIAL = "partial"
    COMPLETE = "complete"


class ItemStatus(models.TextChoices):
    PENDING = "pending"
    PARTIAL = "partial"
    COMPLETE = "complete"
    NOT_DISPENSED = "not_dispensed"


class RouteState(models.TextChoices):
    QUEUED = "queued"
    SENT = "sent"
    ACKNOWLEDGED = "acknowledged"
    REJECTED = "rejected"
    RETURNED = "returned"
    SUPERSEDED = "superseded"


class Progress(models.TextChoices):
    READY_FOR_COLLECTION = "ready_for_collection"


class Priority(models.TextChoices):
    ROUTINE = "routine"
    URGENT = "urgent"
    ASAP = "asap"
    STAT = "stat"


class Category(models.TextChoices):
    OUTPATIENT = "outpatient"
    INPATIENT = "inpatient"
    COMMUNITY = "community"
    DISCHARGE = "discharge"


class Schedule(models.TextChoices):
    I = "I"  # noqa: E741  # the schedule's own name
    II = "II"
    III = "III"
    IV = "IV"
    V = "V"
    NONE = "none"


class DispensationStatus(models.TextChoices):
    COMPLETED = "completed"
    REVERSED = "reversed"


class RequestKind(models.TextChoices):
    RENEWAL = "renewal"
    CHANGE = "change"
    CLARIFICATION = "clarification"


class RequestStatus(models.TextChoices):
    OPEN = "open"
    APPROVED = "approved"
    APPROVED_WITH_CHANGES = "approved_with_changes"
    DENIED = "denied"
    ANSWERED = "answered"
    CLOSED = "closed"


class Visibility(models.TextChoices):
    PRIVATE = "private"
    LOCATION = "location"
    TENANT = "tenant"


class TreatmentStatus(models.TextChoices):
    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    ENDED = "ended"


class IntervalUnit(models.TextChoices):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class PauseReason(models.TextChoices):
    BY_PERSON = "by_person"
    PRESCRIBER_INACTIVE = "prescriber_inactive"
    PATIENT_DECEASED = "patient_deceased"
    PATIENT_NOT_FOUND = "patient_not_found"
    TEMPLATE_GONE = "template_gone"
    QUOTA_EXCEEDED = "quota_exceeded"
    REVIEW_DUE = "review_due"


LIVE: Final = (RouteState.QUEUED.value, RouteState.SENT.value, RouteState.ACKNOWLEDGED.value)
HANDED_OVER: Final = (Status.ROUTED.value, Status.DISPENSED.value)

# The words of the paths that a status admits, in the answers to a forbidden one. `sign` on a draft validates first.
ALLOWED: Final[dict[str, tuple[str, ...]]] = {
    Status.DRAFT: ("cancel", "sign", "update", "validate"),
    Status.CLINICALLY_VALIDATED: ("cancel", "sign", "update", "validate"),
    Status.SIGNED: ("cancel", "claim", "route", "token"),
    Status.ROUTED: ("acknowledge", "cancel", "dispense", "ready", "return", "reverse", "route"),
    Status.DISPENSED: ("reverse",),
    Status.CANCELLED: ("acknowledge",),
}
