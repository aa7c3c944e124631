"""Admin pages of memberships, roles and service accounts."""

from typing import Any

from django.contrib import admin
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from organizations.actions import memberships
from organizations.models import Membership, Role, ServiceAccount
from organizations.staff import columns
from organizations.staff.buttons import Button, ButtonClick
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import StaffAdmin


def _set_status(status: str) -> Any:
    def run(click: ButtonClick) -> None:
        memberships.change_membership(actor=click.actor, membership=click.row, data={"status": status}, at=click.at)

    return run


def _revoke(click: ButtonClick) -> None:
    memberships.revoke_membership(actor=click.actor, membership=click.row, at=click.at)


BUTTONS = (
    Button(
        name="suspend",
        label="Suspend",
        permission=Permission.CHANGE_MEMBERSHIPS,
        run=_set_status("suspended"),
        explains="From the next request on, the member cannot act in this tenant until the membership is resumed.",
        shown=lambda row: row.status == "active",
        icon="pause_circle",
    ),
    Button(
        name="resume",
        label="Resume",
        permission=Permission.CHANGE_MEMBERSHIPS,
        run=_set_status("active"),
        explains="The member may act in this tenant again.",
        shown=lambda row: row.status == "suspended",
        icon="play_circle",
    ),
    Button(
        name="revoke",
        label="Revoke",
        permission=Permission.CHANGE_MEMBERSHIPS,
        run=_revoke,
        explains="The membership ends for good and its seat is free again. The last administrator of a tenant cannot be removed.",
        shown=lambda row: row.status in ("invited", "active", "suspended"),
        icon="person_remove",
        danger=True,
    ),
)


@admin.register(Membership)
class MembershipAdmin(StaffAdmin):
    """Memberships of people and service accounts."""

    area = Area.MEMBERSHIPS
    buttons = BUTTONS
    list_display = ("member", "tenant", "all_roles", "status_label", "valid_until", "created_at")
    list_filter = ("status", ("tenant", AutocompleteSelectFilter))
    search_fields = ("user__email", "service_account__name", "tenant__name", "tenant__slug")
    ordering = ("-created_at", "-id")
    list_select_related = ("tenant", "user", "service_account")
    date_hierarchy = "created_at"
    fieldsets = (
        (None, {"fields": ("id", "member", "tenant", "status_label", "all_roles", "locations")}),
        ("Time", {"fields": ("valid_from", "valid_until", "accepted_at", "created_at", "updated_at", "version")}),
        ("Origin", {"fields": ("invited_by", "practitioner_id")}),
    )
    readonly_fields = ("member", "status_label", "all_roles", "locations")

    def named(self, row: Membership) -> str:
        """Return the member and the tenant."""
        return f"{self.member(row)} in {row.tenant}"

    @column(description="Member")
    def member(self, row: Membership) -> str:
        """The person's e-mail address, or the service account's name."""
        return row.user.email if row.user else f"{row.service_account} (service account)"

    @column(description="Roles")
    def all_roles(self, row: Membership) -> str:
        """The roles of the member."""
        return columns.words(row.roles)

    @column(description="Locations")
    def locations(self, row: Membership) -> str:
        """The locations that the membership is limited to."""
        return columns.words(row.location_ids) if row.location_ids else "all"


@admin.register(Role)
class RoleAdmin(StaffAdmin):
    """Roles of the platform and of tenants."""

    area = Area.ROLES
    list_display = ("name", "code", "owner", "scopes_count")
    list_filter = (("tenant", AutocompleteSelectFilter),)
    search_fields = ("code", "name")
    ordering = ("code", "id")
    list_select_related = ("tenant",)
    fields = ("id", "code", "name", "owner", "all_scopes")
    readonly_fields = ("owner", "all_scopes")

    @column(description="Owner")
    def owner(self, row: Role) -> str:
        """The tenant that defines the role, or the platform."""
        return str(row.tenant) if row.tenant else "the platform"

    @column(description="Scopes")
    def scopes_count(self, row: Role) -> int:
        """The number of scopes."""
        return len(row.scopes)

    @column(description="Scopes")
    def all_scopes(self, row: Role) -> str:
        """All scopes of the role."""
        return columns.words(row.scopes)


@admin.register(ServiceAccount)
class ServiceAccountAdmin(StaffAdmin):
    """Service accounts behind API keys and OAuth clients."""

    area = Area.KEYS
    in_palette = True
    list_display = ("name", "partner", "tenant", "is_active", "created_at")
    list_filter = ("is_active", ("tenant", AutocompleteSelectFilter))
    search_fields = ("name", "partner")
    ordering = ("-created_at", "-id")
    list_select_related = ("tenant",)
    fields = ("id", "name", "partner", "tenant", "is_active", "created_at")
