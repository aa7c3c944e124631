"""Read-only admin pages of offers."""

from django.contrib import admin

from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin

from .models import Offer


@admin.register(Offer)
class OfferAdmin(TenantAdmin):
    """Offers of the acting tenant."""

    area = Area.CATALOG
    list_display = ("title", "product", "packaging", "status", "visibility_mode", "stock_display", "updated_at")
    list_filter = ("status", "visibility_mode")
    search_fields = ("=product__supplier_sku",)
    search_help_text = "SKU of the product in full."
    ordering = ("-updated_at", "-id")
    list_select_related = ("product", "packaging")
    fields = (
        "id", "tenant", "product", "packaging", "title", "status", "currency", "tiers", "stock_policy", "stock_display",
        "cap", "visibility_mode", "valid_from", "valid_to", "limit_quantity", "limit_period_days", "limit_until", "created_at", "updated_at", "version",
    )  # fmt: skip
