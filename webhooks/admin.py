"""Pages of webhooks: the acting tenant's endpoints and what became of each event; for looking only, never a secret."""

from typing import Any

from django.contrib import admin
from unfold.paginator import InfinitePaginator

from organizations.staff import shown
from organizations.staff.pages import TenantPages
from organizations.staff.roles import Area
from organizations.staff.shown import column

from .models import Attempt, Delivery, Endpoint

_COLOURS = {"delivered": "success", "succeeded": "success", "failed": "danger", "dead": "danger", "retrying": "warning"}


@admin.register(Endpoint)
class EndpointPages(TenantPages):
    """Where the acting tenant wants events delivered."""

    area = Area.WEBHOOKS
    list_display = ("url", "active", "all_events", "disabled_reason", "created_at", "deleted_at")
    list_filter = ("active", ("deleted_at", admin.EmptyFieldListFilter))
    ordering = ("-created_at", "-id")
    fields = (
        "id",
        "tenant",
        "url",
        "active",
        "all_events",
        "description",
        "api_version",
        "disabled_reason",
        "disabled_at",
        "deleted_at",
        "created_at",
        "version",
    )
    readonly_fields = ("all_events",)

    @column(description="Events")
    def all_events(self, row: Endpoint) -> str:
        """Which events."""
        return shown.words(row.events)


@admin.register(Delivery)
class DeliveryPages(TenantPages):
    """Events on their way to endpoints."""

    area = Area.WEBHOOKS
    list_display = (
        "created_at",
        "event_type",
        "endpoint_url",
        "state_label",
        "attempts",
        "last_status",
        "next_attempt_at",
    )
    list_filter = ("state", "event_type")
    search_fields = ("=event_id", "=id")
    search_help_text = "Event id or delivery id, in full."
    ordering = ("-created_at", "-id")
    list_select_related = ("endpoint",)
    paginator = InfinitePaginator
    fields = (
        "id",
        "tenant_id",
        "event_id",
        "event_type",
        "endpoint_url",
        "state_label",
        "attempts",
        "last_status",
        "next_attempt_at",
        "done_at",
        "tried",
    )
    readonly_fields = ("endpoint_url", "state_label", "tried")

    @column(description="State", ordering="state", label=_COLOURS)
    def state_label(self, row: Delivery) -> str:
        """The state as a label."""
        return row.state

    @column(description="Endpoint")
    def endpoint_url(self, row: Any) -> str:
        """Where it goes."""
        return str(row.endpoint.url)

    @column(description="Attempts")
    def tried(self, row: Delivery) -> str:
        """What each attempt met."""
        rows = Attempt.objects.filter(tenant_id=row.tenant_id, delivery_id=row.id).order_by("number", "id")[:50]
        return "; ".join(f"{one.number}: {one.status or one.error} in {one.duration_ms} ms" for one in rows) or "–"
