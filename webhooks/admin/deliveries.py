"""Pages of deliveries: what became of an event at an endpoint, told attempt by attempt."""

import json
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from unfold.paginator import InfinitePaginator

from core.clock import now
from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin, link_action
from webhooks.deliveries import USER_AGENT
from webhooks.envelope import message_id
from webhooks.models import Delivery, DueDelivery, Endpoint, EndpointHealth, Event

from . import timelines, wording
from .buttons import DELIVERY_BUTTONS
from .events import event_id_of
from .filters import EndpointFilter, KindFilter, StateFilter


def _rest_of(row: Delivery, at: datetime) -> str:
    """Say until when the endpoint gets nothing, if that is so."""
    health = EndpointHealth.objects.filter(tenant_id=row.tenant_id, endpoint_id=row.endpoint_id).first()
    state, words = wording.endpoint_state(row.endpoint, health, at)
    return words if state in ("resting", "held back") else ""


def _body_of(row: Delivery) -> Any:
    """The thin body, indented; one in full may hold personal data and is not shown."""
    if row.endpoint.payload_mode != Endpoint.PayloadMode.THIN:
        return ""
    event = Event.objects.filter(tenant_id=row.tenant_id, created_at=row.created_at, id=row.event_id).first()
    body = bytes(event.body) if event is not None and event.body is not None else b""
    return columns.json_lines(json.loads(body)) if body else ""


@admin.register(Delivery)
class DeliveryAdmin(TenantAdmin):
    """Events on their way to endpoints."""

    area = Area.WEBHOOKS
    buttons = DELIVERY_BUTTONS
    change_form_outer_before_template = "webhooks/delivery.html"
    list_display = ("created_at", "event_type", "endpoint_url", "state_label", "attempts", "met", "next_attempt_at")
    list_filter = (StateFilter, EndpointFilter, KindFilter)
    search_fields = ("=event_id", "=id")
    search_help_text = "Event id (also as receivers know it, evt_…) or delivery id, in full."
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
        "met",
        "next_attempt_at",
        "done_at",
    )
    readonly_fields = ("endpoint_url", "state_label", "met")

    def locked(self, key: Any) -> Delivery:
        """The row without a lock: its button takes the endpoint's first, as the interface does."""
        found: Delivery = Delivery.objects.get(pk=key)
        return found

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Understand the id that stands in a receiver's log."""
        found: tuple[QuerySet[Any], bool] = super().get_search_results(request, queryset, event_id_of(search_term))
        return found

    @column(description="State", ordering="state", label=wording.COLOURS)
    def state_label(self, row: Delivery) -> str:
        """The state as a label."""
        return row.state

    @column(description="Endpoint")
    def endpoint_url(self, row: Any) -> str:
        """Where it goes."""
        return str(row.endpoint.url)

    @column(description="Last answer")
    def met(self, row: Delivery) -> str:
        """What the last attempt met."""
        return str(row.last_status) if row.last_status else wording.error_words(row.last_error) or "–"

    def links(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        """To the event and the endpoint."""
        return [
            link_action("Event", reverse("admin:webhooks_event_change", args=[row.event_id]), icon="bolt"),
            link_action("Endpoint", reverse("admin:webhooks_endpoint_change", args=[row.endpoint_id]), icon="webhook"),
        ]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Add the timeline."""
        row: Delivery | None = kwargs.get("obj")
        if row is not None:
            at = now()
            is_queued = DueDelivery.objects.filter(tenant_id=row.tenant_id, delivery_id=row.pk).exists()
            context |= {
                "state": row.state,
                "colour": wording.COLOURS[row.state],
                "state_words": wording.delivery_words(row, row.endpoint, is_queued=is_queued, at=at),
                "steps": timelines.steps(row, timelines.read_attempts(row), at=at),
                "delivery": row,
                "resting": _rest_of(row, at),
                "sent_headers": {
                    "content-type": "application/json",
                    "user-agent": USER_AGENT,
                    "webhook-id": message_id(row.event_id),
                },
                "sent_body": _body_of(row),
            }
        return super().render_change_form(request, context, *args, **kwargs)
