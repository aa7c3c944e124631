"""Appointments and schedules of the acting tenant, for looking only; every look at patients' data leaves an access record."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from unfold.paginator import InfinitePaginator

from core.clock import now
from core.pipeline import run
from fhir_api.public import Access, record_read
from organizations.public import places_call, places_of
from organizations.staff import acting_tenant, columns
from organizations.staff.audit import staff_actor
from organizations.staff.columns import column
from organizations.staff.exports import MOST_ROWS
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin, link_action

from .models import Appointment, Schedule

MOST_OF_A_DAY = 2_000
_COLOURS = {
    "proposed": "info",
    "booked": "info",
    "confirmed": "success",
    "checked_in": "success",
    "in_progress": "warning",
    "no_show": "danger",
    "cancelled": "danger",
}


@admin.register(Appointment)
class AppointmentAdmin(TenantAdmin):
    """The acting tenant's appointments. A list shows times and ids; a page shows the reason, too."""

    area = Area.RECORDS
    list_display = ("starts_at", "ends_at", "state_label", "practitioner_id", "patient_id", "location", "mode")
    list_filter = ("status", "mode")
    list_select_related = ("location",)
    search_fields = ("=practitioner_id", "=patient_id", "=series_id")
    search_help_text = "The id of a practitioner, a patient or a series, in full."
    date_hierarchy = "starts_at"
    ordering = ("-starts_at", "-id")
    paginator = InfinitePaginator
    list_fullwidth = True
    fieldsets = (
        (None, {"fields": ("id", "state_label", "starts_at", "ends_at", "time_zone", "mode", "tenant")}),
        ("Who and where", {"fields": ("patient_id", "practitioner_id", "location", "service_type", "reason")}),
        ("Series and reminders", {"fields": ("series_id", "rule", "reminders", "next_reminder_at", "told")}),
        (
            "Course",
            {"fields": ("cancel_reason_code", "outside_hours", "created_by", "created_at", "updated_at", "version")},
        ),
    )
    readonly_fields = ("state_label", "rule", "told")

    @column(description="Status", ordering="status", label=_COLOURS)
    def state_label(self, row: Appointment) -> str:
        """The status as a label."""
        return str(row.status)

    @column(description="Recurrence")
    def rule(self, row: Appointment) -> SafeString | str:
        """How the series recurs."""
        return columns.json_lines(row.recurrence) if row.recurrence else "–"

    @column(description="Warnings")
    def told(self, row: Appointment) -> SafeString | str:
        """What was found when the times were last written."""
        return columns.json_lines(row.warnings) if row.warnings else "–"

    def further_urls(self) -> list[URLPattern]:
        """The page of one day."""
        view = self.admin_site.admin_view(self.day_view)
        return [path("day/", view, name="appointments_appointment_day")]

    # -- looking leaves a record ---------------------------------------------------------------------------------------

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list; whose appointments are on the page is recorded."""
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed:
            listed["actions_list"] = [
                *listed.get("actions_list", ()), link_action("Day view", self._link("day"), icon="calendar_view_day")
            ]  # fmt: skip
            _note(request, listed["cl"].result_list, parameters=sorted(request.GET))
        return response

    def export_view(self, request: HttpRequest) -> HttpResponse:
        """The list as CSV, recorded alike."""
        response = super().export_view(request)
        rows = self.get_changelist_instance(request).get_queryset(request)[:MOST_ROWS]
        _note(request, rows, parameters=sorted({*request.GET, "export"}))
        return response

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """The page of one appointment."""
        row: Appointment = kwargs["obj"]
        _note(request, [row], key=str(row.pk))
        return super().render_change_form(request, context, *args, **kwargs)

    def day_view(self, request: HttpRequest) -> HttpResponse:
        """The appointments of one day by practitioner, in the tenant's time zone."""
        chosen = acting_tenant.current(request)
        if chosen is None or not self.has_view_permission(request):
            raise PermissionDenied
        (rows,) = run([places_call(chosen.tenant_id, [])])
        zone = places_of(rows)[None].time_zone
        day = _day_of(request.GET.get("date", ""), zone)
        start, end = (
            datetime(one.year, one.month, one.day, tzinfo=ZoneInfo(zone)) for one in (day, day + timedelta(1))
        )
        found = self.get_queryset(request).filter(starts_at__lt=end, ends_at__gt=start).select_related("location")
        shown = list(found.order_by("practitioner_id", "starts_at", "id")[:MOST_OF_A_DAY])
        _note(request, shown, parameters=["date"])
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Appointments of {day.isoformat()}",
            "day": day,
            "before": (day - timedelta(1)).isoformat(),
            "after": (day + timedelta(1)).isoformat(),
            "zone": zone,
            "practitioners": _by_practitioner(shown),
            "count": len(shown),
            "is_cut": len(shown) == MOST_OF_A_DAY,
            "back": self._link("changelist"),
        }
        return TemplateResponse(request, "appointments/day.html", context)


@admin.register(Schedule)
class ScheduleAdmin(TenantAdmin):
    """The acting tenant's schedules of practitioners."""

    area = Area.RECORDS
    list_display = ("practitioner_id", "places", "updated_at", "version")
    search_fields = ("=practitioner_id",)
    search_help_text = "The id of a practitioner, in full."
    ordering = ("practitioner_id", "id")
    fields = ("id", "practitioner_id", "all_hours", "all_absences", "tenant", "created_at", "updated_at", "version")
    readonly_fields = ("all_hours", "all_absences")

    @column(description="Locations")
    def places(self, row: Schedule) -> str:
        """How many locations the hours name."""
        return str(len(row.location_ids))

    @column(description="Working hours")
    def all_hours(self, row: Schedule) -> SafeString:
        """The working hours."""
        return columns.json_lines(row.hours)

    @column(description="Absences")
    def all_absences(self, row: Schedule) -> SafeString:
        """The absences."""
        return columns.json_lines(row.absences)


def _day_of(text: str, zone: str) -> date:
    """Read a date; today where it is none, or one that calendars of this page cannot go on from."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        found = date.min
    return found if 1970 < found.year < 2200 else now().astimezone(ZoneInfo(zone)).date()


def _by_practitioner(rows: Iterable[Appointment]) -> dict[str, list[Appointment]]:
    found: dict[str, list[Appointment]] = {}
    for row in rows:
        found.setdefault(row.practitioner_id, []).append(row)
    return found


def _note(request: HttpRequest, rows: Iterable[Appointment], *, key: str = "", parameters: Sequence[str] = ()) -> None:
    """Record what is shown, with the reason that was given for the access."""
    chosen = acting_tenant.current(request)
    if chosen is None:
        raise PermissionDenied  # its time ended while the page was made
    shown = list(rows)
    read = Access("staff", "Appointment", key, parameters=parameters, count=len(shown), reason=chosen.reason)
    record_read(staff_actor(request, chosen.tenant_id), [row.patient_id for row in shown], read)
