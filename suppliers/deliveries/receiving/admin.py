"""Admin pages of receipts: the buyer's rows with their lines, and what suppliers have of them. A button reverses one."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from organizations.staff.roles import Area
from organizations.staff.tenant_admin import FoundByItsAction, TenantAdmin, link_action
from suppliers.deliveries.receipt_models import Receipt, ReceiptLine, ReceivedReceipt

from .clicks import OF_RECEIPT


@admin.register(Receipt)
class ReceiptAdmin(FoundByItsAction, TenantAdmin):
    """Receipts of the acting tenant as buyer."""

    area = Area.CATALOG
    buttons = OF_RECEIPT
    list_display = ("id", "delivery", "received_at", "location", "temperature_ok", "reverses_id", "created_at")
    list_filter = ("temperature_ok", "confirm_difference")
    list_select_related = ("delivery", "location")
    search_fields = ("=id", "=delivery__id")
    search_help_text = "Id of the receipt or of its delivery, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "delivery", "supplier_tenant_id", "received_at", "location", "temperature_ok",
        "confirm_difference", "reverses", "putaway", "received_by_id", "created_at",
    )  # fmt: skip

    def links(self, request: HttpRequest, row: Receipt) -> list[dict[str, Any]]:
        """Lead to the lines."""
        address = f"{reverse('admin:suppliers_receiptline_changelist')}?{urlencode({'q': str(row.id)})}"
        return [link_action("Lines", address, icon="list")]


@admin.register(ReceiptLine)
class ReceiptLineAdmin(TenantAdmin):
    """Lines of receipts, in base units."""

    area = Area.CATALOG
    list_display = (
        "receipt", "line_no", "accepted", "rejected", "short", "rejection_reason", "lot_number", "expiry_date", "differs",
        "is_quarantined",
    )  # fmt: skip
    list_filter = ("rejection_reason", "differs", "is_quarantined")
    list_select_related = ("receipt",)
    search_fields = ("=receipt__id", "=delivery_line__id", "=lot_number")
    search_help_text = "The id of a receipt or of a line of a delivery, or a lot number, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "receipt", "line_no", "delivery_line", "accepted", "rejected", "short", "rejection_reason",
        "lot_number", "expiry_date", "differs", "is_quarantined", "serial_numbers", "note", "stock", "created_at",
    )  # fmt: skip


@admin.register(ReceivedReceipt)
class ReceivedReceiptAdmin(TenantAdmin):
    """Receipts of deliveries of the acting tenant as supplier: its copies."""

    area = Area.CATALOG
    list_display = ("id", "delivery_id", "status", "owner_tenant_id", "received_at")
    list_filter = ("status",)
    search_fields = ("=id", "=delivery_id")
    search_help_text = "Id of the receipt or of its delivery, in full."
    ordering = ("-received_at", "-id")
    fields = ("id", "tenant", "delivery_id", "status", "owner_tenant_id", "received_at", "updated_at", "version")
