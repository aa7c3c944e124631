"""Admin pages of entitlements and quotas: what a tenant may use, and how much of it is used."""

from typing import Any

from django.contrib import admin
from django.utils.safestring import SafeString

from core.clock import now
from organizations.models import Entitlement, Quota
from organizations.queries import entitlements
from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin


@admin.register(Entitlement)
class EntitlementAdmin(TenantAdmin):
    """The acting tenant's plan and its use. The plan is changed on the tenant's page."""

    area = Area.ENTITLEMENTS
    list_display = ("plan", "tenant", "source", "valid_from", "valid_until", "version")
    list_select_related = ("tenant",)
    ordering = ("-updated_at", "-id")
    fieldsets = (
        (None, {"fields": ("tenant", "plan", "source", "valid_from", "valid_until", "version")}),
        ("Features", {"fields": ("all_features", "limits")}),
        ("Use", {"fields": ("use",)}),
    )
    readonly_fields = ("all_features", "limits", "use")

    @column(description="Features")
    def all_features(self, row: Entitlement) -> str:
        """The features that the tenant is entitled to."""
        return columns.words(row.features)

    @column(description="Rate limits")
    def limits(self, row: Entitlement) -> str:
        """Rate limits that differ from the platform's."""
        return columns.words(f"{family}: {number}/min" for family, number in sorted(row.rate_limits.items()))

    @column(description="Quotas")
    def use(self, row: Entitlement) -> SafeString:
        """One bar for each quota."""
        return columns.bars(entitlements.quotas(row.tenant_id, now()))


@admin.register(Quota)
class QuotaAdmin(TenantAdmin):
    """The acting tenant's quotas, one per row."""

    area = Area.ENTITLEMENTS
    list_display = ("key", "bar", "period", "enforcement", "updated_at")
    list_filter = ("period", "enforcement")
    ordering = ("key", "id")
    fields = ("tenant", "key", "limit", "used", "period", "period_started", "enforcement", "warn_at", "version")

    @column(description="Use")
    def bar(self, row: Any) -> SafeString:
        """The used part of the quota, as a bar."""
        values = {
            "key": row.key,
            "limit": row.limit,
            "used": row.used,
            "period": row.period,
            "enforcement": row.enforcement,
        }
        return columns.bars([{**values, "warn_at": float(row.warn_at)}])
