"""The shapes of this app on the wire, and what their lists can be narrowed and sorted by."""

from dataclasses import dataclass
from typing import Any

import django_filters

from api import shapes
from api.filters import Condition, Filters
from api.listing import Listing, Sort
from core.ids import parse_uuid
from core.watermark import SETTLED

from . import states, wanted
from .models import Delivery, Event

_EVENT_ID = "'evt_' || replace({0}::text, '-', '')"
_EVENT_ID_SCHEMA = {"type": "string", "pattern": "^evt_[0-9a-f]{32}$"}
_MAYBE_INSTANT = {"type": ["string", "null"], "format": "date-time"}
_WHOLE = {"type": "integer"}

TIMINGS_SCHEMA = {
    "type": "object",
    "description": "Milliseconds of each part that came to its end: dns_ms, connect_ms, tls_ms, ttfb_ms.",
    "additionalProperties": _WHOLE,
}
_ATTEMPT_SCHEMA = {
    "type": "object",
    "properties": {
        "number": _WHOLE,
        "at": {"type": "string", "format": "date-time"},
        "trigger": {"type": "string", "x-extensible-enum": [states.SCHEDULE, states.PROBE, states.MANUAL]},
        "status": {"type": ["integer", "null"]},
        "error": {"type": ["string", "null"]},
        "duration_ms": _WHOLE,
        "timings": TIMINGS_SCHEMA,
        "remote_ip": {"type": ["string", "null"]},
        "response_excerpt": {"type": "string", "description": "The first 4 KiB."},
        "response_headers": {"type": "object"},
    },
}
_ATTEMPTS = (
    "SELECT coalesce(json_agg(json_build_object('number', a.number, 'at', "
    + shapes.INSTANT.format("a.created_at")
    + ", 'trigger', a.trigger, 'status', a.status, 'error', nullif(a.error, ''), 'duration_ms', a.duration_ms,"
    " 'timings', a.timings, 'remote_ip', host(a.remote_ip), 'response_excerpt', a.response_excerpt,"
    " 'response_headers', a.response_headers) ORDER BY a.created_at, a.id), '[]'::json)"
    ' FROM webhooks_attempt a WHERE a.tenant_id = t."tenant_id" AND a.delivery_id = t."id"'
    ' AND a.created_at >= t."created_at"'
)

# What is queued or done, and what the fan-out has not come to yet: events that a live endpoint wants. Types are those of
# the history's columns, or PostgreSQL would read and sort all of it instead of walking its index.
_EVERY_DELIVERY = f"""(
SELECT id, created_at, tenant_id, event_id, event_type, endpoint_id, state, attempts, last_status, last_error,
 next_attempt_at, done_at FROM webhooks_delivery
UNION ALL
SELECT {wanted.DELIVERY_ID.format(event="n.id", endpoint="e.id")}, n.created_at, n.tenant_id, n.id, n.type, e.id,
 '{states.CREATED}'::varchar, 0::smallint, NULL::smallint, ''::varchar, NULL::timestamptz, NULL::timestamptz
FROM webhooks_event_new n JOIN webhooks_endpoint e ON e.tenant_id = n.tenant_id AND e.active AND e.id <> n.resource_id
WHERE {wanted.MATCHES.format(patterns="e.events", type="n.type")})"""


@dataclass(frozen=True, slots=True, eq=False)
class _DeliveryShape(shapes.Shape):
    """A shape over the queue of new events as well as the history."""

    @property
    def table(self) -> str:
        """The sub-select."""
        return _EVERY_DELIVERY


DELIVERY = _DeliveryShape(
    name="webhook delivery",
    model=Delivery,
    fields=(
        shapes.uuid("id"),
        shapes.computed("event_id", _EVENT_ID.format('t."event_id"'), _EVENT_ID_SCHEMA),
        shapes.text("event_type"),
        shapes.uuid("endpoint_id"),
        shapes.choice("state", states.ALL).described(
            "`created` until the fan-out has queued it, `pending` until the first attempt has ended."
        ),
        shapes.integer("attempts"),
        shapes.instant("next_attempt_at").nullable(),
        shapes.integer("last_status").nullable(),
        shapes.computed("last_error", "NULLIF(t.\"last_error\", '')", {"type": ["string", "null"]}).described(
            "Why the last attempt brought no answer, or why the delivery ended without one."
        ),
        shapes.instant("created_at").described("When the event happened."),
        shapes.computed(
            "delivered_at",
            f"CASE WHEN t.state = '{states.DELIVERED}' THEN {shapes.INSTANT.format('t.done_at')} END",
            _MAYBE_INSTANT,
        ),
        shapes.computed("attempt_log", _ATTEMPTS, {"type": "array", "items": _ATTEMPT_SCHEMA}),
    ),
    version=None,
    example={
        "id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b92",
        "event_id": "evt_0199f2c05b1e7c3a9d440a6c2f1e8b93",
        "event_type": "product.created",
        "endpoint_id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b90",
        "state": "retrying",
        "attempts": 1,
        "next_attempt_at": "2026-01-01T12:00:05.412Z",
        "last_status": 503,
        "last_error": None,
        "created_at": "2026-01-01T12:00:00.000Z",
        "delivered_at": None,
        "attempt_log": [
            {
                "number": 1,
                "at": "2026-01-01T12:00:00.043Z",
                "trigger": "schedule",
                "status": 503,
                "error": None,
                "duration_ms": 61,
                "timings": {"dns_ms": 4, "connect_ms": 11, "tls_ms": 24, "ttfb_ms": 20},
                "remote_ip": "203.0.113.7",
                "response_excerpt": "upstream is restarting",
                "response_headers": {"retry-after": "5"},
            }
        ],
    },
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
    example={
        "id": "evt_0199f2c05b1e7c3a9d440a6c2f1e8b93",
        "type": "product.created",
        "api_version": "2026-01-01",
        "timestamp": "2026-01-01T12:00:00.000Z",
        "tenant_id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b96",
        "sequence": "000000000000001",
        "request_id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b97",
        "test": False,
        "data": {"object": {"type": "product", "id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b90", "version": 1}},
    },
    version=None,
    where=f't."created_at" < {SETTLED}',
)

_BY_TIME = {"created_at": Sort("created_at", "timestamptz")}


class DeliveryFilters(Filters):
    """`event` is a type or an event's id; `from` and `to` bound the event's time; `undelivered` is all but delivered."""

    event = django_filters.CharFilter(max_length=80)
    state = django_filters.ChoiceFilter(choices=[(name, name) for name in states.ALL])
    undelivered = django_filters.BooleanFilter()

    class Meta:
        model = Delivery
        fields: Any = []

    def condition_undelivered(self, value: bool) -> Condition:
        """Everything a receiver has not taken, whether it is still on its way or has failed; or the opposite."""
        return Condition(f't."state" {"<>" if value else "="} {{0}}', (states.DELIVERED,))

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


DELIVERIES = Listing(DELIVERY, filters=DeliveryFilters, sorts=_BY_TIME)
EVENTS = Listing(EVENT, filters=EventFilters, sorts=_BY_TIME, default_sort="created_at")


def _hyphenated(text: str) -> str:
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
