"""Pages of the event log: what happened, the exact bytes that were signed, and where they went."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from unfold.paginator import InfinitePaginator

from core.ids import parse_uuid
from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin
from webhooks.envelope import message_id
from webhooks.models import Delivery, Event, EventBody

from .buttons import EVENT_BUTTONS
from .filters import EventKindFilter
from .wording import COLOURS

_MESSAGE = "evt_"
_NEAR = timedelta(hours=1)  # transactions last seconds and clocks differ by less


def event_id_of(text: str) -> str:
    """The id behind the name by which receivers know an event; any other text as it is."""
    name = text.strip().removeprefix(_MESSAGE)
    return str(UUID(name)) if len(name) == 32 and set(name) <= set("0123456789abcdefABCDEF") else text


def near(rows: QuerySet[Any], text: str) -> QuerySet[Any]:
    """Keep the moment in which an event was made; its id, a UUIDv7, says when that was."""
    found = parse_uuid(text)
    if found is None or found.version != 7:
        return rows
    moment = datetime.fromtimestamp((found.int >> 80) / 1000, UTC)
    return rows.filter(created_at__range=(moment - _NEAR, moment + _NEAR))


@admin.register(Event)
class EventAdmin(TenantAdmin):
    """The acting tenant's event log."""

    area = Area.WEBHOOKS
    buttons = EVENT_BUTTONS
    change_form_outer_after_template = "webhooks/event.html"
    list_display = ("created_at", "type", "resource_type", "resource_id", "sequence", "request_id")
    list_filter = (EventKindFilter,)
    search_fields = ("=id",)
    search_help_text = "Event id in full, also as receivers know it (evt_…)."
    ordering = ("-created_at", "-id")
    paginator = InfinitePaginator
    fields = (
        "id",
        "message",
        "tenant_id",
        "created_at",
        "type",
        "resource_type",
        "resource_id",
        "sequence",
        "api_version",
        "request_id",
        "said",
    )
    readonly_fields = ("message", "said")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the bodies in the database where a list is shown."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.defer("body")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Look for an id where its time says it lies."""
        term = event_id_of(search_term)
        found: tuple[QuerySet[Any], bool] = super().get_search_results(request, near(queryset, term), term)
        return found

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Event | None:
        """Look where the id's time says it lies: the log has no index of ids alone."""
        found: Event | None = (
            near(self.get_queryset(request).defer(None), object_id).filter(id=parse_uuid(object_id)).first()
        )
        return found

    def locked(self, key: Any) -> Event:
        """The row without a lock: nothing but the owner's function can change it."""
        found: Event = near(Event.objects.all(), str(key)).get(pk=key)
        return found

    @column(description="Known to receivers as")
    def message(self, row: Event) -> str:
        """The `webhook-id`."""
        return message_id(row.id)

    @column(description="Body, thin")
    def said(self, row: Event) -> Any:
        """The bytes that are signed and sent, indented."""
        try:
            return columns.json_lines(json.loads(bytes(row.body)))
        except ValueError:
            return bytes(row.body).decode(errors="replace")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Add where it went; of bodies in full, which may hold personal data, only that they are there."""
        row: Event | None = kwargs.get("obj")
        if row is not None:
            mine = {"tenant_id": row.tenant_id, "created_at": row.created_at, "event_id": row.pk}
            forms = EventBody.objects.filter(**mine).order_by("api_version", "payload_mode")
            context |= {
                "deliveries": Delivery.objects.filter(**mine).select_related("endpoint").order_by("id")[:100],
                "forms": forms.annotate(size=Length("body")).values("api_version", "payload_mode", "size")[:20],
                "colours": COLOURS,
            }
        return super().render_change_form(request, context, *args, **kwargs)
