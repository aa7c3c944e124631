"""Admin page of offers: read-only, but that staff can hide one, and hold it."""

from typing import Any

from django.contrib import admin

from organizations.staff.buttons import Button, ButtonClick
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import TenantAdmin
from suppliers.catalog.admin import FoundByGtin, HeldFilter, hold_buttons
from suppliers.pricing.admin import LeadsToWhy

from .actions import unpublish_offer
from .holds import hold_offer, lift_offer_hold
from .models import Offer
from .states import OfferStatus


def _unpublish(click: ButtonClick) -> None:
    unpublish_offer(click.actor, click.row, click.at)


def _hold(click: ButtonClick) -> None:
    hold_offer(click.actor, click.row, click.data["reason"], click.at)


def _lift(click: ButtonClick) -> None:
    lift_offer_hold(click.actor, click.row, click.at)


@admin.register(Offer)
class OfferAdmin(LeadsToWhy, FoundByGtin, TenantAdmin):
    """Offers of the acting tenant."""

    area = Area.CATALOG
    list_display = ("title", "product", "packaging", "status", "visibility_mode", "stock_display", "updated_at")
    list_filter = ("status", HeldFilter, "visibility_mode")
    search_fields = ("=product__supplier_sku",)
    search_help_text = "SKU or GTIN of the product in full."
    ordering = ("-updated_at", "-id")
    list_select_related = ("product", "packaging")
    fields = (
        "id", "tenant", "product", "packaging", "title", "status", "currency", "tiers", "stock_policy", "stock_display",
        "cap", "visibility_mode", "valid_from", "valid_to", "limit_quantity", "limit_period_days", "limit_until", "held_at", "hold_reason",
        "created_at", "updated_at", "version",
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
        *hold_buttons(_hold, _lift, what="offer", back="publish it"),
    )

    def why_of(self, row: Offer) -> dict[str, Any]:
        """Begin with the product and packaging of the offer."""
        return {**super().why_of(row), "product": row.product.supplier_sku, "packaging": row.packaging_id}
