"""Admin page of proposed changes of orders, read-only."""

from django.contrib import admin

from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin
from suppliers.orders.proposals.models import OrderChange


@admin.register(OrderChange)
class OrderChangeAdmin(TenantAdmin):
    """Changes of orders of the acting tenant as buyer."""

    area = Area.CATALOG
    list_display = (
        "order",
        "proposed_by",
        "state",
        "revision",
        "net",
        "gross",
        "more_gross",
        "created_at",
        "decided_at",
    )
    list_select_related = ("order",)
    list_filter = ("state", "proposed_by")
    search_fields = ("=order__id",)
    search_help_text = "The id of an order, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "order", "proposed_by", "author_id", "state", "revision", "reason", "net", "tax", "gross", "more_gross",
        "decided_at", "created_at", "updated_at", "version",
    )  # fmt: skip
