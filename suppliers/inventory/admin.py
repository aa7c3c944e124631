"""Read-only admin pages of stock: levels, lots, movements, and reservations of both sides."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from core.identifiers import gtin14
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin
from suppliers.catalog.admin import FoundByGtin

from .desk.admin import RECALL_A_LOT
from .dispensing.models import DispenseBooking
from .items.models import StockItem
from .models import Lot, ReceivedReservation, Reservation, StockLevel, StockMovement
from .serial_models import Serial


class HeldByGtin(FoundByGtin):
    """A page of rows of products that a tenant holds, its own or those of its suppliers."""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find the rows of products of suppliers that have the GTIN, too."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        gtin = gtin14(search_term.strip())
        held = StockItem.objects.filter(gtins__contains=[gtin]).values("pk") if gtin else None
        return (found if held is None else found | queryset.filter(**{f"{self.product_column}__in": held})), may_repeat


@admin.register(StockItem)
class StockItemAdmin(HeldByGtin, TenantAdmin):
    """Products as the acting tenant holds them: its own, and those of its suppliers as they were when last received."""

    area = Area.CATALOG
    product_column: ClassVar[str] = "pk"
    list_display = ("sku", "held_name", "whose", "unit", "tracked", "updated_at")
    search_fields = ("=supplier_sku", "=own_product__supplier_sku")
    search_help_text = "SKU or GTIN in full."
    ordering = ("-updated_at", "-id")
    list_select_related = ("own_product",)
    fields = (
        "id", "tenant", "product_tenant_id", "own_product", "sku", "held_name", "category", "kind", "unit", "tracked",
        "expiry_required", "min_remaining_shelf_life_days", "storage_min_c", "storage_max_c", "gtins", "codes", "packagings",
        "created_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("sku", "held_name", "unit", "tracked")

    @column(description="SKU")
    def sku(self, row: StockItem) -> str:
        """The SKU, the supplier's where the product is a supplier's."""
        return str(_of(row, "supplier_sku"))

    @column(description="Name")
    def held_name(self, row: StockItem) -> str:
        """The name."""
        return str(_of(row, "name"))

    @column(description="Whose", label={"own": "info", "a supplier's": "success"})
    def whose(self, row: StockItem) -> str:
        """Whether the product is the tenant's own."""
        return "own" if row.own_product_id else "a supplier's"

    @column(description="Base unit")
    def unit(self, row: StockItem) -> str:
        """What is counted."""
        return str(_of(row, "base_unit"))

    @column(description="Tracking")
    def tracked(self, row: StockItem) -> str:
        """How units are told apart."""
        return str(_of(row, "tracking"))


def _of(row: StockItem, name: str) -> Any:
    """Return what the product says, or the snapshot of a supplier's."""
    return getattr(row.own_product or row, name)


@admin.register(StockLevel)
class StockLevelAdmin(HeldByGtin, TenantAdmin):
    """Levels of the acting tenant's stock."""

    area = Area.CATALOG
    list_display = ("product", "location", "lot", "on_hand", "reserved", "low_stock_threshold", "updated_at")
    search_fields = ("=product__supplier_sku", "=product__own_product__supplier_sku", "=lot__lot_number")
    search_help_text = "SKU, GTIN or lot number in full."
    ordering = ("-updated_at", "-id")
    list_select_related = ("product__own_product", "location", "lot")
    fields = (
        "id", "tenant", "product", "location", "lot", "on_hand", "reserved", "low_stock_threshold", "last_counted_at",
        "created_at", "updated_at", "version",
    )  # fmt: skip


@admin.register(Lot)
class LotAdmin(HeldByGtin, TenantAdmin):
    """Lots of the acting tenant."""

    area = Area.CATALOG
    buttons = (RECALL_A_LOT,)
    list_display = ("lot_number", "product", "expiry_date", "status", "updated_at")
    list_filter = ("status",)
    search_fields = ("=lot_number", "=product__supplier_sku", "=product__own_product__supplier_sku")
    search_help_text = "Lot number, SKU or GTIN in full."
    ordering = ("-created_at", "-id")
    list_select_related = ("product__own_product",)
    fields = (
        "id", "tenant", "product", "lot_number", "expiry_date", "manufacture_date", "status", "status_reason",
        "origin_tenant_id", "origin_lot_id", "created_at", "updated_at", "version",
    )  # fmt: skip


@admin.register(Serial)
class SerialAdmin(TenantAdmin):
    """Serial numbers of the acting tenant's units."""

    area = Area.CATALOG
    list_display = ("serial_number", "product", "lot", "level", "status", "updated_at")
    list_filter = ("status",)
    search_fields = (
        "=serial_number",
        "=product__supplier_sku",
        "=product__own_product__supplier_sku",
        "=lot__lot_number",
    )
    search_help_text = "Serial number, SKU or lot number in full."
    ordering = ("-updated_at", "-id")
    list_select_related = ("product__own_product", "lot", "level")
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
class StockMovementAdmin(HeldByGtin, TenantAdmin):
    """What moved the acting tenant's stock, the newest first."""

    area = Area.CATALOG
    list_display = (
        "created_at",
        "type",
        "sku",
        "quantity",
        "balance_after",
        "lot_number",
        "reason_code",
        "reference_text",
    )
    list_filter = ("type", "reason_code")
    search_fields = ("=lot_number", "=reference_text")
    search_help_text = "Lot number, GTIN or reference in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant_id", "created_at", "type", "product_id", "sku", "location_id", "level_id", "lot_number", "quantity",
        "balance_after", "reason_code", "reference_type", "reference_id", "reference_text", "note", "reversal_of", "actor_id",
        "actor_kind",
    )  # fmt: skip
    readonly_fields = ("sku",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Add the SKU of each product."""
        held = StockItem.objects.filter(tenant_id=OuterRef("tenant_id"), pk=OuterRef("product_id"))
        named = held.annotate(named=Coalesce(F("own_product__supplier_sku"), F("supplier_sku"))).values("named")
        found: QuerySet[Any] = super().get_queryset(request).annotate(item_sku=Subquery(named))
        return found

    @column(description="SKU")
    def sku(self, row: Any) -> str:
        """The SKU of what was moved."""
        return row.item_sku or ""


@admin.register(DispenseBooking)
class DispenseBookingAdmin(TenantAdmin):
    """What stock did with the lines that the acting tenant has dispensed; unbooked ones say why. No patient is on the page."""

    area = Area.CATALOG
    list_display = ("created_at", "code", "lot_number", "quantity", "unit", "state", "reason", "base_quantity")
    list_filter = ("status", "reason")
    search_fields = ("=code", "=lot_number", "=dispensation_id")
    search_help_text = "Code, lot number or id of the dispensation in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "dispensation_id", "location_id", "system", "code", "lot_number", "quantity", "unit", "status", "reason",
        "level", "movement_id", "base_quantity", "created_at", "updated_at", "version",
    )  # fmt: skip

    @column(
        description="State", ordering="status", label={"booked": "success", "unbooked": "danger", "reversed": "info"}
    )
    def state(self, row: DispenseBooking) -> str:
        """Whether the goods were taken from stock."""
        return str(row.status)


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
