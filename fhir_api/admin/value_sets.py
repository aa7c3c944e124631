"""Value sets that the acting tenant brought for `:in` and `:not-in`. For looking only: `manage.py fhir_value_sets` brings them."""

import json

from django.contrib import admin
from django.utils.safestring import SafeString

from fhir_api.value_sets.models import ValueSet
from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin


@admin.register(ValueSet)
class ValueSetAdmin(TenantAdmin):
    """The acting tenant's value sets."""

    area = Area.RECORDS
    list_display = ("url", "set_version", "title", "count", "updated_at")
    search_fields = ("url", "title")
    ordering = ("url", "set_version")
    fields = ("url", "set_version", "title", "count", "all_codes", "created_at", "updated_at")
    readonly_fields = ("all_codes",)

    @column(description="Codes by system")
    def all_codes(self, row: ValueSet) -> SafeString:
        """The codes, one in each line."""
        return columns.json_lines(json.loads(row.codes))
