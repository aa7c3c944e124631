"""Admin pages of budgets, read-only: what is committed and spent, and the documents behind it."""

from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from core.money import Money
from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin, link_action

from .models import Budget, BudgetEntry


def _shown(amount: Decimal, budget: Budget) -> str:
    """An amount with its currency."""
    return f"{Money(amount, budget.currency).rounded().amount:,f} {budget.currency}"


@admin.register(Budget)
class BudgetAdmin(TenantAdmin):
    """Budgets of the acting tenant."""

    area = Area.CATALOG
    list_display = (
        "code", "name", "total", "in_orders", "in_invoices", "left", "share", "enforcement", "active", "valid_from", "valid_to",
    )  # fmt: skip
    list_filter = ("active", "enforcement", "currency")
    search_fields = ("=code",)
    search_help_text = "Code in full."
    ordering = ("-updated_at", "-id")
    fields = (
        "id", "tenant", "code", "name", "total", "in_orders", "in_invoices", "left", "share", "threshold_percent",
        "enforcement", "active", "valid_from", "valid_to", "all_cost_centers", "created_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("total", "in_orders", "in_invoices", "left", "share", "all_cost_centers")

    def links(self, request: HttpRequest, row: Budget) -> list[dict[str, Any]]:
        """Lead to the documents behind the sums."""
        address = f"{reverse('admin:procurement_budgetentry_changelist')}?{urlencode({'q': row.code})}"
        return [link_action("Entries", address, icon="receipt")]

    @column(description="Amount", ordering="amount")
    def total(self, row: Budget) -> str:
        """The amount."""
        return _shown(row.amount, row)

    @column(description="Committed", ordering="committed")
    def in_orders(self, row: Budget) -> str:
        """What orders have committed."""
        return _shown(row.committed, row)

    @column(description="Spent", ordering="spent")
    def in_invoices(self, row: Budget) -> str:
        """What approved invoices have spent."""
        return _shown(row.spent, row)

    @column(description="Available")
    def left(self, row: Budget) -> str:
        """What is left."""
        return _shown(row.amount - row.used, row)

    @column(description="Used")
    def share(self, row: Budget) -> str:
        """How much of the amount is used, and whether the threshold is reached."""
        percent = f"{row.used * 100 / row.amount:.0f} %" if row.amount else "–"
        return f"{percent}, threshold reached" if row.is_reached else percent

    @column(description="Cost centres")
    def all_cost_centers(self, row: Budget) -> str:
        """The cost centres that may use it."""
        return columns.words(row.cost_centers) if row.cost_centers else "any"


@admin.register(BudgetEntry)
class BudgetEntryAdmin(TenantAdmin):
    """What single documents have committed and spent."""

    area = Area.CATALOG
    list_display = ("budget", "document_id", "cost_center", "in_orders", "in_invoices", "updated_at")
    list_select_related = ("budget",)
    search_fields = ("=document_id", "=budget__code", "=cost_center")
    search_help_text = "The id of a document, the code of a budget or a cost centre, in full."
    ordering = ("-updated_at", "-id")
    fields = (
        "id", "tenant", "budget", "document_id", "cost_center", "in_orders", "in_invoices", "created_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("in_orders", "in_invoices")

    @column(description="Committed", ordering="committed")
    def in_orders(self, row: BudgetEntry) -> str:
        """What the document holds."""
        return _shown(row.committed, row.budget)

    @column(description="Spent", ordering="spent")
    def in_invoices(self, row: BudgetEntry) -> str:
        """What its approved invoices have spent."""
        return _shown(row.spent, row.budget)
