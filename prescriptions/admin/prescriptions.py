"""Prescriptions of the acting tenant, for looking only; every look leaves an access record, in each tenant that is shown."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from unfold.paginator import InfinitePaginator

from core.clock import now
from core.db import tenant_context
from organizations.staff.columns import column
from organizations.staff.roles import Area, sees
from organizations.staff.tenant_admin import link_action
from prescriptions.lifecycle.models import Prescription, PrescriptionItem
from prescriptions.states import Status

from . import charts, stuck_page
from .buttons import PRESCRIPTION_BUTTONS
from .filters import ExpiredFilter, PlaceFilter, StuckPrescriptions, places_of_tenant
from .looked_at import LookedAtAdmin
from .looks import PRESCRIPTION, note_look
from .timelines import in_order, story_of
from .told import audiences_of, told_steps

COLOURS = {
    "draft": "info",
    "clinically_validated": "info",
    "signed": "success",
    "routed": "success",
    "dispensed": "success",
    "cancelled": "danger",
}
_WHO = ("patient_id", "prescriber_id", "place", "encounter_id", "created_by")
_COURSE = ("created_at", "signed_at", "expires_at", "is_expired", "dispensed_at", "cancelled_at", "cancel_reason_code")

_MORE = (("stuck", "Stuck work", "hourglass_bottom"), ("figures", "Figures", "bar_chart"))


@admin.register(Prescription)
class PrescriptionAdmin(LookedAtAdmin):
    """The acting tenant's prescriptions. A list shows numbers, states and ids; a page tells one from its draft on."""

    in_palette = True
    kind = PRESCRIPTION
    buttons = PRESCRIPTION_BUTTONS
    change_form_outer_after_template = "prescriptions/timeline.html"
    list_display = ("number", "state_label", "dispense_status", "route_state", "is_expired", "patient_id", "created_at")
    list_filter = ("status", "dispense_status", ExpiredFilter, PlaceFilter, StuckPrescriptions)
    search_fields = ("number__exact", "=id")
    search_help_text = "A number (RX-2026-000042) or an id, in full."
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    paginator = InfinitePaginator
    list_fullwidth = True
    fieldsets = (
        (None, {"fields": ("id", "number", "state_label", "dispense_status", "route_state", "tenant", "version")}),
        ("Who and where", {"fields": _WHO}),
        ("What", {"fields": ("lines", "priority", "category", "valid_from")}),
        ("Course", {"fields": _COURSE}),
        ("Evidence", {"fields": ("snapshot_id", "snapshot_digest", "snapshot_kid", "chain_length", "chain_hash")}),
        (
            "From where",
            {"fields": ("template_id", "recurring_treatment_id", "occurrence_index", "prior_prescription_id")},
        ),
    )
    readonly_fields = ("state_label", "is_expired", "place", "lines")

    @column(description="Status", ordering="status", label=COLOURS)
    def state_label(self, row: Prescription) -> str:
        """The status as a label."""
        return str(row.status)

    @column(description="Expired", boolean=True)
    def is_expired(self, row: Prescription) -> bool:
        """Whether it is open, and its last day is over."""
        is_open = row.status in (Status.SIGNED, Status.ROUTED)
        return is_open and row.expires_at is not None and row.expires_at <= now()

    @column(description="Location")
    def place(self, row: Prescription) -> str:
        """The location at which it was prescribed."""
        if row.location_id is None:
            return "–"
        return places_of_tenant(row.tenant_id).get(row.location_id, str(row.location_id))

    @column(description="Items")
    def lines(self, row: Prescription) -> SafeString:
        """What is prescribed, and how much of it was given."""
        items = PrescriptionItem.objects.filter(tenant_id=row.tenant_id, prescription_id=row.pk)
        items = items.annotate(most=F("quantity_value") * F("fills_allowed")).order_by("line", "id")
        return render_to_string("prescriptions/items.html", {"items": items})

    # -- pages ---------------------------------------------------------------------------------------------------------

    def further_urls(self) -> list[URLPattern]:
        """The pages of stuck work and of figures."""
        view = self.admin_site.admin_view
        return [
            path("stuck/", view(self.stuck_view), name="prescriptions_prescription_stuck"),
            path("figures/", view(self.figures_view), name="prescriptions_prescription_figures"),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with links to what is made of all of it."""
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed:
            more = [link_action(title, self._link(name), icon=icon) for name, title, icon in _MORE]
            listed["actions_list"] = [*listed.get("actions_list", ()), *more]
        return response

    def stuck_view(self, request: HttpRequest) -> HttpResponse:
        """What waits for somebody."""
        return stuck_page.show(request, self._context(request))

    def figures_view(self, request: HttpRequest) -> HttpResponse:
        """The figures of the last 90 days as charts."""
        return charts.show(request, self._context(request))

    def _context(self, request: HttpRequest) -> dict[str, Any]:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return {**self.admin_site.each_context(request), "opts": self.opts, "back": self._link("changelist")}

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """The page of one, with its timeline."""
        row: Prescription = kwargs["obj"]
        story = story_of(row)
        steps = [*story.steps, *self._told(request, row)]
        context |= {"steps": in_order(steps), "is_cut": story.is_cut, "prescription": row}
        return super().render_change_form(request, context, *args, **kwargs)

    def _told(self, request: HttpRequest, row: Prescription) -> list[Any]:
        """What both sides were told; a look into the pharmacy's tenant is recorded there, too."""
        if not sees(request.user, Area.WEBHOOKS):
            return []
        found = []
        for audience in audiences_of(row):
            found += told_steps(row, audience)
            if not audience.is_owner:
                with tenant_context(audience.tenant_id):
                    note_look(request, [row.patient_id], key=str(row.pk), tenant_id=audience.tenant_id)
        return found
