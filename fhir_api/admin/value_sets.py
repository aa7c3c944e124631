"""Value sets that the acting tenant brought for `:in` and `:not-in`. For looking only: `manage.py fhir_value_sets` brings them."""

from django.contrib import admin

from fhir_api.value_sets.models import ValueSet
from organizations.staff.pages import TenantPages
from organizations.staff.roles import Area


@admin.register(ValueSet)
class ValueSetPages(TenantPages):
    """The acting tenant's value sets."""

    area = Area.RECORDS
    list_display = ("url", "set_version", "title", "count", "updated_at")
    search_fields = ("url", "title")
    ordering = ("url", "set_version")
    fields = ("url", "set_version", "title", "count", "codes", "created_at", "updated_at")
