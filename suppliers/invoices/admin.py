"""Admin pages of invoices: the buyer's rows with their lines, and what suppliers have of them. Only state buttons change them."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import FoundByItsAction, TenantAdmin, link_action

from .clicks import OF_OWNER, OF_RECEIVER
from .models import Invoice, InvoiceLine, ReceivedInvoice

STATUS_COLOURS = {
    "issued": "info", "matched": "info", "mismatched": "warning", "approved": "success", "disputed": "warning",
    "partially_paid": "success", "paid": "success", "rejected": "danger", "cancelled": "danger",
}  # fmt: skip


class _WithStanding:
    """A page that shows its state as a coloured label."""

    @column(description="Status", ordering="status", label=STATUS_COLOURS)
    def standing(self, row: Any) -> str:
        """The status as a coloured label."""
        return str(row.status)


@admin.register(Invoice)
class InvoiceAdmin(_WithStanding, FoundByItsAction, TenantAdmin):
    """Invoices and credit notes of the acting tenant as buyer."""

    area = Area.BILLING
    buttons = OF_OWNER
    list_display = (
        "number", "type", "po_number", "standing", "match_status", "dispute_reason", "supplier_tenant_id", "issue_date",
        "due_date", "gross_total", "currency", "updated_at",
    )  # fmt: skip
    list_filter = ("status", "type", "match_status", "dispute_reason")
    search_fields = ("=id", "=number", "=order__id", "=po_number")
    search_help_text = "Id or number of the invoice, id or number of its order, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "number", "type", "supplier_tenant_id", "po_number", "order_number", "standing", "issue_date",
        "due_date", "currency", "net_total", "tax_total", "gross_total", "taxes", "charges", "allowances", "credited_total",
        "held_total", "paid_total", "offset_total", "match_status", "match_checked_at", "dispute_reason", "dispute_note",
        "disputed_at", "approved_at", "approved_by_id", "override_reason", "reason", "ended_at", "paid_at",
        "recorded_by_id", "created_at", "updated_at", "version", "shared_version",
    )  # fmt: skip

    def links(self, request: HttpRequest, row: Invoice) -> list[dict[str, Any]]:
        """Lead to the lines."""
        address = f"{reverse('admin:suppliers_invoiceline_changelist')}?{urlencode({'q': str(row.id)})}"
        return [link_action("Lines", address, icon="list")]


@admin.register(InvoiceLine)
class InvoiceLineAdmin(TenantAdmin):
    """Lines of invoices, in base units, with the result of their match."""

    area = Area.BILLING
    list_display = (
        "invoice", "line_no", "name", "base_quantity", "unit_price", "net", "credited", "result", "quantity_variance",
        "price_variance",
    )  # fmt: skip
    list_filter = ("result",)
    list_select_related = ("invoice",)
    search_fields = ("=invoice__id", "=order_line__id")
    search_help_text = "The id of an invoice or of a line of an order, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "invoice", "line_no", "order_line", "delivery_line", "name", "base_quantity", "unit_price",
        "price_base_quantity", "allowance", "net", "tax_category", "tax_rate", "credited", "credited_net", "result",
        "quantity_variance", "price_variance", "created_at",
    )  # fmt: skip


@admin.register(ReceivedInvoice)
class ReceivedInvoiceAdmin(_WithStanding, FoundByItsAction, TenantAdmin):
    """Invoices of the acting tenant as supplier: its copies."""

    area = Area.BILLING
    buttons = OF_RECEIVER
    list_display = ("number", "type", "order_number", "standing", "owner_tenant_id", "issue_date", "received_at")
    list_filter = ("status", "type")
    search_fields = ("=id", "=number", "=order_id")
    search_help_text = "Id or number of the invoice, or id of its order, in full."
    ordering = ("-received_at", "-id")
    fields = (
        "id", "tenant", "number", "type", "order_number", "po_number", "standing", "owner_tenant_id", "issue_date",
        "received_at", "updated_at", "version",
    )  # fmt: skip
