"""Admin pages of terms, read-only."""

from django.contrib import admin

from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin
from suppliers.pricing.admin import LeadsToWhy

from .models import PriceList, PricingRule


@admin.register(PriceList)
class PriceListAdmin(LeadsToWhy, TenantAdmin):
    """Price lists of the acting tenant."""

    area = Area.CATALOG
    list_display = ("code", "name", "currency", "status", "scope", "priority", "entry_count", "updated_at")
    list_filter = ("status", "scope")
    search_fields = ("=code",)
    search_help_text = "Code in full."
    ordering = ("-updated_at", "-id")
    fields = (
        "id", "tenant", "code", "name", "currency", "status", "valid_from", "valid_to", "priority", "scope", "entry_count",
        "created_at", "updated_at", "version",
    )  # fmt: skip


@admin.register(PricingRule)
class PricingRuleAdmin(LeadsToWhy, TenantAdmin):
    """Pricing rules of the acting tenant."""

    area = Area.CATALOG
    list_display = ("code", "name", "status", "priority", "action_type", "action_value", "exclusive", "updated_at")
    list_filter = ("status", "action_type")
    search_fields = ("=code",)
    search_help_text = "Code in full."
    ordering = ("-updated_at", "-id")
    fields = (
        "id", "tenant", "code", "name", "status", "priority", "valid_from", "valid_to", "conditions", "action_type",
        "action_value", "floor_price", "exclusive", "applies_to_offers", "created_at", "updated_at", "version",
    )  # fmt: skip
