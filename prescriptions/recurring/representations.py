"""Recurring treatments as clients read them."""

from typing import ClassVar

from api.representations import Document, Representation
from prescriptions.templates.representations import WantedItemForm

from .models import RecurringTreatment


class TreatmentScheduleOut(Representation):
    """How often, from when and until when."""

    class Meta:
        model = RecurringTreatment
        fields = ("every", "unit", "start_date", "end_date", "max_occurrences")


class RecurringTreatmentOut(Representation):
    """A treatment that goes on, and when its next prescription is due."""

    items = Document(WantedItemForm(many=True), allow_null=True)
    schedule = TreatmentScheduleOut(source="*")

    class Meta:
        model = RecurringTreatment
        name = "recurring treatment"
        fields = (
            "id", "tenant_id", "patient_id", "prescriber_id", "location_id", "template_id", "items", "schedule",
            "lead_days", "next_due_on", "occurrences_created", "occurrences_skipped", "status", "pause_reason",
            "review_by", "last_prescription_id", "auto_create_draft", "created_by", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("pause_reason",)
        example: ClassVar = {"patient_id": "pat-1", "prescriber_id": "prac-1", "status": "active", "pause_reason": None}
