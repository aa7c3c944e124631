"""Admin pages of configuration: settings in effect with their source, and every change."""

import json
from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from organizations import configuration_schema
from organizations.models import ConfigurationVersion, OrganizationConfiguration, TenantConfiguration, User
from organizations.queries import configuration
from organizations.staff import columns
from organizations.staff.audit import PLATFORM
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import StaffAdmin, TenantAdmin

HIDDEN = "(hidden)"


@admin.register(TenantConfiguration)
class ConfigurationAdmin(TenantAdmin):
    """The acting tenant's settings."""

    area = Area.CONFIGURATION
    list_display = ("__str__", "tenant", "version", "schema_version", "updated_at")
    list_select_related = ("tenant",)
    ordering = ("-updated_at", "-id")
    fieldsets = (
        (None, {"fields": ("id", "tenant", "version", "schema_version", "updated_at")}),
        ("Settings", {"fields": ("effective",)}),
    )
    readonly_fields = ("effective",)

    @column(description="Settings")
    def effective(self, row: TenantConfiguration) -> SafeString:
        """Every key with its value in effect and the source of the value."""
        effective = configuration.effective(row.tenant_id)
        sections = {
            section: [_setting(effective, section, key, value) for key, value in keys.items()]
            for section, keys in effective.values.items()
        }
        return render_to_string("staff/settings.html", {"sections": sections})


@admin.register(ConfigurationVersion)
class VersionAdmin(TenantAdmin):
    """Every change of the acting tenant's settings."""

    area = Area.CONFIGURATION
    list_display = ("number", "changed_at", "who", "changed_by_kind", "keys", "request_id")
    list_select_related = ("tenant",)
    ordering = ("-number", "-id")
    date_hierarchy = "changed_at"
    fieldsets = (
        (None, {"fields": ("number", "tenant", "changed_at", "who", "changed_by_kind", "request_id")}),
        ("What changed", {"fields": ("difference",)}),
    )
    readonly_fields = ("who", "difference")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ConfigurationVersion]:
        """Add the e-mail address of the person who made the change."""
        emails = User.objects.filter(pk=OuterRef("changed_by")).values("email")[:1]
        rows: QuerySet[ConfigurationVersion] = super().get_queryset(request)
        return rows.annotate(changed_by_email=Subquery(emails, output_field=models.CharField()))

    @column(description="Changed by")
    def who(self, row: Any) -> str:
        """The person's e-mail address, the platform, or the id of the service account."""
        return row.changed_by_email or ("the platform" if row.changed_by == PLATFORM else str(row.changed_by))

    @column(description="Settings")
    def keys(self, row: ConfigurationVersion) -> str:
        """The changed keys."""
        return columns.words(change["key"] for change in row.diff)

    @column(description="Difference")
    def difference(self, row: ConfigurationVersion) -> SafeString:
        """Each changed key with its value before and after."""
        changes = [
            {
                "key": change["key"],
                "before": _shown_value(change["key"], change["before"]),
                "after": _shown_value(change["key"], change["after"]),
            }
            for change in row.diff
        ]
        return render_to_string("staff/diff.html", {"changes": changes})


@admin.register(OrganizationConfiguration)
class OrganizationConfigurationAdmin(StaffAdmin):
    """Settings of organizations, which apply to all tenants below them."""

    area = Area.CONFIGURATION
    list_display = ("organization", "all_locked", "version", "updated_at")
    search_fields = ("organization__name",)
    list_select_related = ("organization",)
    ordering = ("-updated_at", "-id")
    fields = ("organization", "all_locked", "all_values", "version", "updated_at")
    readonly_fields = ("all_locked", "all_values")

    @column(description="Locked")
    def all_locked(self, row: OrganizationConfiguration) -> str:
        """Keys that organizations and tenants below cannot change."""
        return columns.words(row.locked)

    @column(description="Values")
    def all_values(self, row: OrganizationConfiguration) -> SafeString:
        """The organization's settings, without secrets."""
        values = configuration.visible(configuration.sections_of(row), to_configurers=False)
        return columns.json_lines(values)


def _setting(effective: configuration.Effective, section: str, key: str, value: Any) -> dict[str, str]:
    name = f"{section}.{key}"
    inherited = "an organization, locked" if name in effective.locked else "an organization or the default"
    source = "the tenant" if name in effective.own and name not in effective.locked else inherited
    return {"key": key, "value": _shown_value(name, value), "source": source}


def _shown_value(name: str, value: Any) -> str:
    section, _, key = name.partition(".")
    if configuration_schema.is_secret(section, key):
        return HIDDEN
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)
