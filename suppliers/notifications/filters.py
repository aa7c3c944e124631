"""Filters of the lists of notifications and alerts. Source: contract, supply-order.md 5."""

from typing import Any, ClassVar, Final

import django_filters

from api.filters import Filters, one_of
from api.periods import MomentFilter, PeriodForm, since, until
from core.conditions import Condition

from .models import Notification
from .representations import CURRENT, UNREAD
from .states import TOLD, Kind, Severity

_READ: Final = UNREAD.removeprefix("NOT ")


class AlertFilters(Filters):
    """Filters of open alerts; `type` and `severity` take comma-separated lists."""

    type = django_filters.CharFilter(max_length=250)
    severity = django_filters.CharFilter(max_length=40)
    unread = django_filters.BooleanFilter()
    acknowledged = django_filters.BooleanFilter()
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")
    to = MomentFilter(max_length=40)

    class Meta:
        model = Notification
        fields: Any = []
        form = PeriodForm

    def condition_from(self, value: str) -> Condition:
        """Notifications that were made at a moment or later."""
        return since("t.created_at", value)

    def condition_to(self, value: str) -> Condition:
        """Notifications that were made before a moment."""
        return until("t.created_at", value)

    def condition_type(self, value: str) -> Condition:
        """Notifications of the given types."""
        return one_of("type", value, TOLD)

    def condition_severity(self, value: str) -> Condition:
        """Notifications of the given severities."""
        return one_of("severity", value, Severity.values)

    def condition_unread(self, value: bool) -> Condition:
        """Notifications that the caller has not read, or those that it has."""
        return Condition(UNREAD if value else _READ)

    def condition_acknowledged(self, value: bool) -> Condition:
        """Alerts that somebody has acknowledged, or the others."""
        return Condition(f"t.acknowledged_at IS {'NOT ' if value else ''}NULL")


class NotificationFilters(AlertFilters):
    """Filters of notifications; archived ones are shown only where `archived` asks for them."""

    kind = django_filters.ChoiceFilter(choices=Kind.choices)
    archived = django_filters.BooleanFilter()

    otherwise: ClassVar = {"archived": CURRENT}

    class Meta(AlertFilters.Meta):
        pass

    def condition_archived(self, value: bool) -> Condition:
        """Archived notifications, or the others."""
        return Condition("t.archived_at IS NOT NULL" if value else CURRENT)


# `from` is a word of Python.
for _filters in (AlertFilters, NotificationFilters):
    _filters.base_filters["from"] = MomentFilter(max_length=40)
