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
from organizations.staff.names import Ids, NamedRows
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin


@admin.register(AccessRecord)
class AccessRecordAdmin(NamedRows, TenantAdmin):
    """The acting tenant's access log."""

    area = Area.SECURITY
    list_display = (
        "created_at",
        "who",
        "by",
        "as_member",
        "interaction",
        "resource_type",
        "resource_id",
        "whose",
        "count",
        "outcome",
        "reason",
    )
    list_filter = ("interaction", "resource_type")
    search_fields = ("=resource_id",)
    search_help_text = "A Patient's id, or the id of a person or service that read, in full."
    ordering = ("-created_at", "-id")
    paginator = InfinitePaginator
    list_fullwidth = True
    fields = ("who", "by", "as_member", "tenant_id", *SHOWN)
    readonly_fields = ("who", "by", "as_member")

    def ids_of(self, row: AccessRecord) -> Ids:
        """Whoever read, with which credential and membership."""
        return Ids(row.subject_id, row.credential, row.membership_id)

    @column(description="Who")
    def who(self, row: AccessRecord) -> str:
        """The person or service that read."""
        names, ids = self.names(row)
        return names.subject(ids)

    @column(description="By")
    def by(self, row: AccessRecord) -> str:
        """The key or client, if it was one."""
        names, ids = self.names(row)
        return names.credential(ids)

    @column(description="As member of")
    def as_member(self, row: AccessRecord) -> str:
        """The tenant and the roles at it."""
        names, ids = self.names(row)
        return names.membership(ids)

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
