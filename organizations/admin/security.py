"""Read-only admin pages of the security log and of changes made by staff."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from unfold.contrib.filters.admin import FieldTextFilter
from unfold.paginator import InfinitePaginator

from core.ids import parse_uuid
from organizations.models import SecurityLogEntry
from organizations.staff.columns import column
from organizations.staff.names import NOBODY, Ids, NamedRows
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import StaffAdmin

_COLOURS = {"staff_signed_in": "success", "staff_access_started": "warning", "account_locked": "danger"}


@admin.register(SecurityLogEntry)
class SecurityAdmin(NamedRows, StaffAdmin):
    """Refused requests, sign-ins of staff, and access of staff to tenants."""

    area = Area.SECURITY
    list_display = ("at", "code_label", "who", "by", "where", "route", "address", "request_id")
    list_filter = (("code", FieldTextFilter), ("request_id", FieldTextFilter))
    search_fields = ("=subject", "=credential", "=request_id", "=code", "=tenant_id", "=address")
    search_help_text = "Code, subject, credential, tenant, address or request id, in full."
    ordering = ("-at", "-id")
    date_hierarchy = "at"
    paginator = InfinitePaginator
    list_fullwidth = True
    fields = (
        *("id", "at", "code", "who", "by", "where"),
        *("subject", "credential", "tenant_id", "route", "address", "request_id"),
    )
    readonly_fields = ("who", "by", "where")

    def ids_of(self, row: SecurityLogEntry) -> Ids:
        """Whoever was refused or signed in, and where."""
        return Ids(parse_uuid(row.subject), row.credential, tenant=row.tenant_id)

    @column(description="Who", ordering="subject")
    def who(self, row: SecurityLogEntry) -> str:
        """The person or service; what was given where it is no id."""
        names, ids = self.names(row)
        return names.subject(ids) if ids.subject else row.subject or NOBODY

    @column(description="By", ordering="credential")
    def by(self, row: SecurityLogEntry) -> str:
        """The key or client, if it was one."""
        names, ids = self.names(row)
        return names.credential(ids)

    @column(description="Tenant", ordering="tenant_id")
    def where(self, row: SecurityLogEntry) -> str:
        """The tenant's name."""
        names, ids = self.names(row)
        return names.tenant(ids)

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
