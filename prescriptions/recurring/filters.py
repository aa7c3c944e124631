"""Filters of the list of recurring treatments."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition
from prescriptions.states import TreatmentStatus

from .models import RecurringTreatment


class RecurringTreatmentFilters(Filters):
    """Filters of recurring treatments; `status` takes a comma-separated list."""

    patient_id = django_filters.CharFilter(max_length=64)
    status = django_filters.CharFilter(max_length=60)

    class Meta:
        model = RecurringTreatment
        fields: Any = []

    def condition_status(self, value: str) -> Condition:
        """Treatments in one of the given statuses."""
        return one_of("status", value, TreatmentStatus.values)
