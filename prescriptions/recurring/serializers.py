"""Bodies of recurring treatments, and the body of the draft that one makes."""

from datetime import date
from typing import Any, ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from rest_framework import serializers

from api.serializers import DateField, StrictSerializer, form, read
from prescriptions.prescribing.serializers import MOST_ITEMS, ItemIn, PrescriptionDraftIn, fhir_id, many, optional_id
from prescriptions.states import IntervalUnit

from .models import RecurringTreatment

EARLIEST, LATEST = date(1970, 1, 1), date(2199, 12, 31)
MOST_OCCURRENCES, LONGEST_LEAD = 10_000, 365


def day(**options: Any) -> DateField:
    """Return a date of a treatment."""
    bounds = [MinValueValidator(EARLIEST), MaxValueValidator(LATEST)]
    return DateField(validators=bounds, **options)


class WholeItemIn(ItemIn):
    """One medication as it is prescribed each time; whole, also where the rest of the body is partial."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Check the item as in a body of its own."""
        return form(ItemIn).run_validation(data)


class TreatmentScheduleIn(StrictSerializer):
    """Every so many days, weeks or months from a date on; `end_date` belongs to it."""

    every = serializers.IntegerField(min_value=1, max_value=365)
    unit = serializers.ChoiceField(choices=IntervalUnit.choices)
    start_date = day()
    end_date = day(required=False, allow_null=True)
    max_occurrences = serializers.IntegerField(min_value=1, max_value=MOST_OCCURRENCES, required=False, allow_null=True)

    class Meta:
        example: ClassVar = {"every": 1, "unit": "month", "start_date": "2026-12-01"}


class RecurringTreatmentChange(StrictSerializer):
    """Members of a treatment that may be changed; of the schedule only what is given."""

    template_id = serializers.UUIDField(required=False, allow_null=True)
    items = many(WholeItemIn, required=False, allow_null=True, min_length=1, max_length=MOST_ITEMS)
    schedule = TreatmentScheduleIn()
    lead_days = serializers.IntegerField(min_value=0, max_value=LONGEST_LEAD, required=False)
    review_by = day(required=False, allow_null=True)
    auto_create_draft = serializers.BooleanField(required=False)

    class Meta:
        example: ClassVar = {"lead_days": 5, "schedule": {**TreatmentScheduleIn.Meta.example, "end_date": "2027-11-30"}}


class RecurringTreatmentIn(RecurringTreatmentChange):
    """A treatment that goes on, by a template or by items."""

    patient_id = fhir_id()
    prescriber_id = optional_id()
    location_id = serializers.UUIDField(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {
            "patient_id": "pat-1",
            "items": [ItemIn.Meta.example],
            "schedule": TreatmentScheduleIn.Meta.example,
        }


def draft_of(row: RecurringTreatment) -> dict[str, Any]:
    """Return the checked body of the draft that a treatment makes.

    :raises InvalidFields: its items are no longer valid.
    """
    body = {
        "patient_id": row.patient_id,
        "prescriber_id": row.prescriber_id,
        "location_id": str(row.location_id) if row.location_id else None,
        "template_id": str(row.template_id) if row.template_id else None,
        "items": row.items,
    }
    return read(PrescriptionDraftIn, body)
