"""Admin pages of API keys: public part, scopes, last use. Neither the secret nor its digest is read."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from core.clock import now
from organizations.actions import keys
from organizations.models import ApiKey, ApiKeyUse
from organizations.staff import columns
from organizations.staff.buttons import Button, ButtonClick
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import StaffAdmin

UNUSED = timedelta(days=90)
SOON = timedelta(days=30)
_WORKING = Q(status__in=["active", "rotating"])


class UseFilter(admin.SimpleListFilter):
    """Filter for unused keys and for keys that expire soon."""

    title = "use"
    parameter_name = "use"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the choices."""
        return (("unused", "Unused for 90 days"), ("expiring", "Expires within 30 days"))

    def queryset(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> QuerySet[ApiKey]:
        """Narrow the list to the chosen keys."""
        if self.value() == "unused":
            return queryset.filter(unused(), _WORKING)
        if self.value() == "expiring":
            return queryset.filter(_WORKING, expires_at__lte=now() + SOON)
        return queryset


def unused() -> Q:
    """Condition for keys that were neither used nor created in the last 90 days."""
    limit = now() - UNUSED
    return Q(use__last_used_at__lt=limit) | Q(use=None, created_at__lt=limit)


def _use_of(row: ApiKey) -> ApiKeyUse | None:
    return getattr(row, "use", None)


def _revoke(click: ButtonClick) -> None:
    keys.revoke_key(actor=click.actor, key=click.row, at=click.at)


BUTTONS = (
    Button(
        name="revoke",
        label="Revoke",
        permission=Permission.REVOKE_KEYS,
        run=_revoke,
        explains="The key stops working at once. If its service account has no other working key, the membership ends too.",
        shown=lambda row: row.status in ("active", "rotating"),
        icon="key_off",
        danger=True,
    ),
)


@admin.register(ApiKey)
class ApiKeyAdmin(StaffAdmin):
    """API keys of all tenants."""

    area = Area.KEYS
    in_palette = True
    buttons = BUTTONS
    list_display = (
        "shown_key",
        "name",
        "tenant",
        "status_label",
        "is_unused",
        "last_used_at",
        "usage_count",
        "expires_at",
    )
    list_filter = (UseFilter, "status", "environment", ("tenant", AutocompleteSelectFilter))
    search_fields = ("key_id", "name", "partner")
    ordering = ("-created_at", "-id")
    list_select_related = ("tenant", "use")
    date_hierarchy = "created_at"
    fieldsets = (
        (None, {"fields": ("id", "shown_key", "name", "partner", "tenant", "status_label", "environment")}),
        ("Rights", {"fields": ("all_roles", "all_scopes", "addresses")}),
        ("Use", {"fields": ("last_used_at", "last_used_ip", "usage_count", "is_unused")}),
        ("Time", {"fields": ("created_at", "expires_at", "overlap_ends_at", "version")}),
    )
    readonly_fields = (
        "shown_key",
        "status_label",
        "all_roles",
        "all_scopes",
        "addresses",
        "last_used_at",
        "last_used_ip",
        "usage_count",
        "is_unused",
    )

    def named(self, row: ApiKey) -> str:
        """Return the key's name and its public part."""
        return f"{row.name}, {row}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        """Read everything but the digest."""
        rows: QuerySet[ApiKey] = super().get_queryset(request)
        return rows.defer("digest")

    @column(description="Key", ordering="key_id")
    def shown_key(self, row: ApiKey) -> str:
        """The public part and the last four characters."""
        return str(row)

    @column(description="Roles")
    def all_roles(self, row: ApiKey) -> str:
        """The roles of the key."""
        return columns.words(row.roles)

    @column(description="Scopes")
    def all_scopes(self, row: ApiKey) -> str:
        """The scopes of the key."""
        return columns.words(row.scopes)

    @column(description="Networks")
    def addresses(self, row: ApiKey) -> str:
        """The networks from which the key may be used."""
        return columns.words(row.allowed_cidrs) if row.allowed_cidrs else "any"

    @column(description="Last used", ordering="use__last_used_at")
    def last_used_at(self, row: ApiKey) -> datetime | None:
        """The last use, up to a minute late."""
        use = _use_of(row)
        return use.last_used_at if use else None

    @column(description="Last used from")
    def last_used_ip(self, row: ApiKey) -> str | None:
        """The network address of the last use."""
        use = _use_of(row)
        return use.last_used_ip if use else None

    @column(description="Uses", ordering="use__usage_count")
    def usage_count(self, row: ApiKey) -> int:
        """How often the key was used, up to a minute late."""
        use = _use_of(row)
        return use.usage_count if use else 0

    @column(description="Unused for 90 days", label={"unused": "warning"})
    def is_unused(self, row: ApiKey) -> str:
        """The label of keys that are unused for 90 days."""
        use = _use_of(row)
        latest = (use and use.last_used_at) or row.created_at
        return "unused" if row.status in ("active", "rotating") and latest < now() - UNUSED else ""
