"""The admin page of the acting tenant's relationships as a buyer, with their blocks.

Read-only: how a buyer stands to a supplier is the buyer's own matter. Suppliers that only it knows: `suppliers/merging/admin.py`.
"""

from django.contrib import admin

from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin

from .models import ApprovedSubstitute, BlockedProduct, ItemAlias, Relationship
from .states import RelationshipStatus

STATUS_COLOURS = {
    RelationshipStatus.INVITED.value: "info",
    RelationshipStatus.ACTIVE.value: "success",
    RelationshipStatus.BLOCKED.value: "danger",
}


@admin.register(Relationship)
class RelationshipAdmin(TenantAdmin):
    """How the acting tenant stands to its suppliers."""

    area = Area.CATALOG
    list_display = ("supplier_id", "standing", "all_blocks", "customer_number", "updated_at")
    list_filter = ("status",)
    search_fields = ("=customer_number",)
    search_help_text = "Customer number in full."
    ordering = ("-updated_at", "-id")
    fields = (
        "id", "tenant", "supplier_id", "standing", "all_blocks", "customer_number", "payment_terms", "spend_limit",
        "all_categories", "all_products", "created_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("standing", "all_blocks", "all_categories", "all_products")

    @column(description="Status", ordering="status", label=STATUS_COLOURS)
    def standing(self, row: Relationship) -> str:
        """The status as a coloured label."""
        return str(row.status)

    @column(description="Blocks")
    def all_blocks(self, row: Relationship) -> str:
        """What is stopped."""
        return columns.words(row.blocks)

    @column(description="Approved categories")
    def all_categories(self, row: Relationship) -> str:
        """The codes of the approved categories."""
        return columns.words(row.approved_categories) if row.approved_categories else "every category"

    @column(description="Products")
    def all_products(self, row: Relationship) -> str:
        """How many products the relationship names."""
        mine = {"tenant_id": row.tenant_id, "supplier_id": row.supplier_id}
        counts = {
            "blocked": BlockedProduct.objects.filter(**mine).count(),
            "own codes": ItemAlias.objects.filter(**mine).count(),
            "approved substitutes": ApprovedSubstitute.objects.filter(**mine).count(),
        }
        return ", ".join(f"{number} {name}" for name, number in counts.items())
