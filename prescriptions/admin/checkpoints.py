"""Checkpoints of the acting tenant's audit histories, with an alarm where there is a gap. For looking only."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from core.clock import now
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin
from prescriptions.evidence.models import Checkpoint

from .gaps import gaps_of
from .looks import chosen_tenant


@admin.register(Checkpoint)
class CheckpointAdmin(TenantAdmin):
    """The signed roots of the trees over the ends of the tenant's audit histories; no patient is named."""

    area = Area.SECURITY
    list_before_template = "prescriptions/gaps.html"
    list_display = ("number", "at", "size", "kid")
    search_fields = ("=kid",)
    search_help_text = "The id of a key, in full: what it signed."
    ordering = ("-number", "-id")
    fields = ("id", "tenant", "number", "at", "size", "root", "previous", "digest", "kid", "jws")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the signed texts in the database where a list is shown."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.defer("jws")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with the gaps in it."""
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed:
            listed["gaps"] = gaps_of(chosen_tenant(request).tenant_id, now())
        return response
