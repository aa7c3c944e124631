"""Admin page of reports: how far each is and why it failed; its rows are not shown."""

from django.contrib import admin

from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin

from .models import Report


@admin.register(Report)
class ReportAdmin(TenantAdmin):
    """Reports of the acting tenant."""

    area = Area.CATALOG
    list_display = (
        "type", "format", "status_label", "as_of", "rows_done", "rows_total", "error", "tenant", "created_at", "finished_at",
    )  # fmt: skip
    list_filter = ("status", "type", "format", "error")
    search_fields = ("=id", "=file_id")
    search_help_text = "Id of the report or of its file, in full."
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    list_select_related = ("tenant",)
    fields = (
        "id", "tenant", "type", "parameters", "format", "status", "as_of", "begins_at", "ends_at", "location_ids", "started_by",
        "rows_done", "rows_total", "parts", "file_id", "error", "started_at", "read_at", "claimed_until", "troubled_at",
        "finished_at", "expires_at", "created_at", "updated_at", "version",
    )  # fmt: skip
