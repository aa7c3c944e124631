"""Filters of the list of files."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from core.conditions import TENANT, Condition

from .models import File
from .states import FileStatus, Purpose, ResourceType

_BOUND = f"EXISTS (SELECT 1 FROM suppliers_filebinding b WHERE b.tenant_id = {TENANT} AND b.file_id = t.id AND "


class FileFilters(Filters):
    """Filters of files; `status` and `purpose` take comma-separated lists."""

    purpose = django_filters.CharFilter(max_length=200)
    status = django_filters.CharFilter(max_length=80)
    resource_type = django_filters.ChoiceFilter(choices=ResourceType.choices)
    resource_id = django_filters.UUIDFilter()
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = File
        fields: Any = []

    def condition_purpose(self, value: str) -> Condition:
        """Files for one of the given purposes."""
        return one_of("purpose", value, Purpose.values)

    def condition_status(self, value: str) -> Condition:
        """Files in one of the given states."""
        return one_of("status", value, FileStatus.values)

    def condition_resource_type(self, value: str) -> Condition:
        """Files that are bound to something of a type."""
        return Condition(_BOUND + "b.resource_type = {0})", (value,))

    def condition_resource_id(self, value: Any) -> Condition:
        """Files that are bound to one thing; with `resource_type`, to a thing of this type."""
        kind = self.form.cleaned_data.get("resource_type")
        if kind:
            return Condition(_BOUND + "b.resource_id = {0} AND b.resource_type = {1})", (str(value), kind))
        return Condition(_BOUND + "b.resource_id = {0})", (str(value),))
