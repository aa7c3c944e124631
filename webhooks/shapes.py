"""The shapes of this app on the wire, and what their lists can be narrowed and sorted by."""

from typing import Any

import django_filters

from api import shapes
from api.filters import Condition, Filters
from api.listing import Listing, Sort
from core.ids import parse_uuid

from . import states
from .models import Delivery, Endpoint, Event

_EVENT_ID = "'evt_' || replace({0}::text, '-', '')"
_EVENT_ID_SCHEMA = {"type": "string", "pattern": "^evt_[0-9a-f]{32}$"}

ENDPOINT = shapes.Shape(
    name="webhook endpoint",
    model=Endpoint,
    fields=(
        shapes.uuid("id"),
        shapes.text("url").described("Where events are sent; https, public."),
        shapes.strings("events").described("Exact types, families (`product.*`) or `*`."),
        shapes.boolean("active").described("False stops delivery and keeps everything else."),
        shapes.text("description"),
        shapes.text("api_version").described("The version of the envelope, pinned at creation."),
        shapes.text("disabled_reason").described("Why it is not active: by_user, gone; empty while active."),
        shapes.instant("disabled_at").nullable(),
        shapes.instant("created_at"),
        shapes.instant("updated_at"),
        shapes.integer("version"),
    ),
    where='t."deleted_at" IS NULL',
    example={
        "id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b90",
        "url": "https://hooks.example.com/platform",
        "events": ["product.*", "order.placed"],
        "active": True,
        "description": "Warehouse system",
        "api_version": "2026-01-01",
        "disabled_reason": "",
        "disabled_at": None,
        "created_at": "2026-01-01T12:00:00.000Z",
        "updated_at": "2026-01-01T12:00:00.000Z",
        "version": 1,
    },
)

_ATTEMPT_SCHEMA = {
    "type": "object",
    "properties": {
        "number": {"type": "integer"},
        "at": {"type": "string", "format": "date-time"},
        "status": {"type": ["integer", "null"]},
        "error": {"type": ["string", "null"]},
        "duration_ms": {"type": "integer"},
        "response_excerpt": {"type": "string"},
        "response_headers": {"type": "object"},
    },
}
_ATTEMPTS = (
    "SELECT coalesce(json_agg(json_build_object('number', a.number, 'at', "
    + shapes.INSTANT.format("a.created_at")
    + ", 'status', a.status, 'error', nullif(a.error, ''), 'duration_ms', a.duration_ms,"
    " 'response_excerpt', a.response_excerpt, 'response_headers', a.response_headers)"
    " ORDER BY a.created_at, a.id), '[]'::json)"
    ' FROM webhooks_attempt a WHERE a.delivery_id = t."id" AND a.created_at >= t."created_at"'
)

DELIVERY = shapes.Shape(
    name="webhook delivery",
    model=Delivery,
    fields=(
        shapes.uuid("id"),
        shapes.computed("event_id", _EVENT_ID.format('t."event_id"'), _EVENT_ID_SCHEMA),
        shapes.text("event_type"),
        shapes.choice("state", states.ALL),
        shapes.integer("attempts"),
        shapes.instant("next_attempt_at").nullable(),
        shapes.integer("last_status").nullable(),
        shapes.instant("created_at"),
        shapes.computed(
            "delivered_at",
            f"CASE WHEN t.state = '{states.DELIVERED}' THEN {shapes.INSTANT.format('t.done_at')} END",
            {"type": ["string", "null"], "format": "date-time"},
        ),
        shapes.computed("attempt_log", _ATTEMPTS, {"type": "array", "items": _ATTEMPT_SCHEMA}),
    ),
    version=None,
)


def _member(name: str, schema: dict[str, Any]) -> shapes.Field:
    return shapes.computed(name, f"convert_from(t.\"body\", 'UTF8')::jsonb -> '{name}'", schema)


EVENT = shapes.Shape(
    name="event",
    model=Event,
    fields=(
        shapes.computed("id", _EVENT_ID.format('t."id"'), _EVENT_ID_SCHEMA),
        shapes.text("type"),
        shapes.text("api_version"),
        _member("timestamp", {"type": "string", "format": "date-time"}),
        shapes.uuid("tenant_id"),
        _member("sequence", {"type": "string", "pattern": "^[0-9]{15}$"}),
        shapes.text("request_id"),
        _member("test", {"type": "boolean"}),
        _member("data", {"type": "object"}),
    ),
    version=None,
    # A row may become visible a little after its created_at; a reader of the feed must not step over it.
    where="t.\"created_at\" < now() - interval '2 seconds'",
)

_BY_TIME = {"created_at": Sort("created_at", "timestamptz")}


class DeliveryFilters(Filters):
    """`event` is a type or an event's id; `from` and `to` bound the event's time."""

    event = django_filters.CharFilter(max_length=80)
    state = django_filters.ChoiceFilter(choices=[(name, name) for name in states.ALL])

    class Meta:
        model = Delivery
        fields: Any = []

    def condition_event(self, value: str) -> Condition:
        """The event's id as the envelope writes it, else its type."""
        found = parse_uuid(_hyphenated(value.removeprefix("evt_"))) if value.startswith("evt_") else None
        return Condition('t."event_id" = {0}', (str(found),)) if found else Condition('t."event_type" = {0}', (value,))


class EventFilters(Filters):
    """`type` is exact; `from` and `to` bound the event's time."""

    type = django_filters.CharFilter(max_length=80)

    class Meta:
        model = Event
        fields: Any = []


# `from` is a word of Python, so it cannot be written as an attribute.
for _filters in (DeliveryFilters, EventFilters):
    _filters.base_filters["from"] = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="gte")
    _filters.base_filters["to"] = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="lt")


class EndpointFilters(Filters):
    """`active` narrows to the enabled or the disabled ones."""

    active = django_filters.BooleanFilter()

    class Meta:
        model = Endpoint
        fields: Any = []


ENDPOINTS = Listing(ENDPOINT, filters=EndpointFilters)
DELIVERIES = Listing(DELIVERY, filters=DeliveryFilters, sorts=_BY_TIME)
EVENTS = Listing(EVENT, filters=EventFilters, sorts=_BY_TIME, default_sort="created_at")


def _hyphenated(text: str) -> str:
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
