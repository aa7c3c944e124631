"""Filters of the list of reports."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from api.periods import MomentFilter, PeriodForm, since, until
from core.conditions import Condition

from .models import Report
from .states import Format, ReportStatus, ReportType


class ReportFilters(Filters):
    """Filters of reports; `type`, `format` and `status` take comma-separated lists, `from` and `to` are about `created_at`."""

    type = django_filters.CharFilter(max_length=80)
    format = django_filters.CharFilter(max_length=40)
    status = django_filters.CharFilter(max_length=80)
    to = MomentFilter(max_length=40)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = Report
        fields: Any = []
        form = PeriodForm

    def condition_type(self, value: str) -> Condition:
        """Reports of the given types."""
        return one_of("type", value, ReportType.values)

    def condition_format(self, value: str) -> Condition:
        """Reports in the given formats."""
        return one_of("format", value, Format.values)

    def condition_status(self, value: str) -> Condition:
        """Reports that are so far."""
        return one_of("status", value, ReportStatus.values)

    def condition_from(self, value: str) -> Condition:
        """Reports that were asked for then or later."""
        return since("t.created_at", value)

    def condition_to(self, value: str) -> Condition:
        """Reports that were asked for before."""
        return until("t.created_at", value)


# `from` is a word of Python.
ReportFilters.base_filters["from"] = MomentFilter(max_length=40)
