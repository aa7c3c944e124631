"""Prescriptions that the acting tenant has received as a pharmacy, for looking only."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from unfold.paginator import InfinitePaginator

from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.tenant_admin import link_action
from prescriptions.lifecycle.copies import ReceivedPrescription
from prescriptions.states import RouteState, Status

from .filters import KnownFilter
from .looked_at import LookedAtAdmin


class StatusFilter(KnownFilter):
    """By the status of the prescription."""

    title = "status"
    parameter_name = field = "status"
    words = tuple(Status.values)


class RouteFilter(KnownFilter):
    """By the state of the route."""

    title = "route"
    parameter_name = field = "route_state"
    words = tuple(RouteState.values)


@admin.register(ReceivedPrescription)
class ReceivedPrescriptionAdmin(LookedAtAdmin):
    """The pharmacy's copies, as they are served to it."""

    in_palette = True
    kind = "Prescription"
    list_display = (
        "number",
        "status",
        "route_state",
        "dispense_status",
        "pharmacy_location_id",
        "patient_id",
        "routed_at",
    )
    list_filter = (StatusFilter, RouteFilter)
    search_fields = ("=id", "number__exact")
    search_help_text = "An id or a number, in full. Numbers are their owners' own."
    ordering = ("-routed_at", "-id")
    paginator = InfinitePaginator
    fieldsets = (
        (None, {"fields": ("id", "number", "status", "route_state", "dispense_status", "tenant", "version")}),
        ("From and to", {"fields": ("owner_tenant_id", "pharmacy_location_id", "patient_id", "prescriber_id")}),
        ("Course", {"fields": ("routed_at", "received_at", "expires_at", "updated_at")}),
        ("As it is served", {"fields": ("served", "items")}),
    )
    readonly_fields = ("served", "items")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave what is served in the database where a list is shown."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.defer("representation", "lines")

    def links(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        """To the owner's own page, which opens once the member of staff acts in the owner's tenant."""
        page = reverse("admin:prescriptions_prescription_change", args=[row.pk])
        query = urlencode({"tenant": str(row.owner_tenant_id), "next": page})
        return [link_action("At its owner", f"{reverse('admin:acting_tenant')}?{query}", icon="visibility")]

    @column(description="Prescription")
    def served(self, row: ReceivedPrescription) -> SafeString:
        """The prescription as the pharmacy reads it."""
        return columns.json_lines(row.representation)

    @column(description="Items")
    def items(self, row: ReceivedPrescription) -> SafeString:
        """Its items."""
        return columns.json_lines(row.lines)
