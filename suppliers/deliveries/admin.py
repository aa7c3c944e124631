"""Admin pages of deliveries: the buyer's rows with lines and exceptions, and what suppliers have of them. Only buttons change them."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import FoundByItsAction, TenantAdmin, link_action

from .clicks import OF_BUYER, OF_SUPPLIER
from .derivation import derived_lines
from .models import Delivery, DeliveryException, DeliveryLine, ReceivedDelivery
from .shipment_models import ShipmentDraft

STATUS_COLOURS = {
    "preparing": "info", "in_transit": "info", "delivered": "info", "partially_received": "warning", "completed": "success",
    "cancelled": "danger", "lost": "danger",
}  # fmt: skip


class _WithStanding:
    """A page that shows its state as a coloured label."""

    @column(description="Status", ordering="status", label=STATUS_COLOURS)
    def standing(self, row: Any) -> str:
        """The status as a coloured label."""
        return str(row.status)


@admin.register(Delivery)
class DeliveryAdmin(_WithStanding, FoundByItsAction, TenantAdmin):
    """Deliveries of the acting tenant as buyer."""

    area = Area.CATALOG
    buttons = OF_BUYER
    list_display = (
        "number", "po_number", "order_number", "standing", "supplier_tenant_id", "carrier", "tracking_number", "shipped_at",
        "updated_at",
    )  # fmt: skip
    list_filter = ("status",)
    search_fields = ("=id", "=number", "=order__id", "=tracking_number")
    search_help_text = "Id or number of the delivery, id of its order, or tracking number, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "number", "order", "po_number", "order_number", "supplier_tenant_id", "standing", "lines_total",
        "delivery_location", "carrier", "service", "tracking_number", "estimated_at", "gross_weight_g", "cold_chain",
        "required_min_c", "required_max_c", "logger_id", "min_recorded_c", "max_recorded_c", "excursion_minutes",
        "shipped_at", "delivered_at", "completed_at", "lost_at", "all_lines", "created_at", "updated_at", "version",
        "shared_version",
    )  # fmt: skip
    readonly_fields = ("standing", "all_lines")

    @column(description="First lines, in base units")
    def all_lines(self, row: Delivery) -> SafeString:
        """The first lines with their counters, beside what the receipts say."""
        found = derived_lines(row)
        more = max(row.lines_total - len(found), 0)
        return render_to_string("suppliers/delivery_lines.html", {"lines": found, "more": more})

    def links(self, request: HttpRequest, row: Delivery) -> list[dict[str, Any]]:
        """Lead to the lines and to what was reported."""
        asked = urlencode({"q": str(row.id)})
        return [
            link_action("Lines", f"{reverse('admin:suppliers_deliveryline_changelist')}?{asked}", icon="list"),
            link_action(
                "Exceptions", f"{reverse('admin:suppliers_deliveryexception_changelist')}?{asked}", icon="report"
            ),
        ]


@admin.register(DeliveryLine)
class DeliveryLineAdmin(TenantAdmin):
    """Lines of deliveries, with their lots and their counters in base units."""

    area = Area.CATALOG
    list_display = (
        "delivery", "line_no", "name", "lot_number", "expiry_date", "base_quantity", "accepted", "rejected", "short",
        "returned",
    )  # fmt: skip
    list_select_related = ("delivery",)
    search_fields = ("=delivery__id", "=product_id", "=lot_id", "=lot_number")
    search_help_text = "The id of a delivery, a product or the supplier's lot, or a lot number, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "delivery", "line_no", "order_line", "name", "supplier_sku", "gtin", "product_id", "packaging_id",
        "lot_id", "lot_number", "expiry_date", "cold_chain", "serials_total", "base_quantity", "base_unit", "accepted",
        "rejected", "short", "returned", "recall_notice", "created_at", "updated_at", "version",
    )  # fmt: skip


@admin.register(DeliveryException)
class DeliveryExceptionAdmin(TenantAdmin):
    """What was reported of deliveries."""

    area = Area.CATALOG
    list_display = ("delivery", "type", "by", "at", "note")
    list_filter = ("type", "by")
    list_select_related = ("delivery",)
    search_fields = ("=delivery__id",)
    search_help_text = "The id of a delivery, in full."
    ordering = ("-created_at", "-id")
    fields = ("id", "tenant", "delivery", "type", "by", "at", "note", "line_nos", "reported_by_id", "created_at")


@admin.register(ShipmentDraft)
class ShipmentDraftAdmin(_WithStanding, TenantAdmin):
    """Shipments that the acting tenant, as supplier, prepares or has cancelled."""

    area = Area.CATALOG
    list_display = ("order_number", "standing", "buyer_tenant_id", "from_location", "lines_total", "updated_at")
    list_filter = ("status",)
    list_select_related = ("from_location",)
    search_fields = ("=id", "=order_id", "=order_number")
    search_help_text = "Id of the shipment, or id or number of its order, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "order_id", "order_number", "buyer_tenant_id", "standing", "from_location", "picking_notes",
        "carrier", "tracking_number", "estimated_at", "lines_total", "created_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("standing",)


@admin.register(ReceivedDelivery)
class ReceivedDeliveryAdmin(_WithStanding, FoundByItsAction, TenantAdmin):
    """Deliveries of the acting tenant as supplier: its copies."""

    area = Area.CATALOG
    buttons = OF_SUPPLIER
    list_display = (
        "number", "po_number", "order_number", "standing", "owner_tenant_id", "tracking_number", "shipped_at", "updated_at",
    )  # fmt: skip
    list_filter = ("status",)
    search_fields = ("=id", "=number", "=order_id")
    search_help_text = "Id or number of the delivery, or id of its order, in full."
    ordering = ("-received_at", "-id")
    fields = (
        "id", "tenant", "number", "order_id", "po_number", "order_number", "owner_tenant_id", "standing",
        "tracking_number", "shipped_at", "received_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("standing",)
