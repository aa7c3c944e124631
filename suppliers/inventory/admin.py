"""Read-only admin pages of stock: levels, lots, movements, and reservations of both sides."""

from typing import Any

from django.contrib import admin

from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin
from suppliers.catalog.admin import FoundByGtin

from .desk.admin import RECALL_A_LOT
from .models import Lot, ReceivedReservation, Reservation, StockLevel, StockMovement
from .serial_models import Serial


@admin.register(StockLevel)
class StockLevelAdmin(FoundByGtin, TenantAdmin):
    """Levels of the acting tenant's stock."""

    area = Area.CATALOG
    list_display = ("product", "location", "lot", "on_hand", "reserved", "low_stock_threshold", "updated_at")
    search_fields = ("=product__supplier_sku", "=lot__lot_number")
    search_help_text = "SKU, GTIN or lot number in full."
    ordering = ("-updated_at", "-id")
    list_select_related = ("product", "location", "lot")
    fields = (
        "id", "tenant", "product", "location", "lot", "on_hand", "reserved", "low_stock_threshold", "last_counted_at",
        "created_at", "updated_at", "version",
    )  # fmt: skip


@admin.register(Lot)
class LotAdmin(FoundByGtin, TenantAdmin):
    """Lots of the acting tenant."""

    area = Area.CATALOG
    buttons = (RECALL_A_LOT,)
    list_display = ("lot_number", "product", "expiry_date", "status", "updated_at")
    list_filter = ("status",)
    search_fields = ("=lot_number", "=product__supplier_sku")
    search_help_text = "Lot number, SKU or GTIN in full."
    ordering = ("-created_at", "-id")
    list_select_related = ("product",)
    fields = (
        "id", "tenant", "product", "lot_number", "expiry_date", "manufacture_date", "status", "status_reason",
        "created_at", "updated_at", "version",
    )  # fmt: skip


@admin.register(Serial)
class SerialAdmin(TenantAdmin):
    """Serial numbers of the acting tenant's units."""

    area = Area.CATALOG
    list_display = ("serial_number", "product", "lot", "level", "status", "updated_at")
    list_filter = ("status",)
    search_fields = ("=serial_number", "=product__supplier_sku", "=lot__lot_number")
    search_help_text = "Serial number, SKU or lot number in full."
    ordering = ("-updated_at", "-id")
    list_select_related = ("product", "lot", "level")
    fields = (
        "id",
        "tenant",
        "serial_number",
        "product",
        "lot",
        "level",
        "status",
        "created_at",
        "updated_at",
        "version",
    )


@admin.register(StockMovement)
class StockMovementAdmin(FoundByGtin, TenantAdmin):
    """What moved the acting tenant's stock, the newest first."""

    area = Area.CATALOG
    list_display = ("created_at", "type", "quantity", "balance_after", "lot_number", "reason_code", "reference_text")
    list_filter = ("type", "reason_code")
    search_fields = ("=lot_number", "=reference_text")
    search_help_text = "Lot number, GTIN or reference in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant_id", "created_at", "type", "product_id", "location_id", "level_id", "lot_number", "quantity",
        "balance_after", "reason_code", "reference_type", "reference_id", "reference_text", "note", "actor_id",
        "actor_kind",
    )  # fmt: skip


@admin.register(Reservation)
class ReservationAdmin(FoundByGtin, TenantAdmin):
    """What the acting tenant's stock is promised to buyers."""

    area = Area.CATALOG
    list_display = ("product", "buyer_tenant_id", "base_quantity", "kind", "status", "expires_at", "created_at")
    list_filter = ("status", "kind")
    search_fields = ("=product__supplier_sku",)
    search_help_text = "SKU or GTIN of the product in full."
    ordering = ("-created_at", "-id")
    list_select_related = ("product",)
    fields = (
        "id", "tenant", "group_id", "line_no", "buyer_tenant_id", "product", "packaging", "location", "offer_id", "unit",
        "units_per_pack", "base_quantity", "held", "needed_date", "kind", "status", "expires_at", "extensions", "ended_at",
        "reason", "created_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("held",)

    @column(description="Held of levels")
    def held(self, row: Reservation) -> str:
        """What the reservation holds of each level."""
        rows: Any = row.allocations.filter(tenant_id=row.tenant_id).order_by("id")
        return "; ".join(f"{one.base_quantity} of {one.level_id} ({one.status})" for one in rows) or "–"


@admin.register(ReceivedReservation)
class ReceivedReservationAdmin(TenantAdmin):
    """Reservations that the acting tenant holds as a buyer, as it reads them."""

    area = Area.CATALOG
    list_display = ("id", "owner_tenant_id", "product_id", "status", "expires_at", "received_at")
    list_filter = ("status",)
    ordering = ("-received_at", "-id")
    fields = ("id", "tenant", "owner_tenant_id", "status", "version", "representation", "received_at", "updated_at")
