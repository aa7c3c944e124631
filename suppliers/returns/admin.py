"""Admin pages of returns: the buyer's rows with their lines, and what suppliers have of them. Only state buttons change them."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import FoundByItsAction, TenantAdmin, link_action

from .clicks import OF_OWNER, OF_RECEIVER
from .models import ReceivedReturn, Return, ReturnLine, ReturnPrivate

STATUS_COLOURS = {
    "requested": "info", "authorized": "info", "in_transit": "info", "received": "warning", "completed": "success",
    "declined": "danger", "cancelled": "danger",
}  # fmt: skip


class _WithStanding:
    """A page that shows its state as a coloured label."""

    @column(description="Status", ordering="status", label=STATUS_COLOURS)
    def standing(self, row: Any) -> str:
        """The status as a coloured label."""
        return str(row.status)


@admin.register(Return)
class ReturnAdmin(_WithStanding, FoundByItsAction, TenantAdmin):
    """Returns of the acting tenant as buyer."""

    area = Area.BILLING
    buttons = OF_OWNER
    list_display = (
        "number", "po_number", "delivery_number", "type", "standing", "supplier_tenant_id", "resolution", "requested_at",
        "updated_at",
    )  # fmt: skip
    list_filter = ("status", "type", "resolution")
    search_fields = ("=id", "=number", "=order__id", "=delivery__id", "=po_number")
    search_help_text = "Id or number of the return, id of its order or delivery, or number of its order, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "number", "type", "standing", "resolution", "supplier_tenant_id", "order", "po_number",
        "order_number", "delivery", "delivery_number", "delivery_location", "note", "requested_at", "decided_at",
        "valid_until", "instructions", "decline_reason", "carrier", "tracking_number", "shipped_at", "received_at",
        "completed_at", "cancelled_at", "credit_note_id", "replacement_order_id", "lines_total", "created_at",
        "updated_at", "version", "shared_version",
    )  # fmt: skip
    readonly_fields = ("standing",)

    def links(self, request: HttpRequest, row: Return) -> list[dict[str, Any]]:
        """Lead to the lines."""
        address = f"{reverse('admin:suppliers_returnline_changelist')}?{urlencode({'q': str(row.id)})}"
        return [link_action("Lines", address, icon="list")]


@admin.register(ReturnLine)
class ReturnLineAdmin(TenantAdmin):
    """Lines of returns, with what became of their goods in base units."""

    area = Area.BILLING
    list_display = (
        "document", "line_no", "name", "lot_number", "base_quantity", "received", "restocked", "quarantined", "destroyed",
        "to_manufacturer", "not_received", "credited_amount",
    )  # fmt: skip
    list_filter = ("reason_code", "condition")
    list_select_related = ("document",)
    search_fields = ("=document__id", "=delivery_line__id", "=product_id", "=lot_number")
    search_help_text = "The id of a return, of a line of a delivery or of a product, or a lot number, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "document", "line_no", "delivery_line", "order_line", "name", "supplier_sku", "gtin", "product_id",
        "lot_id", "lot_number", "expiry_date", "cold_chain", "serial_numbers", "reason_code", "condition", "base_quantity",
        "base_unit", "received", "restocked", "quarantined", "destroyed", "to_manufacturer", "not_received", "file_ids",
        "credited", "credited_amount", "stock", "created_at", "updated_at", "version",
    )  # fmt: skip


@admin.register(ReturnPrivate)
class ReturnPrivateAdmin(TenantAdmin):
    """What the acting tenant, as supplier, alone knows of returns: where they lie, and who has seen goods destroyed."""

    area = Area.BILLING
    list_display = ("id", "location_id", "created_at", "updated_at")
    search_fields = ("=id", "=location_id")
    search_help_text = "Id of the return, or of the place, in full."
    ordering = ("-created_at", "-id")
    fields = ("id", "tenant", "location_id", "stock", "witnesses", "created_at", "updated_at", "version")


@admin.register(ReceivedReturn)
class ReceivedReturnAdmin(_WithStanding, FoundByItsAction, TenantAdmin):
    """Returns of the acting tenant as supplier: its copies."""

    area = Area.BILLING
    buttons = OF_RECEIVER
    list_display = (
        "number", "po_number", "delivery_number", "type", "standing", "owner_tenant_id", "received_at", "updated_at",
    )  # fmt: skip
    list_filter = ("status", "type")
    search_fields = ("=id", "=number", "=order_id", "=delivery_id")
    search_help_text = "Id or number of the return, or id of its order or delivery, in full."
    ordering = ("-received_at", "-id")
    fields = (
        "id", "tenant", "number", "type", "order_id", "po_number", "order_number", "delivery_id", "delivery_number",
        "owner_tenant_id", "standing", "received_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("standing",)
