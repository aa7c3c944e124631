"""Admin pages of the platform's signing keys: their public halves and how they stand. No private half is read."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse

from core.clock import now
from organizations.models import SigningKey
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import StaffAdmin

_COLOURS = {"active": "success", "retiring": "info", "retired": "info", "compromised": "danger"}


class StandingFilter(admin.SimpleListFilter):
    """Keys that are published, or that are compromised."""

    title = "standing"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the choices."""
        return [("published", "Published"), ("compromised", "Compromised")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chosen ones."""
        kept = {
            None: queryset,
            "published": queryset.filter(published()),
            "compromised": queryset.filter(compromised_at__isnull=False),
        }
        return kept.get(self.value(), queryset.none())


def published() -> Q:
    """Condition for keys that stand in a key set: a replaced key for tokens until it verifies nothing more, others for good."""
    token = Q(purpose=SigningKey.Purpose.TOKEN)
    is_over = Q(status=SigningKey.Status.RETIRED) | Q(verifies_until__lte=now())
    return Q(compromised_at__isnull=True) & (~token | ~is_over)


@admin.register(SigningKey)
class SigningKeyAdmin(StaffAdmin):
    """Keys that sign tokens, snapshots of prescriptions and checkpoints; `rotate_signing_keys` replaces them."""

    area = Area.SECURITY
    list_before_template = "organizations/signing_keys.html"
    list_display = ("kid", "purpose", "algorithm", "state_label", "created_at", "retired_at", "compromised_at")
    list_filter = ("purpose", "status", StandingFilter)
    search_fields = ("=kid",)
    search_help_text = "A key id, in full."
    ordering = ("purpose", "-created_at", "kid")
    fields = (
        "kid", "purpose", "algorithm", "state_label", "created_at", "retired_at", "verifies_until", "compromised_at",
        "public_pem",
    )  # fmt: skip
    readonly_fields = ("state_label",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the sealed halves in the database."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.defer("sealed_pem")

    @column(description="State", label=_COLOURS)
    def state_label(self, row: SigningKey) -> str:
        """The status as a label; that a key is compromised comes first."""
        return "compromised" if row.compromised_at else str(row.status)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with how each purpose stands."""
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed:
            listed["purposes"] = purposes()
        return response


def purposes() -> list[dict[str, Any]]:
    """Count the keys of each purpose, and name the one that signs."""
    counted = {
        one["purpose"]: one
        for one in SigningKey.objects.order_by()
        .values("purpose")
        .annotate(
            known=Count("kid"),
            shown=Count("kid", filter=published()),
            compromised=Count("kid", filter=Q(compromised_at__isnull=False)),
        )
    }
    signing = SigningKey.objects.filter(status=SigningKey.Status.ACTIVE).values_list("purpose", "kid", "created_at")
    active = {purpose: (kid, since) for purpose, kid, since in signing}
    nothing = {"known": 0, "shown": 0, "compromised": 0}
    return [
        {**counted.get(purpose, nothing), "purpose": purpose, "active": active.get(purpose)}
        for purpose in SigningKey.Purpose.values
    ]
