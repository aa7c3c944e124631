"""Admin pages of orders, read-only: the buyer's rows, their lines with counters, and what suppliers have received."""

from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from core.money import Money
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin, link_action

from .models import PurchaseOrder, PurchaseOrderLine, ReceivedOrder


def _shown(amount: Decimal | None, currency: str) -> str:
    """An amount with its currency."""
    return "–" if amount is None else f"{Money(amount, currency).rounded().amount:,f} {currency}"


@admin.register(PurchaseOrder)
class PurchaseOrderAdmin(TenantAdmin):
    """Orders of the acting tenant as buyer."""

    area = Area.CATALOG
    list_display = (
        "number", "order_number", "status", "fulfilment_status", "total", "supplier_tenant_id", "submitted_at", "sent_at",
        "updated_at",
    )  # fmt: skip
    list_filter = ("status", "fulfilment_status", "currency")
    search_fields = ("=id", "=number", "=order_number")
    search_help_text = "Id or a number of the order, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "number", "order_number", "supplier_tenant_id", "status", "approval_for", "proposed_by",
        "fulfilment_status", "billing_status", "revision", "net_total", "tax_total", "total", "priority",
        "requested_delivery_date", "delivery_location", "budget_code", "cost_center", "requester_id", "submitted_at",
        "sent_at", "accept_by", "accepted_at", "closed_at", "created_at", "updated_at", "version", "shared_version",
    )  # fmt: skip
    readonly_fields = ("net_total", "tax_total", "total")

    def links(self, request: HttpRequest, row: PurchaseOrder) -> list[dict[str, Any]]:
        """Lead to the lines."""
        address = f"{reverse('admin:suppliers_purchaseorderline_changelist')}?{urlencode({'q': str(row.id)})}"
        return [link_action("Lines", address, icon="list")]

    @column(description="Net", ordering="net")
    def net_total(self, row: PurchaseOrder) -> str:
        """The net."""
        return _shown(row.net, row.currency)

    @column(description="Tax", ordering="tax")
    def tax_total(self, row: PurchaseOrder) -> str:
        """The tax; none where a line has no rate."""
        return _shown(row.tax, row.currency)

    @column(description="Gross", ordering="gross")
    def total(self, row: PurchaseOrder) -> str:
        """The gross."""
        return _shown(row.gross, row.currency)


@admin.register(PurchaseOrderLine)
class PurchaseOrderLineAdmin(TenantAdmin):
    """Lines of orders, with their counters in base units."""

    area = Area.CATALOG
    list_display = (
        "order", "line_no", "name", "ordered", "accepted", "backordered", "cancelled", "shipped", "received", "rejected",
        "short", "invoiced", "total",
    )  # fmt: skip
    list_select_related = ("order",)
    search_fields = ("=order__id", "=product_id")
    search_help_text = "The id of an order or a product, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "order", "line_no", "name", "supplier_sku", "gtin", "product_id", "packaging_id", "offer_id", "ordered",
        "accepted", "backordered", "cancelled", "shipped", "received", "rejected", "short", "returned", "invoiced",
        "unit_price", "price_base_quantity", "price_source", "total", "tax_rate", "created_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("total",)

    @column(description="Net", ordering="net")
    def total(self, row: PurchaseOrderLine) -> str:
        """The net of the line."""
        return _shown(row.net, row.currency)


@admin.register(ReceivedOrder)
class ReceivedOrderAdmin(TenantAdmin):
    """Orders that the acting tenant has received as supplier."""

    area = Area.CATALOG
    list_display = (
        "number",
        "po_number",
        "status",
        "fulfilment_status",
        "owner_tenant_id",
        "received_at",
        "updated_at",
    )
    list_filter = ("status", "fulfilment_status")
    search_fields = ("=id", "=number", "=po_number")
    search_help_text = "Id or a number of the order, in full."
    ordering = ("-received_at", "-id")
    fields = (
        "id", "tenant", "number", "po_number", "owner_tenant_id", "status", "awaiting", "fulfilment_status", "billing_status",
        "priority", "received_at", "updated_at", "version",
    )  # fmt: skip
