"""Who read patients' data of the acting tenant. For looking only."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.paginator import InfinitePaginator

from core.ids import parse_uuid
from fhir_api.access.models import SHOWN, AccessPatient, AccessRecord
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin


@admin.register(AccessRecord)
class AccessRecordAdmin(TenantAdmin):
    """The acting tenant's access log."""

    area = Area.SECURITY
    list_display = ("created_at", "interaction", "resource_type", "resource_id", "whose", "count", "outcome", "reason")
    list_filter = ("interaction", "resource_type")
    search_fields = ("=resource_id",)
    search_help_text = "A Patient's id, or the id of a person or service that read, in full."
    ordering = ("-created_at", "-id")
    paginator = InfinitePaginator
    list_fullwidth = True
    fields = ("tenant_id", *SHOWN)

    @column(description="Patients")
    def whose(self, row: Any) -> str:
        """The patient, or how many there were."""
        return str(row.patients[0]) if len(row.patients) == 1 else str(len(row.patients))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Look the words up as a patient, and as whoever read."""
        term = search_term.strip()
        if not term:
            return queryset, False
        named = AccessPatient.objects.filter(patient=term).values("id")
        found: QuerySet[Any] = queryset.filter(id__in=named)
        subject: UUID | None = parse_uuid(term)
        return (found | queryset.filter(subject_id=subject)) if subject else found, False
