"""Admin pages of promotions and of what is redeemed of them, read-only."""

from typing import Any

from django.contrib import admin
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest

from core.clock import now
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin
from suppliers.pricing.admin import LeadsToWhy
from suppliers.terms.states import TermStatus

from .course import state_of
from .models import Promotion, PromotionRedemption
from .states import PromotionState

_STATE_COLOURS = {"running": "success", "scheduled": "info", "exhausted": "warning", "ended": "danger"}


def _in_state(state: str) -> Q:
    """Return the condition that promotions are in a state now."""
    if state in TermStatus.values:
        return Q(status=state)
    at = now()
    active = Q(status=TermStatus.ACTIVE)
    return {
        PromotionState.ENDED.value: active & Q(ends_at__lte=at),
        PromotionState.EXHAUSTED.value: active & Q(ends_at__gt=at, exhausted=True),
        PromotionState.SCHEDULED.value: active & Q(starts_at__gt=at, exhausted=False),
        PromotionState.RUNNING.value: active & Q(starts_at__lte=at, ends_at__gt=at, exhausted=False),
    }[state]


class StateFilter(admin.SimpleListFilter):
    """Narrows promotions to those that are in one state now."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the states."""
        return [(one.value, str(one.label)) for one in PromotionState]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Promotion]") -> "QuerySet[Promotion]":
        """Keep those in the chosen state."""
        chosen = self.value()
        if chosen is None:
            return queryset
        return queryset.filter(_in_state(chosen)) if chosen in PromotionState.values else queryset.none()


class BudgetFilter(admin.SimpleListFilter):
    """Narrows promotions to those with a budget, without one, or with one of which most is spent."""

    title = "budget"
    parameter_name = "budget"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the choices."""
        return [("none", "None"), ("some", "Has one"), ("short", "More than 80 % spent")]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Promotion]") -> "QuerySet[Promotion]":
        """Keep the chosen ones."""
        chosen = self.value()
        if chosen is None:
            return queryset
        conditions = {
            "none": Q(budget_amount__isnull=True),
            "some": Q(budget_amount__isnull=False),
            "short": Q(spent__gt=F("budget_amount") * 4 / 5),
        }
        return queryset.filter(conditions[chosen]) if chosen in conditions else queryset.none()


@admin.register(Promotion)
class PromotionAdmin(LeadsToWhy, TenantAdmin):
    """Promotions of the acting tenant, with what is used of their limits."""

    area = Area.CATALOG
    list_display = (
        "code", "name", "state_now", "starts_at", "ends_at", "spent", "budget_amount", "budget_currency", "redemptions",
        "max_redemptions", "updated_at",
    )  # fmt: skip
    list_filter = (StateFilter, "status", BudgetFilter, "combinable", "action_type")
    search_fields = ("=code",)
    search_help_text = "Code in full."
    ordering = ("-updated_at", "-id")
    fieldsets = (
        (None, {"fields": ("id", "tenant", "code", "name", "status", "state_now", "priority", "starts_at", "ends_at")}),
        (
            "Limits",
            {
                "fields": (
                    "budget_amount",
                    "budget_currency",
                    "spent",
                    "max_redemptions",
                    "redemptions",
                    "max_per_buyer",
                )
            },
        ),
        (
            "What it does",
            {
                "fields": (
                    "conditions",
                    "action_type",
                    "action_value",
                    "floor_price",
                    "combinable",
                    "applies_to_offers",
                    "applies_to_contracts",
                )
            },
        ),
        ("Course", {"fields": ("told", "due_at", "created_at", "updated_at", "version")}),
    )
    readonly_fields = ("state_now",)

    @column(description="State", label=_STATE_COLOURS)
    def state_now(self, row: Promotion) -> str:
        """The state of this moment."""
        return state_of(row, now()).value


class GivenBackFilter(admin.SimpleListFilter):
    """Narrows redemptions to those that documents hold, or those that were given back."""

    title = "given back"
    parameter_name = "given_back"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the choices."""
        return [("no", "No"), ("yes", "Yes")]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        """Keep the chosen ones."""
        chosen = self.value()
        if chosen not in (None, "no", "yes"):
            return queryset.none()
        return queryset if chosen is None else queryset.filter(given_back_at__isnull=chosen == "no")


@admin.register(PromotionRedemption)
class PromotionRedemptionAdmin(TenantAdmin):
    """What documents of buyers hold of the promotions of the acting tenant, or held."""

    area = Area.CATALOG
    list_display = ("promotion", "buyer_tenant_id", "document_id", "amount", "currency", "created_at", "given_back_at")
    list_filter = (GivenBackFilter, "currency")
    search_fields = ("=promotion__code", "=document_id", "=buyer_tenant_id")
    search_help_text = "Code of the promotion, id of the document or of the buyer, in full."
    ordering = ("-created_at", "-id")
    list_select_related = ("promotion",)
    fields = (
        "id", "tenant", "promotion", "buyer_tenant_id", "document_id", "amount", "currency", "given_back_at", "created_at",
        "updated_at", "version",
    )  # fmt: skip
