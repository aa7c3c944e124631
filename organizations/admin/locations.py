"""Admin pages of the acting tenant's locations and jobs, and of the public directory of pharmacies."""

from django.contrib import admin
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from organizations.models import Job, Location, PharmacyListing
from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import StaffAdmin, TenantAdmin


@admin.register(Location)
class LocationAdmin(TenantAdmin):
    """Locations of the acting tenant."""

    area = Area.LOCATIONS
    in_palette = True
    list_display = ("name", "type", "status_label", "parent", "is_dispensing", "listed", "created_at")
    list_filter = ("status", "type", "is_dispensing", "listed")
    search_fields = ("name",)
    ordering = ("name", "id")
    list_select_related = ("parent",)
    fieldsets = (
        (None, {"fields": ("id", "name", "type", "status_label", "tenant", "organization", "parent")}),
        ("Pharmacy", {"fields": ("is_dispensing", "listed", "hours")}),
        (
            "Details",
            {"fields": ("all_address", "all_contact", "all_identifiers", "created_at", "updated_at", "version")},
        ),
    )
    readonly_fields = ("status_label", "hours", "all_address", "all_contact", "all_identifiers")

    @column(description="Opening hours")
    def hours(self, row: Location) -> SafeString:
        """The opening hours of the location."""
        return columns.json_lines(row.opening_hours)

    @column(description="Address")
    def all_address(self, row: Location) -> SafeString:
        """The address of the location."""
        return columns.json_lines(row.address)

    @column(description="Contact")
    def all_contact(self, row: Location) -> SafeString:
        """The contact details of the location."""
        return columns.json_lines(row.contact)

    @column(description="Identifiers")
    def all_identifiers(self, row: Location) -> SafeString:
        """The location's identifiers in other systems."""
        return columns.json_lines(row.identifiers)


@admin.register(PharmacyListing)
class ListingAdmin(StaffAdmin):
    """Pharmacies of the public directory, which every tenant can search."""

    area = Area.LOCATIONS
    list_display = ("name", "tenant", "created_at", "updated_at")
    list_filter = (("tenant", AutocompleteSelectFilter),)
    search_fields = ("name",)
    ordering = ("name", "id")
    list_select_related = ("tenant",)
    fields = ("id", "name", "tenant", "created_at", "updated_at")


@admin.register(Job)
class JobAdmin(TenantAdmin):
    """Background jobs of the acting tenant."""

    area = Area.JOBS
    list_display = ("kind", "state_label", "progress", "started_by", "created_at", "finished_at")
    list_filter = ("state", "kind")
    ordering = ("-created_at", "-id")
    date_hierarchy = "created_at"
    fieldsets = (
        (None, {"fields": ("id", "kind", "state_label", "progress", "tenant")}),
        ("Outcome", {"fields": ("result_href", "fault")}),
        ("Time", {"fields": ("started_by", "created_at", "started_at", "finished_at", "version")}),
    )
    readonly_fields = ("state_label", "progress", "fault")

    @column(description="State", ordering="state", label=columns.STATUS_COLOURS)
    def state_label(self, row: Job) -> str:
        """The state as a label."""
        return str(row.state)

    @column(description="Progress")
    def progress(self, row: Job) -> str:
        """The work done, with the total where it is known."""
        return f"{row.done} of {row.total}" if row.total is not None else str(row.done)

    @column(description="Error")
    def fault(self, row: Job) -> SafeString | str:
        """The error of a failed job."""
        return columns.json_lines(row.error) if row.error else "–"
