"""Admin pages of approvals, read-only: what was decided of an order, and the steps that wait."""

from django.contrib import admin

from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin

from .models import Approval, ApprovalStep


@admin.register(Approval)
class ApprovalAdmin(TenantAdmin):
    """Decisions of approvers of the acting tenant."""

    area = Area.CATALOG
    list_display = (
        "order", "revision", "approval_for", "step", "decision", "approver_id", "delegated_by_id", "at",
    )  # fmt: skip
    list_select_related = ("order",)
    list_filter = ("decision", "approval_for")
    search_fields = ("=order__id", "=approver_id", "=delegated_by_id")
    search_help_text = "The id of an order or a person, in full."
    ordering = ("-at", "-id")
    fields = (
        "id", "tenant", "order", "revision", "approval_for", "step", "decision", "approver_id", "delegated_by_id", "note",
        "credential", "at",
    )  # fmt: skip


@admin.register(ApprovalStep)
class ApprovalStepAdmin(TenantAdmin):
    """Orders of the acting tenant that wait for an approval."""

    area = Area.CATALOG
    list_display = ("order", "approval_for", "due_at", "told_at", "updated_at")
    list_select_related = ("order",)
    list_filter = ("approval_for",)
    search_fields = ("=order__id",)
    search_help_text = "The id of an order, in full."
    ordering = ("-updated_at", "-id")
    fields = ("id", "tenant", "order", "approval_for", "due_at", "told_at", "created_at", "updated_at", "version")
