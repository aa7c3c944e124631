"""Filters of the lists of prescriptions: those that the tenant has issued, and those that were routed to it."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition
from prescriptions.lifecycle.copies import ReceivedPrescription
from prescriptions.lifecycle.models import Prescription
from prescriptions.states import DispenseStatus, Status

BOXES = [("issued", "issued"), ("received", "received")]
_EXPIRED = "t.status IN ('signed', 'routed') AND t.expires_at <= statement_timestamp()"


class _Shared(Filters):
    """The filters of both lists; `status` and `dispense_status` take comma-separated lists."""

    box = django_filters.ChoiceFilter(choices=BOXES)
    status = django_filters.CharFilter(max_length=120)
    patient_id = django_filters.CharFilter(max_length=64)
    prescriber_id = django_filters.CharFilter(max_length=64)
    pharmacy_location_id = django_filters.UUIDFilter()
    dispense_status = django_filters.CharFilter(max_length=60)
    number = django_filters.CharFilter(max_length=14)
    expired = django_filters.BooleanFilter()

    def condition_box(self, value: str) -> Condition:
        """All rows: the view has chosen the list by this filter."""
        return Condition("true", ())

    def condition_status(self, value: str) -> Condition:
        """Prescriptions in one of the given statuses."""
        return one_of("status", value, Status.values, is_literal=True)

    def condition_dispense_status(self, value: str) -> Condition:
        """Prescriptions of which none, a part or all was dispensed."""
        return one_of("dispense_status", value, DispenseStatus.values, is_literal=True)

    def condition_expired(self, value: bool) -> Condition:
        """Prescriptions that are, or are not, expired now."""
        return Condition(_EXPIRED if value else f"({_EXPIRED}) IS NOT TRUE", ())


class PrescriptionFilters(_Shared):
    """Filters of the prescriptions that the tenant has issued; `from` is inclusive, `to` exclusive."""

    to = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="lt")

    class Meta:
        model = Prescription
        fields: Any = []


class ReceivedFilters(_Shared):
    """Filters of the prescriptions that were routed to the tenant; times are those of routing."""

    to = django_filters.IsoDateTimeFilter(field_name="routed_at", lookup_expr="lt")

    class Meta:
        model = ReceivedPrescription
        fields: Any = []


# `from` is a word of Python.
for _filters, _column in ((PrescriptionFilters, "created_at"), (ReceivedFilters, "routed_at")):
    _filters.base_filters["from"] = django_filters.IsoDateTimeFilter(field_name=_column, lookup_expr="gte")
