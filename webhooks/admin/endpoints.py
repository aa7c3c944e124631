"""Pages of endpoints: how each one does, its hours as charts, its keys without their values; switched on and off by buttons."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from core.clock import now
from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin, link_action
from webhooks.models import DueDelivery, Endpoint, EndpointHealth, EndpointHour, Replay, Secret

from . import charts, wording
from .buttons import ENDPOINT_BUTTONS

DAY = timedelta(hours=24)


@admin.register(Endpoint)
class EndpointAdmin(TenantAdmin):
    """Where the acting tenant wants events delivered, and how that goes."""

    area = Area.WEBHOOKS
    in_palette = True
    buttons = ENDPOINT_BUTTONS
    change_form_outer_before_template = "webhooks/endpoint.html"
    list_display = ("url", "state_label", "all_events", "accepted", "given_up", "waiting", "created_at")
    list_filter = ("active", ("deleted_at", admin.EmptyFieldListFilter))
    search_fields = ("=id", "url__icontains")
    search_help_text = "Part of the address, or the id in full."
    ordering = ("-created_at", "-id")
    fieldsets = (
        (None, {"fields": ("id", "tenant", "url", "description", "all_events")}),
        ("How it is sent", {"fields": ("api_version", "payload_mode", "ordered", "max_inflight", "max_rps")}),
        ("State", {"fields": ("active", "disabled_reason", "disabled_by", "disabled_at", "deleted_at")}),
        ("History", {"fields": ("created_at", "updated_at", "version")}),
    )
    readonly_fields = ("all_events",)

    def named(self, row: Endpoint) -> str:
        """Return the address."""
        return row.url

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Read each endpoint's figures with it: one statement, however many there are."""
        since = now() - DAY
        hours = EndpointHour.objects.filter(endpoint_id=OuterRef("pk"), hour__gte=since).order_by()
        health = EndpointHealth.objects.filter(endpoint_id=OuterRef("pk"))
        queued = DueDelivery.objects.filter(endpoint_id=OuterRef("pk")).order_by()
        rows: QuerySet[Any] = super().get_queryset(request)
        figured: QuerySet[Any] = rows.annotate(
            day_attempts=_total(hours, "attempts"),
            day_delivered=_total(hours, "delivered"),
            day_failed=_total(hours, "failed"),
            failures=Subquery(health.values("consecutive_failures")[:1]),
            circuit=Subquery(health.values("circuit_state")[:1]),
            queued=Subquery(
                queued.values("endpoint_id").annotate(number=Count("pk")).values("number"),
                output_field=IntegerField(),
            ),
        )
        return figured

    @column(description="State", label=wording.COLOURS)
    def state_label(self, row: Any) -> str:
        """Its state in a word."""
        if row.active and row.failures:
            return "resting" if row.circuit and row.circuit != "closed" else "failing"
        return wording.endpoint_state(row, None, now())[0]

    @column(description="Events")
    def all_events(self, row: Endpoint) -> str:
        """Which events."""
        return columns.words(row.events)

    @column(description="Accepted, 24 h")
    def accepted(self, row: Any) -> str:
        """The share of attempts that was accepted in the last day."""
        return f"{100 * row.day_delivered / row.day_attempts:.1f} %" if row.day_attempts else "–"

    @column(description="Given up, 24 h")
    def given_up(self, row: Any) -> int:
        """Deliveries given up in the last day."""
        return int(row.day_failed)

    @column(description="Queued")
    def waiting(self, row: Any) -> int:
        """Deliveries in the live queue."""
        return row.queued or 0

    def links(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        """To what was sent there."""
        address = f"{reverse('admin:webhooks_delivery_changelist')}?{urlencode({'endpoint': row.pk})}"
        return [link_action("Deliveries", address, icon="send")]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Add what the page shows above the fields."""
        row: Endpoint | None = kwargs.get("obj")
        if row is not None:
            at = now()
            mine = {"tenant_id": row.tenant_id, "endpoint_id": row.pk}
            health = EndpointHealth.objects.filter(**mine).first()
            state, words = wording.endpoint_state(row, health, at)
            context |= {
                "state": state,
                "colour": wording.COLOURS[state],
                "state_words": words,
                "health": health,
                "chart": charts.figures(charts.read_hours(row.tenant_id, row.pk, at=at), at=at),
                "queued": DueDelivery.objects.filter(**mine).count(),
                "secrets": Secret.objects.filter(**mine).defer("sealed_key").order_by("-created_at", "-id")[:20],
                "replays": Replay.objects.filter(**mine).order_by("-created_at", "-id")[:5],
                "at": at,
            }
        return super().render_change_form(request, context, *args, **kwargs)


def _total(hours: QuerySet[Any], name: str) -> Any:
    total = hours.values("endpoint_id").annotate(total=Sum(name)).values("total")
    return Coalesce(Subquery(total, output_field=IntegerField()), 0)
