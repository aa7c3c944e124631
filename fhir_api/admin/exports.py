"""Bulk exports of the acting tenant: what was asked for, how far it is, what came of it. Never what is in the files."""

from typing import Any

from django.contrib import admin
from django.template.defaultfilters import filesizeformat
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from fhir_api.exports import states
from fhir_api.exports.models import ExportJob
from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin

_WHAT = ("level", "group_id", "all_types", "elements", "since", "transaction_time", "ignored", "request_url")
_COLOURS = columns.STATUS_COLOURS | {states.COMPLETED: "success", states.CANCELLED: "warning"}


class StateFilter(admin.SimpleListFilter):
    """Chooses a state."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: Any, model_admin: Any) -> list[tuple[str, str]]:
        """All of them."""
        return [(state, state) for state in states.ALL]

    def queryset(self, request: Any, queryset: Any) -> Any:
        """Keep those in it."""
        return queryset.filter(state=self.value()) if self.value() in states.ALL else queryset


@admin.register(ExportJob)
class ExportAdmin(TenantAdmin):
    """Wishes of the acting tenant to export the record."""

    area = Area.JOBS
    list_display = ("created_at", "level", "all_types", "state_label", "exported", "finished_at", "expires_at")
    list_filter = (StateFilter,)
    search_fields = ("=id", "=subject_id")
    search_help_text = "Export id, or the id of who asked, in full."
    ordering = ("-created_at", "-id")
    fieldsets = (
        (None, {"fields": ("id", "tenant", "state_label", "error")}),
        ("What", {"fields": _WHAT}),
        ("How far", {"fields": ("examined", "exported", "all_files", "started_at", "finished_at", "expires_at")}),
        ("Who", {"fields": ("subject_id", "created_at")}),
    )
    readonly_fields = ("state_label", "all_types", "all_files")

    @column(description="State", ordering="state", label=_COLOURS)
    def state_label(self, row: ExportJob) -> str:
        """The state as a label."""
        return row.state

    @column(description="Types")
    def all_types(self, row: ExportJob) -> str:
        """Which types of resources."""
        return columns.words(row.types)

    @column(description="Files")
    def all_files(self, row: Any) -> SafeString:
        """The files with their lines and sizes."""
        files = row.files.filter(tenant_id=row.tenant_id).order_by("name")
        told = ((one.name, one.lines, filesizeformat(one.size)) for one in files)
        return format_html_join("", "<div>{}: {} lines, {}</div>", told)
