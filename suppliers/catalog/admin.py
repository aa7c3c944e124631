"""Read-only admin pages of the catalog: the acting tenant's products and categories, and the platform's categories."""

from typing import Any

from django.contrib import admin
from django.utils.safestring import SafeString

from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import StaffAdmin, TenantAdmin

from .models import Category, Packaging, PlatformCategory, Product


@admin.register(Product)
class ProductAdmin(TenantAdmin):
    """Products of the acting tenant."""

    area = Area.CATALOG
    in_palette = True
    list_display = ("supplier_sku", "name", "category", "kind", "status_label", "availability", "updated_at")
    list_filter = ("status", "kind", "availability")
    search_fields = ("=supplier_sku", "name_sort__startswith")
    search_help_text = "SKU in full, or the beginning of the name, in lower case."
    ordering = ("-updated_at", "-id")
    date_hierarchy = "created_at"
    fieldsets = (
        (None, {"fields": ("id", "tenant", "supplier_sku", "name", "description", "status_label", "availability")}),
        ("Kind", {"fields": ("kind", "category", "brand", "manufacturer_name", "base_unit", "tracking", "packs")}),
        ("History", {"fields": ("created_at", "updated_at", "archived_at", "version")}),
    )
    readonly_fields = ("status_label", "packs")

    @column(description="Packagings")
    def packs(self, row: Product) -> str:
        """The product's packagings on one line."""
        rows = row.packagings.order_by("position", "id").values_list("level", "units_per_pack", "gtin")
        return "; ".join(f"{level} of {units}{f' ({gtin})' if gtin else ''}" for level, units, gtin in rows) or "–"


@admin.register(Packaging)
class PackagingAdmin(TenantAdmin):
    """Packagings of the acting tenant's products, searchable by GTIN."""

    area = Area.CATALOG
    list_display = ("gtin", "product", "level", "units_per_pack", "orderable", "state")
    list_filter = ("level", "state", "orderable")
    search_fields = ("=gtin",)
    search_help_text = "GTIN with 14 digits."
    ordering = ("-created_at", "-id")
    list_select_related = ("product",)
    fields = ("id", "tenant", "product", "position", "level", "name", "units_per_pack", "gtin", "orderable", "state")


@admin.register(Category)
class CategoryAdmin(TenantAdmin):
    """The acting tenant's own categories."""

    area = Area.CATALOG
    list_display = ("code", "name", "active", "updated_at")
    list_filter = ("active",)
    search_fields = ("code", "name")
    ordering = ("code", "id")
    fields = ("id", "tenant", "code", "name", "parent_id", "active", "version")


@admin.register(PlatformCategory)
class PlatformCategoryAdmin(StaffAdmin):
    """The platform's categories, with the codes of other taxonomies."""

    area = Area.CATALOG
    list_display = ("code", "name", "parent", "active", "updated_at")
    list_filter = ("active",)
    search_fields = ("code", "name")
    ordering = ("position", "id")
    list_select_related = ("parent",)
    fields = ("id", "code", "name", "parent", "position", "active", "all_mappings", "version")
    readonly_fields = ("all_mappings",)

    @column(description="Other taxonomies")
    def all_mappings(self, row: Any) -> SafeString:
        """Codes of UNSPSC, EMDN and ATC."""
        return columns.json_lines(row.mappings)
