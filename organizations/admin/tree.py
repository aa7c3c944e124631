"""Admin pages of organizations and their tree."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from organizations.actions import tree
from organizations.models import Organization
from organizations.queries.tree import place_of
from organizations.staff import columns
from organizations.staff.buttons import Button, ButtonClick, ConfirmedForm
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import StaffAdmin


def _set_status(status: str) -> Any:
    def run(click: ButtonClick) -> None:
        tree.update_organization(actor=click.actor, organization=click.row, data={"status": status}, at=click.at)

    return run


BUTTONS = (
    Button(
        name="suspend",
        label="Suspend",
        permission=Permission.CHANGE_ORGANIZATIONS,
        run=_set_status("suspended"),
        explains="The organization is suspended. Its tenants are not: suspend them on their own pages.",
        shown=lambda row: row.status == "active",
        icon="pause_circle",
    ),
    Button(
        name="resume",
        label="Resume",
        permission=Permission.CHANGE_ORGANIZATIONS,
        run=_set_status("active"),
        explains="The organization works again.",
        shown=lambda row: row.status == "suspended",
        icon="play_circle",
    ),
    Button(
        name="close",
        label="Close for good",
        permission=Permission.CHANGE_ORGANIZATIONS,
        run=_set_status("closed"),
        explains="The organization is closed for good. Tenants and organizations below it must be closed first.",
        shown=lambda row: row.status != "closed",
        form=ConfirmedForm,
        icon="cancel",
        danger=True,
    ),
)


@admin.register(Organization)
class OrganizationAdmin(StaffAdmin):
    """Organizations, each with its parent, its children and its tenants."""

    area = Area.ORGANIZATIONS
    in_palette = True
    buttons = BUTTONS
    list_display = ("name", "type", "status_label", "parent", "children_count", "tenants_count", "created_at")
    list_filter = ("status", "type")
    search_fields = ("name", "slug")
    ordering = ("name", "id")
    list_select_related = ("parent",)
    fieldsets = (
        (None, {"fields": ("id", "name", "slug", "type", "status_label", "position")}),
        ("Below this organization", {"fields": ("below", "run_tenants")}),
        (
            "Details",
            {"fields": ("all_identifiers", "all_contact", "all_address", "created_at", "updated_at", "version")},
        ),
    )
    readonly_fields = (
        "status_label",
        "position",
        "below",
        "run_tenants",
        "all_identifiers",
        "all_contact",
        "all_address",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Organization]:
        """Count children and tenants in the same statement."""
        rows: QuerySet[Organization] = super().get_queryset(request)
        return rows.annotate(
            children_number=Count("children", distinct=True), tenants_number=Count("tenants", distinct=True)
        )

    @column(description="Children")
    def children_count(self, row: Any) -> int:
        """The number of organizations directly below."""
        return int(row.children_number)

    @column(description="Tenants")
    def tenants_count(self, row: Any) -> int:
        """The number of tenants that the organization runs."""
        return int(row.tenants_number)

    @column(description="Position in the tree")
    def position(self, row: Organization) -> SafeString:
        """The organizations from the root to this one, as links."""
        path = list(reversed(place_of(row.pk).path))
        names = dict(Organization.objects.filter(pk__in=path).values_list("pk", "name"))
        return format_html_join(" › ", "{}", ((_link(key, names[key]),) for key in path))

    @column(description="Organizations below")
    def below(self, row: Organization) -> SafeString | str:
        """The organizations directly below, as links, 100 at most."""
        found = row.children.order_by("name", "id").values_list("pk", "name")[:100]
        return format_html_join(", ", "{}", ((_link(key, name),) for key, name in found)) or "–"

    @column(description="Tenants")
    def run_tenants(self, row: Organization) -> SafeString | str:
        """The tenants that the organization runs, as links, 100 at most."""
        found = row.tenants.order_by("name", "id").values_list("pk", "name")[:100]
        links = ((reverse("admin:organizations_tenant_change", args=[key]), name) for key, name in found)
        return (
            format_html_join(", ", '<a href="{}" class="text-primary-600 dark:text-primary-500">{}</a>', links) or "–"
        )

    @column(description="Identifiers")
    def all_identifiers(self, row: Organization) -> SafeString:
        """The organization's identifiers in other systems."""
        return columns.json_lines(row.identifiers)

    @column(description="Contact")
    def all_contact(self, row: Organization) -> SafeString:
        """The organization's contact details."""
        return columns.json_lines(row.contact)

    @column(description="Address")
    def all_address(self, row: Organization) -> SafeString:
        """The organization's address."""
        return columns.json_lines(row.address)


def _link(key: Any, name: str) -> SafeString:
    address = reverse("admin:organizations_organization_change", args=[key])
    return format_html('<a href="{}" class="text-primary-600 dark:text-primary-500">{}</a>', address, name)
