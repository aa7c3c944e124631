"""Table of recurring treatments."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel, transition
from core.row_security import TableSecurity
from organizations.public import TenantOwned
from prescriptions.lifecycle.models import fhir_id
from prescriptions.states import IntervalUnit, TreatmentStatus

_ACTIVE, _PAUSED = TreatmentStatus.ACTIVE.value, TreatmentStatus.PAUSED.value


class RecurringTreatment(TenantOwned, LifecycleModel):
    """A treatment that goes on: a draft is made for each date on which the next prescription is due.

    `next_index` counts the occurrences from 0, whether a draft was made, it was told, or the date was skipped. Dates are
    counted from `base_date`, that of the occurrence `first_index`, and in months on `anchor_day`. `drafts_from` is the
    instant from which the job looks at the row. Personal data: who is treated, with what.
    """

    patient_id = fhir_id()
    prescriber_id = fhir_id()
    location_id = models.UUIDField(null=True)
    template_id = models.UUIDField(null=True)
    items = models.JSONField(null=True)
    every = models.PositiveIntegerField()
    unit = models.CharField(max_length=5, choices=IntervalUnit)
    start_date = models.DateField()
    base_date = models.DateField()
    anchor_day = models.PositiveSmallIntegerField()
    first_index = models.PositiveIntegerField(default=0)
    end_date = models.DateField(null=True)
    max_occurrences = models.PositiveIntegerField(null=True)
    lead_days = models.PositiveIntegerField(default=3)
    review_by = models.DateField(null=True)
    auto_create_draft = models.BooleanField(default=True)
    status = FSMField(default=_ACTIVE, choices=TreatmentStatus, protected=True, max_length=9)
    pause_reason = models.CharField(max_length=40, blank=True, default="")
    next_index = models.PositiveIntegerField(default=0)
    next_due_on = models.DateField(null=True)
    drafts_from = models.DateTimeField(null=True)
    occurrences_created = models.IntegerField(default=0)
    occurrences_skipped = models.IntegerField(default=0)
    last_prescription_id = models.UUIDField(null=True)
    created_by = models.UUIDField()

    security: ClassVar = TableSecurity(dispatcher=True)
    unversioned: ClassVar = ("drafts_from",)
    WRITABLE: ClassVar = (
        "template_id", "items", "every", "unit", "start_date", "end_date", "max_occurrences", "lead_days", "review_by",
        "auto_create_draft",
    )  # fmt: skip

    class Meta:
        verbose_name = "recurring treatment"
        constraints = [
            models.CheckConstraint(condition=Q(every__gte=1), name="prescriptions_recurring_every"),
            models.CheckConstraint(
                condition=Q(template_id__isnull=False, items__isnull=True)
                | Q(template_id__isnull=True, items__isnull=False),
                name="prescriptions_recurring_what",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="prescriptions_rec_treatments"),
            models.Index(fields=["tenant", "patient_id", "created_at", "id"], name="prescriptions_rec_patient"),
            models.Index(
                fields=["tenant", "id", "drafts_from"],
                condition=Q(drafts_from__isnull=False),
                name="prescriptions_rec_due",
            ),
        ]

    def __str__(self) -> str:
        return f"every {self.every} {self.unit}"

    @transition(field=status, source=_ACTIVE, target=_PAUSED)
    def pause(self, reason: str) -> None:
        """Make no drafts until it is resumed."""
        self.pause_reason = reason

    @transition(field=status, source=_PAUSED, target=_ACTIVE)
    def resume(self) -> None:
        """Make drafts again."""
        self.pause_reason = ""

    @transition(field=status, source=[_ACTIVE, _PAUSED], target=TreatmentStatus.ENDED.value)
    def end(self) -> None:
        """End the treatment for good."""
        self.pause_reason = ""

    @transition(field=status, source=_ACTIVE, target=TreatmentStatus.COMPLETED.value)
    def complete(self) -> None:
        """Take the treatment as completed: its last occurrence was made."""
