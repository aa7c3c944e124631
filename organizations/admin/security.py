"""Read-only admin pages of the security log and of changes made by staff."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from unfold.contrib.filters.admin import FieldTextFilter
from unfold.paginator import InfinitePaginator

from organizations.models import SecurityLogEntry
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import StaffAdmin

_COLOURS = {"staff_signed_in": "success", "staff_access_started": "warning", "account_locked": "danger"}


@admin.register(SecurityLogEntry)
class SecurityAdmin(StaffAdmin):
    """Refused requests, sign-ins of staff, and access of staff to tenants."""

    area = Area.SECURITY
    list_display = ("at", "code_label", "subject", "credential", "tenant_id", "route", "address", "request_id")
    list_filter = (("code", FieldTextFilter), ("request_id", FieldTextFilter))
    search_fields = ("=subject", "=credential", "=request_id", "=code", "=tenant_id", "=address")
    search_help_text = "Code, subject, credential, tenant, address or request id, in full."
    ordering = ("-at", "-id")
    date_hierarchy = "at"
    paginator = InfinitePaginator
    list_fullwidth = True
    fields = ("id", "at", "code", "subject", "credential", "tenant_id", "route", "address", "request_id")

    @column(description="Code", ordering="code", label=_COLOURS)
    def code_label(self, row: SecurityLogEntry) -> str:
        """The code as a coloured label."""
        return row.code


@admin.register(LogEntry)
class StaffLogAdmin(StaffAdmin):
    """Changes made by staff, with their reasons. The ledger is the permanent record; this list is faster to search."""

    area = Area.SECURITY
    list_display = ("action_time", "user_email", "content_type", "object_repr", "change_message")
    search_fields = ("user__email", "object_repr", "change_message")
    ordering = ("-action_time", "-id")
    list_select_related = ("user", "content_type")
    date_hierarchy = "action_time"
    fields = ("action_time", "user_email", "content_type", "object_id", "object_repr", "change_message")
    readonly_fields = ("user_email",)

    @column(description="Staff")
    def user_email(self, row: LogEntry) -> str:
        """The e-mail address of the member of staff."""
        return row.user.email
