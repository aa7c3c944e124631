"""Admin pages of orders: the buyer's rows, their lines with counters, and what suppliers have received. Only state buttons change them."""

from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from core.money import Money
from organizations.staff.columns import column
from organizations.staff.names import Names
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import FoundByItsAction, TenantAdmin, link_action
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine, ReceivedOrder

from . import reading
from .clicks import OF_SUPPLIER

STATUS_COLOURS = {
    "draft": "info", "pending_approval": "warning", "sent": "info", "change_proposed": "warning", "accepted": "success",
    "rejected": "danger", "cancelled": "danger", "closed": "success",
}  # fmt: skip


def _shown(amount: Decimal | None, currency: str) -> str:
    """An amount with its currency."""
    return "–" if amount is None else f"{Money(amount, currency).rounded().amount:,f} {currency}"


class _WithTimeline:
    """A page that shows what has happened to a document; whoever looks is noted, so that names lead to what they may see."""

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Return the row of a page, and note who looks."""
        row = super().get_object(request, *args, **kwargs)  # type: ignore[misc]
        if row is not None:
            row.looking = request.user
        return row

    @column(description="What has happened")
    def timeline(self, row: Any) -> SafeString:
        """The facts of the acting tenant's ledger about the document, the newest first."""
        found = reading.timeline(row.tenant_id, row.pk)
        names = Names(row.looking, [one.ids for one in found])
        shown = [{"of": one, "who": names.subject(one.ids), "with": names.credential(one.ids)} for one in found]
        return render_to_string("suppliers/timeline.html", {"entries": shown})


@admin.register(PurchaseOrder)
class PurchaseOrderAdmin(_WithTimeline, FoundByItsAction, TenantAdmin):
    """Orders of the acting tenant as buyer; its buttons are those of procurement, which stands above and puts them here."""

    area = Area.CATALOG
    list_display = (
        "number", "order_number", "standing", "fulfilment_status", "total", "supplier_tenant_id", "submitted_at", "sent_at",
        "updated_at",
    )  # fmt: skip
    list_filter = ("status", "fulfilment_status", "currency")
    search_fields = ("=id", "=number", "=order_number")
    search_help_text = "Id or a number of the order, in full."
    ordering = ("-created_at", "-id")
    fieldsets = (
        (None, {"fields": ("id", "tenant", "number", "order_number", "supplier_tenant_id", "standing", "fulfilment_status", "billing_status")}),
        ("Decisions", {"fields": ("approval_for", "proposed_by", "revision", "requester_id", "budget_code", "cost_center")}),
        ("Terms", {"fields": ("net_total", "tax_total", "total", "priority", "requested_delivery_date", "delivery_location")}),
        ("Course", {"fields": ("submitted_at", "sent_at", "accept_by", "accepted_at", "closed_at", "timeline")}),
        ("Lines", {"fields": ("lines_total", "all_lines")}),
        ("The supplier's copy", {"fields": ("the_copy",)}),
        ("History", {"fields": ("created_at", "updated_at", "version", "shared_version")}),
    )  # fmt: skip
    readonly_fields = ("standing", "net_total", "tax_total", "total", "timeline", "all_lines", "the_copy")

    def links(self, request: HttpRequest, row: PurchaseOrder) -> list[dict[str, Any]]:
        """Lead to the lines, and to what approvers have decided."""
        wanted = urlencode({"q": str(row.id)})
        return [
            link_action("Lines", f"{reverse('admin:suppliers_purchaseorderline_changelist')}?{wanted}", icon="list"),
            link_action("Approvals", f"{reverse('admin:procurement_approval_changelist')}?{wanted}", icon="approval"),
        ]

    @column(description="Status", ordering="status", label=STATUS_COLOURS)
    def standing(self, row: PurchaseOrder) -> str:
        """The status as a coloured label."""
        return str(row.status)

    @column(description="First lines, in base units")
    def all_lines(self, row: PurchaseOrder) -> SafeString:
        """The first lines with their counters, and what the supplier holds for each."""
        found = reading.shown_lines(row)
        more = max(row.lines_total - len(found), 0)
        return render_to_string("suppliers/order_lines.html", {"lines": found, "more": more})

    @column(description="Beside this row")
    def the_copy(self, row: PurchaseOrder) -> SafeString | str:
        """The supplier's copy beside the buyer's row."""
        found = reading.beside_copy(row)
        if not found:
            return "None: the order was never sent, or its supplier is one that the buyer manages."
        return render_to_string("suppliers/agreement_copy.html", {"rows": found})

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
class ReceivedOrderAdmin(_WithTimeline, FoundByItsAction, TenantAdmin):
    """Orders that the acting tenant has received as supplier."""

    area = Area.CATALOG
    buttons = OF_SUPPLIER
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
        "priority", "received_at", "updated_at", "version", "timeline",
    )  # fmt: skip
    readonly_fields = ("timeline",)
