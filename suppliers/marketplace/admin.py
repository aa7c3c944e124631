"""Admin page of offers: read-only, but that staff can hide one."""

from django.contrib import admin

from organizations.staff.buttons import Button, ButtonClick
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import TenantAdmin
from suppliers.catalog.admin import FoundByGtin

from .actions import unpublish_offer
from .models import Offer
from .states import OfferStatus


def _unpublish(click: ButtonClick) -> None:
    unpublish_offer(click.actor, click.row, click.at)


@admin.register(Offer)
class OfferAdmin(FoundByGtin, TenantAdmin):
    """Offers of the acting tenant."""

    area = Area.CATALOG
    list_display = ("title", "product", "packaging", "status", "visibility_mode", "stock_display", "updated_at")
    list_filter = ("status", "visibility_mode")
    search_fields = ("=product__supplier_sku",)
    search_help_text = "SKU or GTIN of the product in full."
    ordering = ("-updated_at", "-id")
    list_select_related = ("product", "packaging")
    fields = (
        "id", "tenant", "product", "packaging", "title", "status", "currency", "tiers", "stock_policy", "stock_display",
        "cap", "visibility_mode", "valid_from", "valid_to", "limit_quantity", "limit_period_days", "limit_until", "created_at", "updated_at", "version",
    )  # fmt: skip
    buttons = (
        Button(
            name="unpublish",
            label="Unpublish",
            permission=Permission.MODERATE_CATALOGS,
            run=_unpublish,
            explains="No buyer sees the offer any more. Orders and reservations go on; the supplier can publish it again.",
            shown=lambda row: row.status == OfferStatus.PUBLISHED,
            icon="visibility_off",
            danger=True,
        ),
    )
