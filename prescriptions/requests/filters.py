"""Filters of the lists of requests: those about the tenant's own prescriptions, and those that the tenant has asked."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition
from prescriptions.prescribing.filters import BOXES
from prescriptions.states import RequestKind, RequestStatus

from .models import PrescriptionRequest, ReceivedRequest


class _Shared(Filters):
    """The filters of both lists; `status` and `kind` take comma-separated lists."""

    box = django_filters.ChoiceFilter(choices=BOXES)
    status = django_filters.CharFilter(max_length=120)
    kind = django_filters.CharFilter(max_length=60)
    prescription_id = django_filters.UUIDFilter()
    prescriber_id = django_filters.CharFilter(max_length=64)

    def condition_box(self, value: str) -> Condition:
        """All rows: the view has chosen the list by this filter."""
        return Condition("true", ())

    def condition_status(self, value: str) -> Condition:
        """Requests in one of the given states."""
        return one_of("status", value, RequestStatus.values)

    def condition_kind(self, value: str) -> Condition:
        """Requests of one of the given kinds."""
        return one_of("kind", value, RequestKind.values)


class RequestFilters(_Shared):
    """Filters of the requests about the tenant's prescriptions; `from` is inclusive, `to` exclusive."""

    to = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="lt")

    class Meta:
        model = PrescriptionRequest
        fields: Any = []


class AskedFilters(_Shared):
    """Filters of the requests that the tenant has asked."""

    to = django_filters.IsoDateTimeFilter(field_name="received_at", lookup_expr="lt")

    class Meta:
        model = ReceivedRequest
        fields: Any = []


# `from` is a word of Python.
for _filters, _column in ((RequestFilters, "created_at"), (AskedFilters, "received_at")):
    _filters.base_filters["from"] = django_filters.IsoDateTimeFilter(field_name=_column, lookup_expr="gte")
